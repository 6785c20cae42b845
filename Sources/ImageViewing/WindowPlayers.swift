/// The places of one window that play, asked together at the ticks of the window's one clock.
///
/// Invariants:
/// 1. The clock runs exactly while there is a place. A place that is gone is found at the next tick.
/// 2. A tick before `next` asks no place, unless one has come since.
@MainActor package final class WindowPlayers {
  private struct Unheld { weak var place: ImagePlace? }

  private let setRunning: (Bool) -> Void
  private var places: [ObjectIdentifier: Unheld] = [:]
  private var last = Duration.zero
  private var next: Duration?

  /// - Parameter setRunning: Has ``tick(at:)`` called at each frame that the window may draw, or no more.
  package init(setRunning: @escaping (Bool) -> Void) { self.setRunning = setRunning }

  /// Asks a place at each tick from now on, the next one included.
  package func insert(_ place: ImagePlace) {
    next = nil
    let isFirst = places.isEmpty
    places[ObjectIdentifier(place)] = Unheld(place: place)
    if isFirst { setRunning(true) }
  }

  package func remove(_ place: ImagePlace) { remove(ObjectIdentifier(place)) }

  private func remove(_ id: ObjectIdentifier) {
    guard places.removeValue(forKey: id) != nil, places.isEmpty else { return }
    setRunning(false)
  }

  /// - Parameter now: By one clock for all windows of the process.
  /// - Returns: How long no tick need come, as far as the places know; a second at most.
  @discardableResult package func tick(at now: Duration) -> Duration {
    // But for a clock that was set back.
    if let next, now < next, now >= last { return next - now }
    last = now
    // A place that comes during the tick makes it `nil`.
    next = now + .seconds(1)
    for (id, unheld) in places {
      if let place = unheld.place {
        if let rest = place.tick(at: now), let known = next { next = min(known, now + rest) }
      } else {
        remove(id)
      }
    }
    return next.map { $0 - now } ?? .zero
  }
}
