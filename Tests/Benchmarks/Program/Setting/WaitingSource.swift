import FastImageCache
import Foundation
import Locking
import Synchronization

/// A source that answers after `open()`, and counts its loads.
final class WaitingSource: NeedNamingSource {
  private struct State {
    /// Resumed when this many loads have begun.
    var beginning: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    /// Loads that passed their gate.
    var askedCount = 0
    var isOpen = false
    /// By the number of the load.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Lock(State())
  /// Loads that came to their gate: no part of the state, since each request that is counted takes this step, too.
  private let begunCount = Atomic(0)
  /// The count that a task waits for, or has waited for.
  private let awaitedCount = Atomic(0)
  private let content: ImageSourceResponse
  private let need: LoadNeed

  init(_ content: ImageSourceResponse, need: LoadNeed = .local) {
    (self.content, self.need) = (content, need)
  }

  convenience init(_ bitmap: Bitmap) { self.init(.bitmap(bitmap)) }

  var askedCount: Int { state.withLock { $0.askedCount } }

  /// The cache asks once for each load, right before the load waits at its gate.
  func need(for url: URL) -> LoadNeed {
    // In one order for all threads: this load finds the count that is awaited, or the task finds this load.
    let begun = begunCount.add(1, ordering: .sequentiallyConsistent).newValue
    if begun == awaitedCount.load(ordering: .sequentiallyConsistent) { endWait() }
    return need
  }

  /// Returns when this many loads have come to their gate, since the source was made. One task at a
  /// time may wait.
  func waitForLoads(_ count: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.beginning = (count, continuation) }
      awaitedCount.store(count, ordering: .sequentiallyConsistent)
      endWait()
    }
  }

  /// Resumes the task that waits for loads, if they have come.
  private func endWait() {
    let ended = state.withLock { state in
      guard let beginning = state.beginning,
        beginning.count <= begunCount.load(ordering: .sequentiallyConsistent)
      else { return CheckedContinuation<Void, Never>?.none }
      state.beginning = nil
      return beginning.continuation
    }
    ended?.resume()
  }

  /// Waits for ``open()``, or until the load is cancelled.
  @concurrent
  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let number = state.withLock { state in
      state.askedCount += 1
      return state.askedCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          // Under the lock: a cancellation either comes before and is seen here, or finds the
          // continuation.
          if state.isOpen || Task.isCancelled { return true }
          state.waiting[number] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
    try Task.checkCancellation()
    return content
  }

  /// Answers all waiting loads, and later ones until ``shut()``.
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for continuation in waiting { continuation.resume() }
  }

  func shut() { state.withLock { $0.isOpen = false } }
}

extension ImageCache {
  /// Returns when this many requests wait.
  ///
  /// It looks every tenth of a millisecond, since looking without pause would be measured too.
  nonisolated(nonsending) func waitForWaiters(_ count: Int) async throws {
    while await statistics().pendingRequests < count {
      try await Task.sleep(for: .microseconds(100))
    }
  }
}
