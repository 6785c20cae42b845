import Locking

/// The original of one load in the hands of the store, which holds it at most once.
///
/// One worker at a time keeps or refuses; the load's task awaits the write.
final class HeldOriginal: Sendable {
  private struct State {
    var isDecided = false
    var body: UInt64?
    var write: Task<Void, Never>?
  }

  private let state = Lock(State())

  /// Writes the original, and removes it if a request refuses it later; `nil` while the store holds nothing.
  var write: Task<Void, Never>? { state.withLock { $0.write } }

  /// Keeps the original, unless it was kept or refused before.
  ///
  /// - Parameter hold: Has the store hold it, and begins the write.
  func keep(_ hold: () -> (body: UInt64, write: Task<Void, Never>)?) {
    let isFirst = state.withLock { state in
      defer { state.isDecided = true }
      return !state.isDecided
    }
    guard isFirst, let held = hold() else { return }
    state.withLock { ($0.body, $0.write) = (held.body, held.write) }
  }

  /// Keeps nothing from now on, and drops what earlier requests let the load keep.
  func refuse(_ drop: @escaping @Sendable (_ body: UInt64) async -> Void) {
    state.withLock { state in
      state.isDecided = true
      guard let body = state.body.take(), let write = state.write else { return }
      state.write = Task(name: "original") {
        await write.value
        await drop(body)
      }
    }
  }
}
