/// The directives of `Cache-Control` that concern a private cache: RFC 9111 section 5.2.2 and RFC 5861.
///
/// `s-maxage`, `proxy-revalidate` and `private` concern shared caches.
package struct CacheControl: Hashable, Sendable {
  /// Stands for all numbers of seconds from here on: RFC 9111 section 1.2.2.
  package static let largestSeconds: UInt32 = 1 << 31

  /// The seconds in which the answer is fresh; 0 where the server wrote something else than a number.
  package var maxAge: UInt32?
  /// The seconds in which a stale answer may be used while it is revalidated.
  package var staleWhileRevalidate: UInt32?
  /// The seconds in which a stale answer may be used when it cannot be revalidated.
  package var staleIfError: UInt32?
  /// Whether each use has to be confirmed by the server.
  package var noCache = false
  /// Whether nothing may be kept.
  var noStore = false
  /// Whether a stale answer may never be used.
  package var mustRevalidate = false
  /// Whether the answer is the same for all accounts.
  var isPublic = false

  package init() {}

  /// A field that says the same; one without directives is a list with nothing in it.
  package var text: String {
    var text = ""
    func add(_ name: String, _ seconds: UInt32?) {
      if let seconds { text += "\(name)=\(seconds)," }
    }
    func add(_ name: String, _ isThere: Bool) {
      if isThere { text += "\(name)," }
    }
    add("max-age", maxAge)
    add("stale-while-revalidate", staleWhileRevalidate)
    add("stale-if-error", staleIfError)
    add("no-cache", noCache)
    add("no-store", noStore)
    add("must-revalidate", mustRevalidate)
    add("public", isPublic)
    return text.isEmpty ? "," : text
  }

  /// Reads a field; directives that are unknown or malformed are skipped. A quote that never closes may
  /// hide any directive, and counts as the strictest.
  package init(_ text: String) {
    var (mustUnderstand, isClosed) = (false, true)
    var reader = FieldReader(text)
    while !reader.isAtEnd {
      reader.skipSpace()
      defer { isClosed = reader.skipElement() && isClosed }
      guard let name = reader.token() else { continue }
      // Of a directive that is there twice the first counts: section 4.2.1.
      switch name {
      case "max-age": maxAge = maxAge ?? Self.seconds(&reader) ?? 0
      case "stale-while-revalidate":
        staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(&reader) ?? 0
      case "stale-if-error": staleIfError = staleIfError ?? Self.seconds(&reader) ?? 0
      // With field names it protects only those; caches may take it without: section 5.2.2.4.
      case "no-cache": noCache = true
      case "no-store": noStore = true
      case "must-revalidate": mustRevalidate = true
      case "must-understand": mustUnderstand = true
      case "public": isPublic = true
      default: continue
      }
    }
    // Such a server means caches that do not know the status; originals come with 200 and 206
    // (section 5.2.2.3).
    if mustUnderstand { noStore = false }
    if !isClosed { noStore = true }
  }

  /// The argument of a directive, as a token or as a quoted string.
  private static func seconds(_ reader: inout FieldReader) -> UInt32? {
    guard reader.take("=") else { return nil }
    return DeltaSeconds.read(reader.quotedString() ?? reader.token() ?? "")
  }
}

/// A number of seconds: RFC 9111 section 1.2.2.
enum DeltaSeconds {
  /// The number, at most ``CacheControl/largestSeconds``; `nil` for anything else.
  static func read(_ text: String) -> UInt32? {
    var reader = FieldReader(text)
    let number = reader.number(atMost: Int(CacheControl.largestSeconds))
    return reader.isAtEnd ? number.map { UInt32($0) } : nil
  }
}
