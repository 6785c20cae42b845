import Foundation

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

  init(_ condition: HTTPCondition = .all, byteCountLimit: Int) {
    self.condition = condition
    self.byteCountLimit = byteCountLimit
  }

  var progress: ImageSourceProgress {
    guard case .body(let body) = phase else { return ImageSourceProgress(receivedByteCount: 0) }
    return ImageSourceProgress(
      receivedByteCount: max(body.position, body.known.count), expectedByteCount: body.total)
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
    let again: HTTPFailure.Remedy = isReset ? .resend : .again()
    switch phase {
    case .head:
      let error = fault ?? .network("The server closed the connection without an answer.")
      // The same request would be refused again.
      return .failed(
        HTTPFailure(error: error, remedy: error == .networkRefused ? .none : again))
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
