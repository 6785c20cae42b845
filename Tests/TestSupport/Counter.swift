import Locking

/// A number that many tasks count up, and that a test can wait for.
public final class Counter: Sendable {
  private struct State {
    var value = 0
    var isEnded = false
    var waiters: [Int: (goal: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
    var subscriberCount = 0
  }
  private let state = Lock(State())

  public init() {}

  public var value: Int { state.withLock { $0.value } }

  /// Counts one up, wakes the tasks that wait for the new value, and returns it.
  @discardableResult
  public func increment() -> Int {
    let (value, reached) = state.withLock { state in
      state.value += 1
      let reached = state.waiters.filter { $0.value.goal <= state.value }
      for id in reached.keys { state.waiters[id] = nil }
      return (state.value, reached.values)
    }
    for waiter in reached { waiter.continuation.resume() }
    return value
  }

  /// Ends the count and wakes all waiting tasks, so that their next expectation fails instead of a
  /// wait without end.
  public func end() {
    let waiters = state.withLock { state in
      state.isEnded = true
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.continuation.resume() }
  }

  /// Waits until the counter stands at `goal` or above, or has ended, or until the test's time is over.
  public func reaches(_ goal: Int) async {
    let id = state.withLock { state in
      state.subscriberCount += 1
      return state.subscriberCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          // Under the lock: a cancellation is seen here, or finds the waiter.
          let isThere = state.value >= goal || state.isEnded || Task.isCancelled
          if !isThere { state.waiters[id] = (goal, continuation) }
          return isThere
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
    }
  }
}
