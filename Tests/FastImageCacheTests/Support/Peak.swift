import Locking

/// How many were inside at the same time at most.
final class Peak: Sendable {
  private let state = Lock((now: 0, most: 0))

  var value: Int { state.withLock { $0.most } }

  func enter() {
    state.withLock { state in
      state.now += 1
      state.most = max(state.most, state.now)
    }
  }

  func leave() { state.withLock { $0.now -= 1 } }
}
