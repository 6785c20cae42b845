import FastImageCache
import Locking

/// A source that answers after `open()`, and counts its loads.
final class WaitingSource: ImageSource {
  private struct State {
    var askedCount = 0
    var isOpen = false
    /// By the number of the load.
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Lock(State())
  private let bitmap: Bitmap

  init(_ bitmap: Bitmap) { self.bitmap = bitmap }

  var askedCount: Int { state.withLock { $0.askedCount } }

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
    return .bitmap(bitmap)
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
  /// Returns when this many loads wait.
  ///
  /// It looks every tenth of a millisecond, since looking without pause would be measured too.
  nonisolated(nonsending) func waitForWaiters(_ count: Int) async throws {
    while await statistics().waiters < count { try await Task.sleep(for: .microseconds(100)) }
  }
}
