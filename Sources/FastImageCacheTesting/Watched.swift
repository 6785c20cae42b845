import Locking

/// A value, and the tasks that wait until something is true of it.
///
/// Invariants:
/// 1. A waiter is in `waiters` from the moment when its condition was false until it is resumed, by the
///    change that makes its condition true or by its task's cancellation.
/// 2. A task's cancellation is noted before the handler below takes the lock, and is read under the lock
///    before a waiter is added. So the waiter is never added, or found by the handler.
final class Watched<Value: Sendable>: Sendable {
  private struct Waiter {
    let condition: (Value) -> Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var value: Value
    var lastNumber = 0
    var waiters: [Int: Waiter] = [:]

    mutating func takeNumber() -> Int {
      lastNumber += 1
      return lastNumber
    }
  }

  private let state: Lock<State>

  init(_ value: Value) { state = Lock(State(value: value)) }

  var value: Value { state.withLock { $0.value } }

  /// Changes the value, and lets the tasks go on whose condition is true by then.
  func change(_ body: (inout Value) -> Void) {
    let ready = state.withLock { state in
      body(&state.value)
      let ready = state.waiters.filter { $0.value.condition(state.value) }
      for number in ready.keys { state.waiters[number] = nil }
      return ready.values.map(\.continuation)
    }
    for continuation in ready { continuation.resume() }
  }

  /// Waits until `condition` is true; throws `CancellationError` as soon as the task is cancelled.
  func waits(until condition: @escaping @Sendable (Value) -> Bool) async throws {
    let number = state.withLock { $0.takeNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if Task.isCancelled { return .failure(CancellationError()) }
          if condition(state.value) { return .success(()) }
          state.waiters[number] = Waiter(condition: condition, continuation: continuation)
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }
}
