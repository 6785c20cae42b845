import Locking

/// A number that many tasks count up, and that a test can wait for.
public final class Counter: Sendable {
  private struct State {
    var value = 0
    var isEnded = false
    var waiters: [(goal: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Lock(State())

  public init() {}

  public var value: Int { state.withLock { $0.value } }

  /// Counts one up, wakes the tasks that wait for the new value, and returns it.
  @discardableResult
  public func increment() -> Int {
    let (value, reached) = state.withLock { state in
      state.value += 1
      let reached = state.waiters.filter { $0.goal <= state.value }
      state.waiters.removeAll { $0.goal <= state.value }
      return (state.value, reached)
    }
    for waiter in reached { waiter.continuation.resume() }
    return value
  }

  /// Ends the count and wakes all waiting tasks, so that their next expectation fails instead of a
  /// wait without end.
  public func end() {
    let waiters = state.withLock { state in
      state.isEnded = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Waits until the counter stands at `goal` or above, or has ended.
  public func reaches(_ goal: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        let isThere = state.value >= goal || state.isEnded
        if !isThere { state.waiters.append((goal, continuation)) }
        return isThere
      }
      if isThere { continuation.resume() }
    }
  }
}
