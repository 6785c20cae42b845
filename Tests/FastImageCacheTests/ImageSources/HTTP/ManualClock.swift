import Locking

@testable import FastImageCache

/// A clock that stands still until a test moves it.
final class ManualClock: TimeoutClock {
  typealias Condition = @Sendable ([ContinuousClock.Instant]) -> Bool

  private struct Sleeper {
    let end: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = ContinuousClock.now
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var sleepCount = 0
    var isEnded = false
    var waiters: [(condition: Condition, continuation: CheckedContinuation<Void, Never>)] = []

    /// Takes out whoever waited for what is the case now.
    mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
      let ends = sleepers.values.map(\.end)
      let awake = waiters.filter { isEnded || $0.condition(ends) }.map(\.continuation)
      waiters.removeAll { isEnded || $0.condition(ends) }
      return awake
    }
  }
  private let state = Lock(State())

  var now: ContinuousClock.Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.sleepCount += 1
      return state.sleepCount
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let awake: [CheckedContinuation<Void, Never>]? = state.withLock { state in
          guard deadline > state.now, !state.cancelled.contains(id) else { return nil }
          state.sleepers[id] = Sleeper(end: deadline, continuation: continuation)
          return state.takeWaiters()
        }
        guard let awake else { return continuation.resume() }
        for waiter in awake { waiter.resume() }
      }
      try Task.checkCancellation()
    } onCancel: {
      let (sleeper, awake) = state.withLock { state in
        state.cancelled.insert(id)
        return (state.sleepers.removeValue(forKey: id), state.takeWaiters())
      }
      sleeper?.continuation.resume()
      for waiter in awake { waiter.resume() }
    }
  }

  /// Moves the time, and wakes who slept until then.
  func advance(by duration: Duration) {
    let sleepers = state.withLock { state in
      state.now += duration
      let over = state.sleepers.filter { $0.value.end <= state.now }
      for id in over.keys { state.sleepers[id] = nil }
      return over.values
    }
    for sleeper in sleepers { sleeper.continuation.resume() }
  }

  /// Wakes whoever waits for sleepers: what is tested has ended, and nobody will sleep any more.
  func end() {
    let awake = state.withLock { state in
      state.isEnded = true
      return state.takeWaiters()
    }
    for waiter in awake { waiter.resume() }
  }

  /// Waits until those who sleep, by their ends, are as `condition` says, or the clock has ended.
  func sleepers(are condition: @escaping Condition) async {
    await withCheckedContinuation { continuation in
      let awake = state.withLock { state in
        state.waiters.append((condition, continuation))
        return state.takeWaiters()
      }
      for waiter in awake { waiter.resume() }
    }
  }
}
