import Foundation

/// The head of an answer, as far as the library reads it.
struct HTTPHead: Sendable {
  /// Names of the wanted fields, in lower case.
  static let wanted: Set<String> = [
    "location", "content-length", "content-encoding", "content-type", "content-range",
    "accept-ranges", "etag", "last-modified", "date", "age", "expires", "cache-control", "vary",
    "retry-after", "transfer-encoding",
  ]

  /// The address that was asked.
  let url: URL
  let status: Int
  /// The wanted fields, by name.
  let fields: [String: String]
  /// The moment at which it came.
  let received: Date

  /// The announced number of bytes on the wire; it may lie.
  var contentLength: Int? { fields["content-length"].flatMap { Int($0) } }

  /// Whether a length in the head is too large for `Int`.
  var isUncountable: Bool {
    fields["content-length", default: ""].split { $0 == "," || $0 == " " }.contains { text in
      Int(text) == nil
        && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
  }

  /// The codings of the body, in the order in which they were applied.
  var codings: [ContentCoding] { ContentCoding.list(fields["content-encoding"]) }

  var contentRange: ContentRange? { fields["content-range"].flatMap { ContentRange($0) } }

  /// Whether the body has several parts, each with a head of its own: RFC 9110 section 14.6.
  var isMultipart: Bool { fields["content-type"]?.lowercased().hasPrefix("multipart/") == true }

  var entityTag: EntityTag? { fields["etag"].flatMap { EntityTag($0) } }

  /// How long the server wants to be left alone: RFC 9110 section 10.2.3.
  var retryDelay: Duration? {
    fields["retry-after"].flatMap { text in
      let now = HTTPDate(received)
      let seconds = DeltaSeconds.read(text).map { Int64($0) }
      return (seconds ?? HTTPDate(text, now: now).map { max(0, $0.seconds - now.seconds) })
        .map { .seconds($0) }
    }
  }
}

/// The head of an HTTP answer, put together from its lines as they arrive.
///
/// Only the wanted fields are kept, each up to a limit, so that a head without end takes no memory.
struct HTTPHeadLines {
  /// The most bytes of a field that are kept. One more tells that a field is longer; see
  /// ``ResponseMetadata/init(fields:received:)``.
  static let fieldByteLimit = ResponseMetadata.valueByteCountLimit + 1
  /// Addresses may be longer, such as signed ones; a longer one is no address.
  static let addressByteLimit = 16 << 10
  /// The most bytes of all lines. Servers and browsers allow heads of 8 to 256 KiB.
  static let byteLimit = 256 << 10

  private var fields: [String: String] = [:]
  private var receivedByteCount = 0
  /// The field of the last line, which may go on in the next one; `nil` where it is none of the wanted.
  private var lastName: String?

  /// Bytes of the fields kept.
  var byteCount: Int { fields.values.reduce(0) { $0 + $1.utf8.count } }

  /// Whether the head goes on for longer than any honest one.
  var isOverlong: Bool { receivedByteCount > Self.byteLimit }

  /// Takes one line without its end; true for the empty one that ends a head.
  mutating func receive(_ line: String) -> Bool { receive(Array(line.utf8)) }

  /// Takes one line without its end; true for the empty one that ends a head.
  ///
  /// A status line begins a new head: that of an interim answer (1xx) is no part of the next one.
  mutating func receive(_ line: [UInt8]) -> Bool {
    receivedByteCount += line.count + 2
    if line.starts(with: "HTTP/".utf8) {
      (fields, lastName) = ([:], nil)
    } else if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
      // A folded field: RFC 9112 section 5.2.
      if let lastName { keep(line[...], as: lastName, isFolded: true) }
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      // A space before the colon is no part of the name: RFC 9112 section 5.1.
      let name = String(decoding: line[..<colon], as: UTF8.self)
        .trimmingCharacters(in: .whitespaces).lowercased()
      lastName = HTTPHead.wanted.contains(name) ? name : nil
      if let lastName { keep(line[(colon + 1)...], as: lastName, isFolded: false) }
    }
    return line.isEmpty
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>, as name: String, isFolded: Bool) {
    let isAddress = name == "location"
    let value = (isAddress ? RedirectTarget.text(bytes) : String(decoding: bytes, as: UTF8.self))
      .trimmingCharacters(in: .whitespaces)
    // Lines of one name are one list: RFC 9110 section 5.3. Of several addresses the last one counts.
    let before = isAddress && !isFolded ? nil : fields[name]
    let whole = before.map { $0 + (isFolded ? " " : ", ") + value } ?? value
    if isAddress {
      fields[name] = whole.utf8.count > Self.addressByteLimit ? nil : whole
    } else {
      fields[name] = String(decoding: whole.utf8.prefix(Self.fieldByteLimit), as: UTF8.self)
    }
  }

  /// The head that the lines make, with the address and the status, which the system knows.
  func head(url: URL, status: Int) -> HTTPHead {
    var fields = fields
    // A coding of the transfer tells the end of the body, whatever length is announced: RFC 9112 section 6.3.
    if fields["transfer-encoding"] != nil { fields["content-length"] = nil }
    return HTTPHead(url: url, status: status, fields: fields, received: Date())
  }
}
