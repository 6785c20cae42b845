import Foundation

/// One request's answer as it arrives. It decides which bytes to keep and when to stop, and performs
/// nothing itself.
///
/// Invariants:
/// 1. `body` never holds more than `byteCountLimit` bytes, whatever the server says or sends.
/// 2. After a verdict other than `goOn` the exchange gets no further event.
struct HTTPExchange: Sendable {
  enum Verdict: Equatable {
    case goOn
    case redirect(to: URL)
    case fail(ImageSourceError)
  }

  /// The fields of an answer's head that the exchange decides by.
  struct Head {
    /// The address that was asked.
    let url: URL
    let status: Int
    let location: String?
    /// As the server announced it; it may lie.
    let contentLength: Int?
    let contentEncoding: String?
  }

  private enum Content {
    case none
    case plain
    case compressed
  }

  private static let redirects: Set<Int> = [301, 302, 303, 307, 308]

  let byteCountLimit: Int
  private(set) var body = Data()
  private(set) var expectedByteCount: Int?
  private var content = Content.none

  init(byteCountLimit: Int) {
    self.byteCountLimit = byteCountLimit
  }

  var progress: ImageSourceProgress {
    ImageSourceProgress(receivedByteCount: body.count, expectedByteCount: expectedByteCount)
  }

  mutating func receive(_ head: Head) -> Verdict {
    if Self.redirects.contains(head.status), let location = head.location {
      guard let target = URL(string: location, relativeTo: head.url)?.absoluteURL else {
        return .fail(.network("The server redirects to '\(location)', which is no URL."))
      }
      return .redirect(to: target)
    }
    // A part (206) or an old version (304) is never asked for, so it is no answer either.
    guard head.status == 200 else { return .fail(.httpStatus(head.status)) }

    // The announced length counts the bytes on the wire; the bytes that arrive here are decompressed.
    let isPlain = ["", "identity"].contains(head.contentEncoding?.lowercased() ?? "")
    content = isPlain ? .plain : .compressed
    guard isPlain, let length = head.contentLength, length >= 0 else { return .goOn }
    guard length <= byteCountLimit else { return .fail(.tooLarge(byteCountLimit: byteCountLimit)) }
    expectedByteCount = length
    body.reserveCapacity(length)
    return .goOn
  }

  mutating func receive(_ bytes: Data) -> Verdict {
    guard bytes.count <= byteCountLimit - body.count else {
      return .fail(.tooLarge(byteCountLimit: byteCountLimit))
    }
    body.append(bytes)
    return .goOn
  }

  /// The connection is done with this request.
  ///
  /// - Parameter fault: The system's words for a failure; `nil` when it saw none.
  func end(fault: String?) -> Result<Data, ImageSourceError> {
    switch (content, fault) {
    case (.none, let fault):
      .failure(.network(fault ?? "The server closed the connection without an answer."))
    case (.compressed, let fault?):
      .failure(.network(fault))
    case (.plain, _?):
      // Systems report a cut body as this or that broken connection.
      .failure(.truncatedBody(received: body.count, expected: expectedByteCount))
    case (_, nil):
      if let expectedByteCount, body.count < expectedByteCount {
        .failure(.truncatedBody(received: body.count, expected: expectedByteCount))
      } else {
        .success(body)
      }
    }
  }
}
