import Foundation
import Locking

/// A question of a load to its entity or its source, known to the tasks that work on the answer.
///
/// Such a task may ask a cache for other images. Its nested request joins only loads that began after the load that
/// asks. So no load waits for itself, not even through others. Where an older load is under way this costs a second
/// one.
///
/// Invariant: an answered question holds no load. A task keeps its questions for as long as it lives, and must not keep
/// the cache and the source.
final class ActiveCallback: Sendable {
  enum Subject: Hashable, Sendable {
    case image(ImageKey)
    case source(URL)
  }

  @TaskLocal private static var asked: ActiveCallback?

  /// The innermost open question that the running task works on. Child tasks inherit it.
  static var current: ActiveCallback? { asked?.innermostOpen }

  private let subject: Subject
  /// The question that led to this one.
  private let outer: ActiveCallback?
  private let asking: Lock<Load?>

  /// - Parameter request: The first request for which the load asks.
  init(_ subject: Subject, of load: Load, for request: ImageRequest? = nil) {
    self.subject = subject
    outer = request?.callback?.innermostOpen
    asking = Lock(load)
  }

  /// The load that waits for the answer; `nil` once it has it.
  var load: Load? { asking.withLock { $0 } }

  private var innermostOpen: ActiveCallback? {
    var callback: ActiveCallback? = self
    while let answered = callback, answered.load == nil { callback = answered.outer }
    return callback
  }

  /// Runs `body`, which answers the question.
  func answer<Answer>(by body: () async throws -> Answer) async throws -> Answer {
    // Taken out, so that the load ends outside the lock if this is its last reference.
    defer { _ = asking.withLock { $0.take() } }
    return try await Self.$asked.withValue(self, operation: body)
  }

  /// Begins a task that works on no question: a load serves other requests than the one that started it.
  static func outside<Value>(_ begin: () -> Task<Value, Never>) -> Task<Value, Never> {
    asked == nil ? begin() : $asked.withValue(nil, operation: begin)
  }

  /// The questions from the one for `subject` to this one; `nil` if no load of the registry has asked it.
  fileprivate func path(from subject: Subject, in registry: InFlightRegistry) -> [Subject]? {
    guard let load else { return outer?.path(from: subject, in: registry) }
    if self.subject == subject, load.registry === registry, load.isUnderWay { return [subject] }
    return outer?.path(from: subject, in: registry).map { $0 + [self.subject] }
  }
}

extension Load {
  /// Asks an entity or the source, and waits for the answer.
  ///
  /// - Throws: What `question` throws, and as ``checkCycle(_:for:)``.
  func ask<Answer>(
    _ subject: ActiveCallback.Subject, for request: ImageRequest,
    _ callback: () async throws -> Answer
  ) async throws -> Answer {
    try checkCycle(subject, for: request)
    return try await ActiveCallback(subject, of: self, for: request).answer(by: callback)
  }
}

extension Load {
  /// Checks that no question for `subject` led to the request: it would be asked to answer itself, again and again.
  ///
  /// - Throws: ``ImageCacheError/sourceFailed(_:underlying:)`` of a ``CircularImageError``.
  func checkCycle(
    _ subject: ActiveCallback.Subject, for request: ImageRequest
  ) throws(ImageCacheError) {
    guard let path = request.callback?.path(from: subject, in: registry) else { return }
    throw .sourceFailed(request.url, underlying: CircularImageError(cycle: path + [subject]))
  }
}

/// Why an image cannot be made: it was asked for to make itself.
struct CircularImageError: LocalizedError, CustomStringConvertible {
  /// Each waits for the next; the last is the first.
  let cycle: [ActiveCallback.Subject]

  init(cycle: [ActiveCallback.Subject]) { self.cycle = cycle }

  /// The cycle that a source was told of and passes on as it came.
  init?(in error: any Error) {
    switch error {
    case ImageCacheError.sourceFailed(_, let circular as Self): self = circular
    default: return nil
    }
  }

  var errorDescription: String? { description }

  var description: String {
    "An image waits for itself: \(cycle.map(\.description).joined(separator: ", which waits for "))."
  }
}

extension ActiveCallback.Subject: CustomStringConvertible {
  var description: String {
    switch self {
    case .image(let key):
      "providedImage(for:) of entity \(key.entity) in format \"\(key.format)\""
    case .source(let url): "the source of \(url)"
    }
  }
}
