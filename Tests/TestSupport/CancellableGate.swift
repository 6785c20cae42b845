import Locking

/// A door that tasks wait at until a test opens it or they are cancelled.
public final class CancellableGate: Sendable {
  private struct State {
    var isOpen = false
    var lastNumber = 0
    var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    var cancelled: Set<Int> = []
  }
  private let state = Lock(State())

  public init() {}

  /// Lets all tasks pass, now and later.
  public func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [:] }
      return state.waiters.values.map { $0 }
    }
    for waiter in waiters { waiter.resume(returning: true) }
  }

  /// Waits until the gate is open; throws `CancellationError` if the task is cancelled before.
  public func pass() async throws {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    let hasPassed = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.withLock { state -> Bool? in
          if state.cancelled.contains(number) { return false }
          if state.isOpen { return true }
          state.waiters[number] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        state.cancelled.insert(number)
        return state.waiters.removeValue(forKey: number)
      }
      waiter?.resume(returning: false)
    }
    if !hasPassed { throw CancellationError() }
  }
}
