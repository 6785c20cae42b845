import Locking
import Synchronization

/// Tasks that only wait for a continuation: the cost of waiting in Swift itself.
///
/// Continuations stand in a dictionary under a lock: without it no task could be answered or
/// cancelled.
final class BareTasks: Sendable {
  private struct State {
    var waiting: [Int: UnsafeContinuation<Void, Never>] = [:]
    var isFull: UnsafeContinuation<Void, Never>?
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
      // Unchecked, as those of requests and loads are: each is resumed by the thread that takes it out.
      await withUnsafeContinuation { continuation in
        let full = state.withLock { state -> UnsafeContinuation<Void, Never>? in
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
    await withUnsafeContinuation { continuation in
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
