#if canImport(Photos)
  import FastImageCache
  import Foundation
  import Locking

  /// The bytes that callbacks of the system bring, as one answer of a source.
  ///
  /// Invariants:
  /// 1. The end, a failure, too many bytes or a cancellation is the outcome, whichever comes first. Later callbacks
  ///    change nothing.
  /// 2. A request of the system whose outcome is not its own is cancelled.
  final class CallbackDownload: Sendable {
    private struct State {
      var bytes = Data()
      var outcome: Result<Data, any Error>?
      var waiting: CheckedContinuation<Data, any Error>?
      var cancel: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let byteCountLimit: Int

    init(byteCountLimit: Int) { self.byteCountLimit = byteCountLimit }

    /// Waits for the outcome.
    ///
    /// - Parameter begin: Begins the system's request, and returns how it is cancelled.
    func bytes(_ begin: () -> @Sendable () -> Void) async throws -> Data {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { waiting in
          state.withLock { $0.waiting = waiting }
          let cancel = begin()
          let isOver = state.withLock { state in
            if state.outcome == nil { state.cancel = cancel }
            return state.outcome != nil
          }
          if isOver { cancel() }
          answer()
        }
      } onCancel: {
        end(.failure(CancellationError()))
      }
    }

    /// Appends bytes, which the system may take back afterwards.
    ///
    /// - Returns: How many bytes there are.
    @discardableResult func append(_ data: Data) -> Int {
      let count = state.withLock { state in
        if state.outcome == nil { data.withUnsafeBytes { state.bytes.append(contentsOf: $0) } }
        return state.bytes.count
      }
      if count > byteCountLimit {
        end(.failure(ImageSourceError.tooLarge(byteCountLimit: byteCountLimit)))
      }
      return count
    }

    /// Ends the download by the system's word.
    func end(_ error: (any Error)?) {
      state.withLock { $0.cancel = nil }
      end(error.map { .failure($0) } ?? .success(state.withLock { $0.bytes }))
    }

    private func end(_ outcome: Result<Data, any Error>) {
      let cancel = state.withLock { state in
        if state.outcome == nil { state.outcome = outcome }
        return state.cancel.take()
      }
      cancel?()
      answer()
    }

    private func answer() {
      let (waiting, outcome) = state.withLock { state in
        (state.outcome == nil ? nil : state.waiting.take(), state.outcome)
      }
      if let waiting, let outcome { waiting.resume(with: outcome) }
    }
  }
#endif
