import Foundation

/// The head of an HTTP answer, put together from its lines as they arrive.
///
/// Only the wanted fields are kept, so that a head without end takes time and no memory.
struct HTTPHeadLines {
  private static let wanted: Set<String> = ["location", "content-length", "content-encoding"]

  private var fields: [String: String] = [:]

  /// Bytes of the fields kept.
  var byteCount: Int { fields.values.reduce(0) { $0 + $1.utf8.count } }

  /// Takes one line without its end; true for the empty one that ends a head.
  ///
  /// A status line begins a new head: that of an interim answer (1xx) is no part of the next one.
  mutating func receive(_ line: String) -> Bool {
    if line.hasPrefix("HTTP/") {
      fields = [:]
    } else if let colon = line.firstIndex(of: ":") {
      let name = line[..<colon].lowercased()
      guard Self.wanted.contains(name) else { return false }
      fields[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return line.isEmpty
  }

  /// The head that the lines make, with the address and the status, which the system knows.
  func head(url: URL, status: Int) -> HTTPExchange.Head {
    HTTPExchange.Head(
      url: url, status: status, location: fields["location"],
      contentLength: fields["content-length"].flatMap { Int($0) },
      contentEncoding: fields["content-encoding"])
  }
}
