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
