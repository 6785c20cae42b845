import Foundation
import Locking

/// One open question of a flight to an entity or the source, known to the tasks that work on its answer.
///
/// Both may ask the cache for other pictures before they answer. Such a nested request
/// must not join a flight that waits for the answer itself: both would wait for ever.
///
/// Copies are the same question.
///
/// Invariant: an answered question holds nothing. A task that it began may go on for as long as the
/// source lives, and keeps the context; the cache and the source must not live for it.
struct ReentrancyContext: Sendable {
  enum Subject: Hashable, Sendable {
    case picture(ImageKey)
    case source(URL)
  }

  /// The questions that the running task works on, the oldest first. Child tasks inherit them, and
  /// keep them when they have been answered.
  @TaskLocal private static var inherited: [ReentrancyContext] = []

  /// The questions that the running task works on and that are still open.
  static var current: [ReentrancyContext] { inherited.filter { $0.flight != nil } }

  private let question: Lock<(flight: Flight?, subject: Subject)>

  init(flight: Flight, subject: Subject) { question = Lock((flight, subject)) }

  /// The flight that waits for the answer; `nil` once it has it.
  var flight: Flight? { question.withLock { $0.flight } }

  var subject: Subject { question.withLock { $0.subject } }

  static func === (first: Self, second: Self) -> Bool { first.question === second.question }

  /// Runs `body`, which answers this question and with it `others`.
  func run<Answer>(
    inside others: [ReentrancyContext], _ body: () async throws -> Answer
  ) async throws -> Answer {
    // Taken out, so that the flight ends outside the lock if this is its last reference.
    defer { _ = question.withLock { $0.flight.take() } }
    var questions = others
    questions.append(self)
    return try await Self.$inherited.withValue(questions, operation: body)
  }

  /// Begins a task that works on no question: a load serves other requests than the one that started
  /// it.
  static func outside<Value>(_ begin: () -> Task<Value, Never>) -> Task<Value, Never> {
    // As a rule there is nothing that the task must not inherit.
    inherited.isEmpty ? begin() : $inherited.withValue([], operation: begin)
  }
}

extension Flight {
  /// Asks an entity or the source, and waits for the answer.
  ///
  /// - Parameter requests: The requests that the flight makes the picture for. The questions that led
  ///   to them wait for the answer, too.
  /// - Throws: What `question` throws.
  func ask<Answer>(
    _ subject: ReentrancyContext.Subject, of requests: some Sequence<ImageRequest>,
    _ question: () async throws -> Answer
  ) async throws -> Answer {
    var others: [ReentrancyContext] = []
    // Each once: a context that several requests share would double with every level of a pyramid.
    for request in requests {
      for other in request.contexts where other.flight != nil {
        if !others.contains(where: { $0 === other }) { others.append(other) }
      }
    }
    let context = ReentrancyContext(flight: self, subject: subject)
    return try await context.run(inside: others, question)
  }

  /// Checks that no question that led to a request is a question for `subject` already: it would be
  /// asked in order to answer itself, again and again.
  ///
  /// - Throws: ``ImageCacheError/sourceFailed(_:underlying:)`` of a ``CircularPictureError``.
  func checkRing(
    _ subject: ReentrancyContext.Subject, for request: ImageRequest
  ) throws(ImageCacheError) {
    let open = request.contexts.filter { $0.flight != nil }
    let first = open.firstIndex {
      guard let flight = $0.flight else { return false }
      return flight.registry === registry && $0.subject == subject && flight.isUnderWay
    }
    guard let first else { return }
    let error = CircularPictureError(ring: open[first...].map(\.subject) + [subject])
    throw .sourceFailed(request.url, underlying: error)
  }
}

/// Why a picture cannot be made: it was asked for to make itself.
struct CircularPictureError: LocalizedError, CustomStringConvertible {
  /// Each waits for the next; the last is the first.
  let ring: [ReentrancyContext.Subject]

  init(ring: [ReentrancyContext.Subject]) { self.ring = ring }

  /// The ring that a source was told of and passes on as it came.
  init?(in error: any Error) {
    switch error {
    case ImageCacheError.sourceFailed(_, let circular as Self): self = circular
    default: return nil
    }
  }

  var errorDescription: String? { description }

  var description: String {
    "A picture waits for itself: \(ring.map(\.description).joined(separator: ", which waits for "))."
  }
}

extension ReentrancyContext.Subject: CustomStringConvertible {
  var description: String {
    switch self {
    case .picture(let key): "picture(for:) of entity \(key.entity) in format \"\(key.format)\""
    case .source(let url): "the source of \(url)"
    }
  }
}
