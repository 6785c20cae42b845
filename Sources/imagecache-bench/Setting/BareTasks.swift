import Locking
import Synchronization

/// Tasks that only wait for a continuation: the cost of waiting in Swift itself.
///
/// Continuations stand in a dictionary under a lock: without it no task could be answered or
/// cancelled.
final class BareTasks: Sendable {
  private struct State {
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var isFull: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())
  private let number = Atomic(0)
  private let count: Int

  init(count: Int) { self.count = count }

  /// Waits for ``answerAll()``, or until the task is cancelled.
  @concurrent
  func wait() async {
    let number = number.add(1, ordering: .relaxed).newValue
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let full = state.withLock { state -> CheckedContinuation<Void, Never>? in
          state.waiting[number] = continuation
          return state.waiting.count == count ? state.isFull.take() : nil
        }
        full?.resume()
        if Task.isCancelled { leave(number) }
      }
    } onCancel: {
      leave(number)
    }
  }

  private func leave(_ number: Int) {
    state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
  }

  /// Returns when all tasks wait.
  @concurrent
  func allWait() async {
    await withCheckedContinuation { continuation in
      let isFull = state.withLock { state in
        if state.waiting.count == count { return true }
        state.isFull = continuation
        return false
      }
      if isFull { continuation.resume() }
    }
  }

  func answerAll() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }
}
