public import Foundation

/// The answer of a ``HTTPServer`` to one request, lies and cuts included.
public struct HTTPReply: Sendable {
  public enum Step: Sendable {
    case bytes(Data)
    /// Goes on when the gate opens.
    case wait(Gate)
    /// Writes the same bytes again and again until the client leaves.
    case endless(Data)
    /// Closes the connection there and then.
    case cut
  }

  public var steps: [Step]

  public init(_ steps: [Step]) {
    self.steps = steps
  }

  /// An answer with the right length.
  public static func ok(_ body: Data, headers: [String: String] = [:]) -> HTTPReply {
    lying(contentLength: body.count, [.bytes(body)], headers: headers)
  }

  /// A body of these steps under an announced length that need not be true.
  public static func lying(
    contentLength: Int, _ steps: [Step], headers: [String: String] = [:]
  ) -> HTTPReply {
    var headers = headers
    headers["Content-Length"] = "\(contentLength)"
    return HTTPReply([.bytes(head(200, headers))] + steps)
  }

  /// A body without an announced length.
  public static func chunked(_ chunks: [Step]) -> HTTPReply {
    let head = Step.bytes(head(200, ["Transfer-Encoding": "chunked"]))
    return HTTPReply([head] + chunks.map(framed) + [.bytes(Data("0\r\n\r\n".utf8))])
  }

  /// A body that ends where the connection does.
  public static func untilClose(_ steps: [Step]) -> HTTPReply {
    HTTPReply([.bytes(head(200, ["Connection": "close"]))] + steps + [.cut])
  }

  public static func status(
    _ status: Int, headers: [String: String] = [:], body: Data = Data()
  ) -> HTTPReply {
    var headers = headers
    headers["Content-Length"] = "\(body.count)"
    return HTTPReply([.bytes(head(status, headers)), .bytes(body)])
  }

  public static func redirect(_ status: Int = 302, to location: String) -> HTTPReply {
    .status(status, headers: ["Location": location], body: Data("Moved.".utf8))
  }

  /// The same reply with a step after so many bytes of its body, such as a wait or a cut.
  ///
  /// ```swift
  /// HTTPReply.ok(image).inserting(.cut, after: 1000)
  /// ```
  public func inserting(_ step: Step, after byteCount: Int) -> HTTPReply {
    var left = headByteCount + byteCount
    for (index, present) in steps.enumerated() {
      guard case .bytes(let bytes) = present else { continue }
      if left <= bytes.count {
        var steps = steps
        steps[index...index] = [
          .bytes(Data(bytes.prefix(left))), step, .bytes(Data(bytes.dropFirst(left))),
        ]
        return HTTPReply(steps)
      }
      left -= bytes.count
    }
    return HTTPReply(steps + [step])
  }

  /// The bytes up to the empty line; all steps but the first belong to the body.
  var headByteCount: Int {
    guard case .bytes(let bytes)? = steps.first,
      let end = bytes.range(of: Data("\r\n\r\n".utf8))
    else { return 0 }
    return end.upperBound - bytes.startIndex
  }

  public static func head(_ status: Int, _ headers: [String: String]) -> Data {
    let fields = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
    return Data("HTTP/1.1 \(status) Status\r\n\(fields)\r\n".utf8)
  }

  private static func framed(_ step: Step) -> Step {
    func chunk(_ bytes: Data) -> Data {
      Data("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Data("\r\n".utf8)
    }
    return switch step {
    case .bytes(let bytes): .bytes(chunk(bytes))
    case .endless(let bytes): .endless(chunk(bytes))
    case .wait, .cut: step
    }
  }
}
