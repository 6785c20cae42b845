import Foundation

/// The head of an answer, as far as the library reads it.
struct HTTPHead: Sendable {
  /// Names of the wanted fields, in lower case.
  static let wanted: Set<String> = [
    "location", "content-length", "content-encoding", "content-type", "content-range",
    "accept-ranges", "etag", "last-modified", "date", "age", "expires", "cache-control", "vary",
    "retry-after",
  ]

  /// The address that was asked.
  let url: URL
  let status: Int
  /// The wanted fields, by name.
  let fields: [String: String]
  /// The moment of its arrival.
  let received: Date

  /// The announced number of bytes on the wire; it may lie.
  var contentLength: Int? { fields["content-length"].flatMap { Int($0) } }

  var entityTag: EntityTag? { fields["etag"].flatMap { EntityTag($0) } }

  /// How long the server wants to be left alone.
  var retryDelay: Duration? {
    let now = HTTPDate(received)
    return fields["retry-after"].flatMap { RetryAfter($0, now: now) }?.delay(from: now)
  }
}
