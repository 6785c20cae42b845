import Foundation
import Synchronization

/// What a flight asks an entity or the source for, known to the tasks that work on the answer.
///
/// Both may ask the cache for other pictures before they answer. Whoever asks so must not wait for a
/// flight that waits for the answer itself: it would wait for ever.
final class Asking: Sendable {
  enum Subject: Hashable, Sendable {
    case picture(ImageKey)
    case source(URL)
  }

  /// Of everybody who waits for the answer to come, the first to ask first; tasks that are begun
  /// meanwhile inherit it, and keep it when the answer has come.
  @TaskLocal private static var inherited: [Asking] = []

  /// Those who wait for the current task.
  static var current: [Asking] { inherited.filter(\.isOpen) }

  /// Flights of another cache may have the same numbers.
  let registry: ObjectIdentifier
  let flight: FlightID
  let subject: Subject
  private let permit: LoadPermit
  private let urgency: Urgency
  private let taskPriority: Priority
  private let hasEnded = Atomic(false)

  init(registry: ObjectIdentifier, flight: Flight, subject: Subject) {
    self.registry = registry
    self.flight = flight.id
    self.subject = subject
    permit = flight.permit
    urgency = flight.urgency
    taskPriority = flight.taskPriority
  }

  /// Whether the answer has not come.
  var isOpen: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Lets others pass the gate at which the flight is, since it waits for another load now, which may
  /// need that permit; until `endWait()`.
  func beginWait() { permit.beginWait() }

  func endWait() { permit.endWait() }

  /// What a request that is made at `priority` follows; `nil` if that priority was chosen for it.
  func urgency(at priority: Priority) -> Urgency? { priority == taskPriority ? urgency : nil }

  /// Runs `body`, on whose answer this and `others` wait.
  func run<Answer>(
    besides others: [Asking], _ body: () async throws -> Answer
  ) async throws -> Answer {
    defer { hasEnded.store(true, ordering: .relaxed) }
    return try await Asking.$inherited.withValue(others + [self], operation: body)
  }

  /// Begins a task that works for nobody in particular: a load serves others than those for whom it
  /// was begun.
  static func begin<Value>(_ body: () -> Task<Value, Never>) -> Task<Value, Never> {
    // As a rule there is nothing that it must not inherit.
    inherited.isEmpty ? body() : $inherited.withValue([], operation: body)
  }
}

extension InFlightRegistry {
  /// Asks an entity or the source, for a flight that waits for the answer.
  ///
  /// - Parameter requests: On whose behalf; who waits for them waits for the answer, too.
  /// - Throws: What `question` throws.
  func ask<Answer>(
    _ subject: Asking.Subject, for flight: Flight, of requests: [ImageRequest],
    _ question: () async throws -> Answer
  ) async throws -> Answer {
    var others: [Asking] = []
    // Each once: those that several requests lead to would double with every level of a pyramid.
    for other in requests.flatMap(\.asking) where other.isOpen {
      if !others.contains(where: { $0 === other }) { others.append(other) }
    }
    let asking = Asking(registry: ObjectIdentifier(self), flight: flight, subject: subject)
    return try await asking.run(besides: others, question)
  }

  /// Checks that nobody who waits for a request has asked for `subject` already: it would be asked
  /// on behalf of its own answer, again and again.
  ///
  /// - Throws: ``ImageCacheError/sourceFailed(_:underlying:)`` of a ``CircularPictureError``.
  func checkRing(
    _ subject: Asking.Subject, for request: ImageRequest
  ) throws(ImageCacheError) {
    let others = request.asking.filter(\.isOpen)
    let first = others.firstIndex {
      $0.registry == ObjectIdentifier(self) && $0.subject == subject && isUnderWay($0.flight)
    }
    guard let first else { return }
    let error = CircularPictureError(ring: others[first...].map(\.subject) + [subject])
    throw .sourceFailed(request.url, underlying: error)
  }

  /// What waits for a request among this registry's flights.
  func asking(for request: ImageRequest) -> [Asking] {
    request.asking.filter { $0.isOpen && $0.registry == ObjectIdentifier(self) }
  }
}

/// One wait for a picture on behalf of loads that go on after it.
///
/// Until it ends these hold no permit, and it is as urgent as the load that asked.
struct WaitOnBehalf: Sendable {
  let asking: [Asking]
  private let chosen: Priority
  private let urgency: Urgency?
  private let observation: Urgency.Observation?

  /// - Parameter priority: That of the asking task.
  init(
    of waiter: WaiterID, for request: ImageRequest, _ priority: Priority,
    in registry: InFlightRegistry
  ) {
    asking = registry.asking(for: request)
    chosen = priority
    urgency = request.asking.last(where: \.isOpen)?.urgency(at: priority)
    observation = urgency.map { urgency in
      urgency.observe { registry.follow(waiter, urgency) }
    }
    for waiting in asking { waiting.beginWait() }
  }

  /// Whether nobody waits but the caller.
  var isForCallerOnly: Bool { asking.isEmpty && urgency == nil }

  var priority: Priority { urgency?.priority ?? chosen }

  /// To be called once, before the answer is given.
  func end() {
    if let observation { urgency?.endObservation(observation) }
    for waiting in asking { waiting.endWait() }
  }
}

/// Why a picture cannot be made: it was asked for to make itself.
struct CircularPictureError: Error, CustomStringConvertible {
  /// Each waits for the next; the last is the first.
  let ring: [Asking.Subject]

  init(ring: [Asking.Subject]) { self.ring = ring }

  /// The ring that a source of it hears of and passes on as it came.
  init?(in error: any Error) {
    guard case ImageCacheError.sourceFailed(_, let circular as Self) = error else { return nil }
    self = circular
  }

  var description: String {
    "A picture waits for itself: \(ring.map(\.description).joined(separator: ", which waits for "))."
  }
}

extension Asking.Subject: CustomStringConvertible {
  var description: String {
    switch self {
    case .picture(let key): "picture(for:) of entity \(key.entity) in format \"\(key.format)\""
    case .source(let url): "the source of \(url)"
    }
  }
}
