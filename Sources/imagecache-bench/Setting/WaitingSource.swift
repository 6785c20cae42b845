import FastImageCache
import Foundation
import Locking

/// A source that answers after `open()`, and counts its loads.
final class WaitingSource: ImageSource {
  private struct State {
    /// Loads that came to their gate.
    var begunCount = 0
    /// Resumed when this many loads have begun.
    var beginning: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    /// Loads that passed their gate.
    var askedCount = 0
    var isOpen = false
    /// By the number of the load.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Lock(State())
  private let content: ImageSourceContent
  private let need: LoadNeed

  init(_ content: ImageSourceContent, need: LoadNeed = .local) {
    (self.content, self.need) = (content, need)
  }

  convenience init(_ bitmap: Bitmap) { self.init(.bitmap(bitmap)) }

  var askedCount: Int { state.withLock { $0.askedCount } }

  /// The cache asks once for each load, right before the load waits at its gate.
  func need(for url: URL) -> LoadNeed {
    let continuation = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.begunCount += 1
      return state.begunCount == state.beginning?.count ? state.beginning.take()?.continuation : nil
    }
    continuation?.resume()
    return need
  }

  /// Returns when this many loads have come to their gate, since the source was made. One task at a
  /// time may wait.
  func waitForLoads(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let haveBegun = state.withLock { state in
        if state.begunCount >= count { return true }
        state.beginning = (count, continuation)
        return false
      }
      if haveBegun { continuation.resume() }
    }
  }

  /// Waits for ``open()``, or until the load is cancelled.
  @concurrent
  func load(
    _ request: ImageSourceRequest, progress: @escaping @Sendable (ImageSourceProgress) -> Void
  ) async throws -> ImageSourceContent {
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
    while await statistics().waiters < count { try await Task.sleep(for: .microseconds(100)) }
  }
}
