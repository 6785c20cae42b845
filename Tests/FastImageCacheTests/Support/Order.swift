import Locking

/// Notes what happened, in order, from any thread.
final class Order: Sendable {
  private let state = Lock<[String]>([])
  var notes: [String] { state.withLock { $0 } }
  func note(_ note: String) { state.withLock { $0.append(note) } }
}
