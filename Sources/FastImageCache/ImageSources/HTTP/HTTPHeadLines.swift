import Foundation

/// The head of an HTTP answer, put together from its lines as they arrive.
///
/// Only the wanted fields are kept, each up to a limit, so that a head without end takes no memory.
struct HTTPHeadLines {
  /// The most bytes of a field that are kept. One more tells that a field is longer; see
  /// ``OriginalTerms/init(fields:received:)``.
  static let fieldByteLimit = OriginalTerms.valueByteCountLimit + 1
  /// Addresses may be longer, such as signed ones; a longer one is no address.
  static let addressByteLimit = 16 << 10
  /// The most bytes of all lines. Servers and browsers allow heads of 8 to 256 KiB.
  static let byteLimit = 256 << 10

  private var fields: [String: String] = [:]
  private var receivedByteCount = 0

  /// Bytes of the fields kept.
  var byteCount: Int { fields.values.reduce(0) { $0 + $1.utf8.count } }

  /// Whether the head goes on for longer than any honest one.
  var isOverlong: Bool { receivedByteCount > Self.byteLimit }

  /// Takes one line without its end; true for the empty one that ends a head.
  ///
  /// A status line begins a new head: that of an interim answer (1xx) is no part of the next one.
  mutating func receive(_ line: String) -> Bool {
    receivedByteCount += line.utf8.count + 2
    if line.hasPrefix("HTTP/") {
      fields = [:]
    } else if let colon = line.firstIndex(of: ":") {
      let name = line[..<colon].lowercased()
      guard HTTPHead.wanted.contains(name) else { return false }
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      keep(value, as: name)
    }
    return line.isEmpty
  }

  private mutating func keep(_ value: String, as name: String) {
    if name == "location" {
      fields[name] = value.utf8.count > Self.addressByteLimit ? nil : value
      return
    }
    // Lines of one name are one list: RFC 9110 section 5.3.
    let whole = fields[name].map { "\($0), \(value)" } ?? value
    fields[name] = String(decoding: whole.utf8.prefix(Self.fieldByteLimit), as: UTF8.self)
  }

  /// The head that the lines make, with the address and the status, which the system knows.
  func head(url: URL, status: Int) -> HTTPHead {
    HTTPHead(url: url, status: status, fields: fields, received: Date())
  }
}
