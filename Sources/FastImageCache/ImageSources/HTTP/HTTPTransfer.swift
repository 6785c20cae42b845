import Foundation
import Locking

/// One request on its way, between the task that awaits it and the connection that serves it.
///
/// Invariants:
/// 1. `continuation` is set once, by the awaiting task, and leaves the state before it is resumed;
///    so it is resumed once.
/// 2. Once `isOver`, no event changes anything: events after a cancellation are dropped.
final class HTTPTransfer: Sendable {
  enum Outcome: Sendable {
    case body(Data)
    case redirect(to: URL)
  }

  private typealias Continuation = CheckedContinuation<Outcome, any Error>

  private struct State {
    var exchange: HTTPExchange
    var continuation: Continuation?
    var isOver = false

    /// Ends the transfer, and gives out the continuation if it is still unanswered.
    mutating func end() -> Continuation? {
      isOver = true
      defer { continuation = nil }
      return continuation
    }
  }

  private let state: Lock<State>
  private let progress: @Sendable (ImageSourceProgress) -> Void

  init(byteCountLimit: Int, progress: @escaping @Sendable (ImageSourceProgress) -> Void) {
    state = Lock(State(exchange: HTTPExchange(byteCountLimit: byteCountLimit)))
    self.progress = progress
  }

  /// Starts the connection's work and waits for its outcome.
  ///
  /// - Parameters:
  ///   - start: Called unless the task is cancelled already.
  ///   - cancel: Called when the task is cancelled, before, during or after `start`.
  /// - Throws: ``ImageSourceError``; `CancellationError` as soon as the task is cancelled.
  func outcome(start: () -> Void, cancel: @Sendable () -> Void) async throws -> Outcome {
    defer { SanitizerWitness.didResume(at: self) }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isOver = state.withLock { state in
          if !state.isOver { state.continuation = continuation }
          return state.isOver
        }
        if isOver {
          continuation.resume(throwing: CancellationError())
        } else {
          start()
        }
      }
    } onCancel: {
      let continuation = state.withLock { $0.end() }
      cancel()
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Whether no caller waits for the outcome any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The head of the answer came; `false` says that the connection is to be dropped.
  func receive(_ head: HTTPExchange.Head) -> Bool {
    goesOn { $0.receive(head) }
  }

  /// A piece of the body came; `false` says that the connection is to be dropped.
  func receive(_ bytes: Data) -> Bool {
    goesOn { $0.receive(bytes) }
  }

  /// The connection is done with this request.
  ///
  /// - Parameter fault: The system's words for a failure; `nil` for none.
  func end(fault: String?) {
    let (continuation, result) = state.withLock { state in
      (state.end(), state.exchange.end(fault: fault))
    }
    SanitizerWitness.willResume(at: self)
    continuation?.resume(with: result.map(Outcome.body).mapError { $0 })
  }

  /// The request cannot be sent.
  func refuse(with error: ImageSourceError) {
    let continuation = state.withLock { $0.end() }
    SanitizerWitness.willResume(at: self)
    continuation?.resume(throwing: error)
  }

  /// Passes one event to the exchange and follows its verdict.
  private func goesOn(after event: (inout HTTPExchange) -> HTTPExchange.Verdict) -> Bool {
    let step: (verdict: HTTPExchange.Verdict, report: ImageSourceProgress, Continuation?)? =
      state.withLock { state in
        if state.isOver { return nil }
        let verdict = event(&state.exchange)
        return (verdict, state.exchange.progress, verdict == .goOn ? nil : state.end())
      }
    guard let (verdict, report, continuation) = step else { return false }
    SanitizerWitness.willResume(at: self)
    switch verdict {
    case .goOn:
      progress(report)
      return true
    case .redirect(let target): continuation?.resume(returning: .redirect(to: target))
    case .fail(let error): continuation?.resume(throwing: error)
    }
    return false
  }
}
