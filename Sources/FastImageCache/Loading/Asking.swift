/// What a flight asks an entity for, known to the tasks that work on the answer.
///
/// An entity may ask the cache for other pictures before it answers. Whoever asks so must not wait
/// for a flight that waits for the answer itself: it would wait for ever.
package struct Asking: Sendable {
  /// Of everybody who waits for the answer to come; tasks that are begun meanwhile inherit it.
  @TaskLocal package static var all: [Asking] = []

  /// Flights of another cache may have the same numbers.
  package let registry: ObjectIdentifier
  package let flight: FlightID
  package let key: ImageKey
}

extension InFlightRegistry {
  /// Asks an entity whether it has the picture itself, for a flight that waits for the answer.
  ///
  /// - Throws: What the entity throws, and ``CircularPictureError`` if it is being asked for just that
  ///   already, by somebody who waits for this.
  func askEntity(
    of request: ImageRequest, for flight: FlightID
  ) async throws -> ImageSourceContent? {
    let asking = Asking(registry: ObjectIdentifier(self), flight: flight, key: request.key)
    let isCircular = Asking.all.contains {
      $0.registry == asking.registry && $0.key == asking.key && isUnderWay($0.flight)
    }
    if isCircular { throw CircularPictureError(key: request.key) }
    return try await Asking.$all.withValue(Asking.all + [asking]) {
      try await request.entity.picture(for: request.format)
    }
  }

  /// The flights of this registry that wait for what the current task asks.
  var askingFlights: [FlightID] {
    Asking.all.filter { $0.registry == ObjectIdentifier(self) }.map(\.flight)
  }
}

/// Why an entity's picture cannot be made: it was asked for to make itself.
struct CircularPictureError: Error, CustomStringConvertible {
  let key: ImageKey

  var description: String {
    "picture(for:) of entity \(key.entity) asks for its own picture in format \"\(key.format)\"."
  }
}
