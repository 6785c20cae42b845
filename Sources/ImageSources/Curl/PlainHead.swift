#if !canImport(Darwin)
  import Foundation

  /// The lines of a head that browsers read and libcurl refuses: an odd `Content-Length`, a line without a colon, an
  /// empty line in front.
  ///
  /// libcurl speaks Gopher, too: it sends one line as it stands, here a request of HTTP, and passes on all that comes
  /// back (RFC 1436 section 2).
  struct PlainHead {
    /// Why libcurl refused the head.
    let refusal: ImageSourceError?
    /// That of the present head; `nil` in front of it, and where the first line tells none.
    var status: Int?
    private var line: [UInt8] = []
    private var emptyLineCount = 0

    init(refusal: ImageSourceError?) { self.refusal = refusal }

    /// Whether a line goes on for longer than any honest head.
    var isOverlong: Bool { line.count > HTTPHeadLines.byteLimit }

    /// libcurl sends Gopher's line in a loop that waits for the server. Any socket's buffer takes so much at once.
    private static let requestByteLimit = 4096

    /// The address by which libcurl sends a request as Gopher's line; `nil` where a password goes with it, and for a
    /// request that is too long.
    static func address(of request: HTTPRequest) -> String? {
      guard let url = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
        url.user == nil, let host = url.percentEncodedHost
      else { return nil }
      let isSecure = url.scheme?.lowercased() == "https"
      let path = url.percentEncodedPath.isEmpty ? "/" : url.percentEncodedPath
      let query = url.percentEncodedQuery.map { "?" + $0 } ?? ""
      var fields = Dictionary(request.headers.map { ($0.lowercased(), $1) }) { first, _ in first }
      fields["host"] = fields["host"] ?? host + (url.port.map { ":\($0)" } ?? "")
      fields["connection"] = "close"
      let text = "GET \(path)\(query) HTTP/1.1\r\n" + fields.map { "\($0): \($1)\r\n" }.joined()
      if text.utf8.count > requestByteLimit { return nil }
      let digits = text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return (isSecure ? "gophers" : "gopher")
        + "://\(host):\(url.port ?? (isSecure ? 443 : 80))/_\(digits)"
    }

    /// Takes the next line without its end; `nil` where more bytes have to come.
    mutating func takeLine(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
      while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        line += bytes[..<end]
        bytes = bytes[(end + 1)...]
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        defer { line = [] }
        if status != nil { return line }
        if line.isEmpty, emptyLineCount < 4 {
          emptyLineCount += 1
          continue
        }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        status = words.count > 1 && words[0].hasPrefix("HTTP/1.") ? Int(words[1]) : nil
        return line
      }
      line += bytes
      return nil
    }
  }
#endif
