import Foundation
import Locking

/// One request on its way, between the task that awaits it and the connection that serves it.
///
/// Invariants:
/// 1. `continuation` is set once, by the awaiting task, and leaves the state before it is resumed;
///    so it is resumed once.
/// 2. Once `isOver`, no event changes anything here: events after a cancellation are dropped. A call of `begin` or of
///    what watches the buffer may still be under way then.
/// 3. `buffer` holds the bytes that `exchange` has taken. Both change in one critical section, so that an
///    exchange that is complete has all of its bytes here.
/// 4. `begin`, and what watches a buffer, are called on the connection's thread, in order, and never under the
///    lock: they may cancel the task whose cancellation takes it.
final class HTTPTransfer: Sendable {
  enum Outcome: Sendable {
    case arrived(DownloadBuffer)
    case unchanged(ResponseMetadata)
    case redirect(to: URL)
  }

  private typealias Continuation = CheckedContinuation<Outcome, any Error>

  private struct State {
    var exchange: HTTPExchange
    var buffer: DownloadBuffer?
    var continuation: Continuation?
    var isOver = false

    /// Ends the transfer, and gives out the continuation if it is still unanswered.
    mutating func end() -> Continuation? {
      isOver = true
      defer { continuation = nil }
      return continuation
    }

    /// Takes the bytes that a step brings.
    ///
    /// - Returns: The step, or the failure of taking them.
    func follow(_ step: HTTPExchange.Step) -> HTTPExchange.Step {
      guard case .take(let bytes) = step else { return step }
      do throws(ImageSourceError) {
        try buffer?.take(bytes)
      } catch {
        return .fail(HTTPFailure(error: error))
      }
      return step
    }
  }

  private let state: Lock<State>
  private let begin: @Sendable (ResponseMetadata, KnownOriginal?) -> DownloadBuffer
  private let report: @Sendable (ImageSourceProgress) -> Void
  /// Takes the times of the request, before it ends.
  let measure: @Sendable (NetworkDurations) -> Void

  /// - Parameters:
  ///   - begin: Called when the first bytes are about to be taken. Bytes come into the buffer unless the transfer
  ///     is over by then.
  ///   - report: Called after each event, on the connection's thread.
  ///   - measure: Called once, on that thread, before the request ends by itself.
  init(
    _ exchange: HTTPExchange,
    begin: @escaping @Sendable (ResponseMetadata, KnownOriginal?) -> DownloadBuffer,
    report: @escaping @Sendable (ImageSourceProgress) -> Void,
    measure: @escaping @Sendable (NetworkDurations) -> Void = { _ in }
  ) {
    state = Lock(State(exchange: exchange))
    self.begin = begin
    self.report = report
    self.measure = measure
  }

  /// The bytes taken so far, with the known ones that they continue.
  var buffer: DownloadBuffer? { state.withLock { $0.buffer } }

  /// The buffer, if each announced byte has come.
  var completeBuffer: DownloadBuffer? {
    state.withLock { $0.exchange.isComplete ? $0.buffer : nil }
  }

  /// Starts the connection's work and waits for its outcome.
  ///
  /// - Parameters:
  ///   - start: Called unless the task is cancelled already.
  ///   - cancel: Called when the task is cancelled, before, during or after `start`.
  /// - Throws: ``ImageSourceError``; `CancellationError` as soon as the task is cancelled.
  func outcome(start: () -> Void, cancel: @Sendable () -> Void) async throws -> Outcome {
    defer { SanitizerWitness.didResume() }
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

  /// See ``HTTPExchange/lacksAnswerToRange``.
  var lacksAnswerToRange: Bool { state.withLock { $0.exchange.lacksAnswerToRange } }

  /// A connection takes the request.
  func noteSent() { state.withLock { $0.exchange.isSent = true } }

  /// Whether no caller waits for the outcome any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// The head of the answer came; `false` says that the connection is to be dropped.
  func receive(_ head: HTTPHead) -> Bool {
    goesOn { $0.receive(head) }
  }

  /// A piece of the body came; `false` says that the connection is to be dropped.
  func receive(_ bytes: Data) -> Bool {
    goesOn { $0.receive(bytes) }
  }

  /// The connection is done with this request.
  ///
  /// - Parameters:
  ///   - fault: The failure that the system saw; `nil` for none.
  ///   - isReset: Whether the server refused this request alone, and its connection goes on.
  func end(fault: ImageSourceError?, isReset: Bool = false) {
    answer { state in
      switch (state.exchange.end(fault: fault, isReset: isReset), state.buffer) {
      case (.complete, let buffer?): .success(.arrived(buffer))
      // The transfer was over before its buffer was there: no caller hears this.
      case (.complete, nil): .failure(CancellationError())
      case (.unchanged(let terms), _): .success(.unchanged(terms))
      case (.failed(let failure), _): .failure(failure)
      }
    }
  }

  /// The request cannot be sent.
  func refuse(with error: ImageSourceError) { answer { _ in .failure(error) } }

  private func answer(_ result: (State) -> Result<Outcome, any Error>) {
    let (continuation, result) = state.withLock { ($0.end(), result($0)) }
    continuation?.resume(with: result)
  }

  /// Passes one event to the exchange and follows its step.
  private func goesOn(after event: (inout HTTPExchange) -> HTTPExchange.Step) -> Bool {
    let taken: (HTTPExchange.Step, ImageSourceProgress, DownloadBuffer?)? = state.withLock {
      state in
      if state.isOver { return nil }
      let step = state.follow(event(&state.exchange))
      return (step, state.exchange.progress, state.buffer)
    }
    guard let (step, progress, buffer) = taken else { return false }
    switch step {
    case .goOn: break
    case .take(let bytes): buffer?.tell(of: bytes)
    case .begin(let terms, let known):
      let begun = begin(terms, known)
      state.withLock { if !$0.isOver { $0.buffer = begun } }
    case .redirect(let target):
      answer { _ in .success(.redirect(to: target)) }
      return false
    case .fail(let failure):
      answer { _ in .failure(failure) }
      return false
    }
    report(progress)
    return true
  }
}

/// One request's answer as it arrives. It decides which bytes to take and when to stop, and performs
/// nothing itself.
///
/// Invariants:
/// 1. The bytes taken, with the known bytes that they continue, are never more than `byteCountLimit`,
///    whatever the server says or sends.
/// 2. A byte is taken once its place in the original is known, in order and without a gap. Bytes of
///    places that are known already are compared and not taken.
/// 3. After a step that ends the exchange it gets no further event.
struct HTTPExchange: Sendable {
  enum Step: Sendable {
    case goOn
    /// Bytes will be taken: from the first one on, or behind the known ones.
    case begin(ResponseMetadata, after: KnownOriginal?)
    case take(Data)
    case redirect(to: URL)
    case fail(HTTPFailure)
  }

  enum Ending: Sendable {
    case complete
    case unchanged(ResponseMetadata)
    case failed(HTTPFailure)
  }

  private struct Body {
    /// The next byte's place in the original.
    var position = 0
    /// Where the answer ends, and where the original does; `nil` where nobody said.
    var end: Int?
    var total: Int?
    var isCoded = false
    var known = Data()
  }

  private enum Phase {
    case head
    case body(Body)
    case unchanged(ResponseMetadata)
  }

  private let condition: HTTPCondition
  private let byteCountLimit: Int
  private var phase = Phase.head
  /// Whether a connection took the request, as far as the system tells.
  var isSent = false

  init(_ condition: HTTPCondition = .all, byteCountLimit: Int) {
    self.condition = condition
    self.byteCountLimit = byteCountLimit
  }

  var progress: ImageSourceProgress {
    guard case .body(let body) = phase else { return ImageSourceProgress(receivedByteCount: 0) }
    return ImageSourceProgress(
      receivedByteCount: max(body.position, body.known.count), expectedByteCount: body.total)
  }

  /// Whether a connection took a continuation, and no head came. Some servers, and firewalls in front of them, drop
  /// whatever has a `Range`.
  var lacksAnswerToRange: Bool {
    guard isSent, case .head = phase, case .rest = condition else { return false }
    return true
  }

  /// Whether each announced byte has come, so that the answer counts whatever fault follows.
  var isComplete: Bool {
    guard case .body(let body) = phase, let total = body.total else { return false }
    return body.position == total
  }

  mutating func receive(_ head: HTTPHead) -> Step {
    switch HTTPDecision(on: head, to: condition) {
    case .redirect(let target):
      return .redirect(to: target)
    case .failure(let failure):
      return .fail(failure)
    case .unchanged(let terms):
      // Such an answer has no body, and a connection that ends by itself is used again.
      phase = .unchanged(terms)
      return .goOn
    case .whole(let terms):
      if head.isUncountable { return .fail(tooLarge) }
      if let refusal = HTTPConnections.refusal(of: head.codings) {
        return .fail(HTTPFailure(error: refusal))
      }
      return begin(
        terms, Body(end: terms.byteCount, total: terms.byteCount, isCoded: terms.hasContentCoding),
        after: nil)
    case .part(let terms, let range, let known):
      let body = Body(
        position: range.lowerBound, end: range.upperBound, total: terms.byteCount,
        known: known.bytes)
      return begin(terms, body, after: known)
    }
  }

  private mutating func begin(
    _ terms: ResponseMetadata, _ body: Body, after known: KnownOriginal?
  ) -> Step {
    guard body.total ?? 0 <= byteCountLimit else { return .fail(tooLarge) }
    phase = .body(body)
    return .begin(terms, after: known)
  }

  mutating func receive(_ bytes: Data) -> Step {
    guard case .body(var body) = phase else { return .goOn }
    guard bytes.count <= byteCountLimit - body.position else { return .fail(tooLarge) }
    if let end = body.end, bytes.count > end - body.position {
      let text = "The server sent more than the \(end) bytes that it announced."
      return .fail(HTTPFailure(error: .network(text), dropsBytes: true))
    }
    let overlap = body.known.dropFirst(body.position).prefix(bytes.count)
    guard bytes.prefix(overlap.count) == overlap else {
      return .fail(.contradiction(.network("The server continues another version.")))
    }
    body.position += bytes.count
    phase = .body(body)
    return overlap.count == bytes.count ? .goOn : .take(bytes.dropFirst(overlap.count))
  }

  /// The connection is done with this request.
  ///
  /// - Parameters:
  ///   - fault: The failure that the system saw; `nil` when it saw none.
  ///   - isReset: Whether the server refused this request alone, and its connection goes on.
  func end(fault: ImageSourceError?, isReset: Bool = false) -> Ending {
    let again: HTTPFailure.Remedy =
      lacksAnswerToRange ? .all : isReset ? .resend : .again()
    switch phase {
    case .head:
      let error = fault ?? .network("The server closed the connection without an answer.")
      return .failed(HTTPFailure(error: error, remedy: error.isRefusal ? .none : again))
    case .unchanged(let terms):
      return .unchanged(terms)
    case .body(let body):
      // Where an end was announced no fault counts behind it.
      let isWhole = body.end.map { body.position == $0 } ?? (fault == nil)
      if isWhole, body.end == body.total { return .complete }
      if body.isCoded, let fault {
        return .failed(HTTPFailure(error: fault, remedy: again))
      }
      // Systems report a cut body as this or that broken connection.
      let error = ImageSourceError.truncatedBody(
        received: progress.receivedByteCount, expected: body.total)
      return .failed(HTTPFailure(error: error, remedy: isWhole ? .rest : again))
    }
  }

  private var tooLarge: HTTPFailure {
    HTTPFailure(error: .tooLarge(byteCountLimit: byteCountLimit))
  }
}

extension ImageSourceError {
  /// Whether the same request would be refused again.
  fileprivate var isRefusal: Bool {
    switch self {
    case .networkRefused, .serverNotTrusted: true
    default: false
    }
  }
}
