import Foundation

/// The head of one request over HTTP/1.1.
package struct RequestHead: Sendable {
  package let path: String
  /// Names in lower case.
  package let headers: [String: String]
  /// The length of the head as it came.
  package let byteCount: Int

  /// - Returns: `nil` for anything else than a request.
  init?(_ text: Data) {
    let lines = String(decoding: text, as: UTF8.self).components(separatedBy: "\r\n")
    let parts = lines[0].split(separator: " ")
    guard parts.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let field = line.split(separator: ":", maxSplits: 1)
      guard field.count == 2 else { continue }
      headers[field[0].lowercased()] = field[1].trimmingCharacters(in: .whitespaces)
    }
    (path, self.headers, byteCount) = (String(parts[1]), headers, text.count)
  }
}

extension Socket {
  /// Reads the next request; `nil` when the client or the server ended before one came.
  package func requestHead(until end: Signal) -> RequestHead? {
    var text = Data()
    while text.range(of: Data("\r\n\r\n".utf8)) == nil {
      guard waitsForInput(until: [end]) == .ready, let bytes = receive() else { return nil }
      text += bytes
    }
    return RequestHead(text)
  }
}
