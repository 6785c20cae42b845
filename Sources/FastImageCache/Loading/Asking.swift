import Synchronization

/// What a flight asks an entity for, known to the tasks that work on the answer.
///
/// An entity may ask the cache for other pictures before it answers. Whoever asks so must not wait
/// for a flight that waits for the answer itself: it would wait for ever.
package final class Asking: Sendable {
  /// Of everybody who waits for the answer to come; tasks that are begun meanwhile inherit it, and
  /// keep it when the answer has come.
  @TaskLocal private static var inherited: [Asking] = []

  /// Those who wait for the current task.
  package static var current: [Asking] { inherited.filter(\.isOpen) }

  /// Flights of another cache may have the same numbers.
  let registry: ObjectIdentifier
  let flight: FlightID
  let key: ImageKey
  private let place: GatePlace?
  private let hasEnded = Atomic(false)

  init(registry: ObjectIdentifier, flight: FlightID, key: ImageKey) {
    self.registry = registry
    self.flight = flight
    self.key = key
    place = GatePlace.held
  }

  /// Whether the answer has not come.
  var isOpen: Bool { !hasEnded.load(ordering: .relaxed) }

  /// Lets others pass the gate at which the flight is, since it waits for another load now, which may
  /// need that place.
  func giveUpPlace() { place?.giveUp() }

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
    if inherited.isEmpty, GatePlace.held == nil { return body() }
    return $inherited.withValue([]) { GatePlace.$held.withValue(nil, operation: body) }
  }
}

extension InFlightRegistry {
  /// Asks an entity whether it has the picture itself, for a flight that waits for the answer.
  ///
  /// - Throws: What the entity throws, and ``CircularPictureError`` if it is being asked for just that
  ///   already, by somebody who waits for this.
  func askEntity(
    of request: ImageRequest, for flight: FlightID
  ) async throws -> ImageSourceContent? {
    let others = request.asking.filter(\.isOpen)
    let isCircular = others.contains {
      $0.registry == ObjectIdentifier(self) && $0.key == request.key && isUnderWay($0.flight)
    }
    if isCircular { throw CircularPictureError(key: request.key) }
    let asking = Asking(registry: ObjectIdentifier(self), flight: flight, key: request.key)
    return try await asking.run(besides: others) {
      try await request.entity.picture(for: request.format)
    }
  }

  /// What waits for a request among this registry's flights.
  func asking(for request: ImageRequest) -> [Asking] {
    request.asking.filter { $0.isOpen && $0.registry == ObjectIdentifier(self) }
  }
}

/// Why an entity's picture cannot be made: it was asked for to make itself.
struct CircularPictureError: Error, CustomStringConvertible {
  let key: ImageKey

  var description: String {
    "picture(for:) of entity \(key.entity) asks for its own picture in format \"\(key.format)\"."
  }
}
