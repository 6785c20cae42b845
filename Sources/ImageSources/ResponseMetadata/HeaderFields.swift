import Foundation
import TableStore

// The values of the header fields that tell how an original may be kept, resumed and revalidated.

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
      // Servers write no-break spaces and the like in front of a directive.
      _ = reader.run { !$0.isTokenCharacter && !",;\"".utf8.contains($0) }
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
    return seconds(reader.quotedString() ?? reader.token() ?? "")
  }

  /// A number of seconds, at most ``largestSeconds``; `nil` for anything else: RFC 9111 section 1.2.2.
  static func seconds(_ text: String) -> UInt32? {
    var reader = FieldReader(text)
    let number = reader.number(atMost: Int(largestSeconds))
    return reader.isAtEnd ? number.map { UInt32($0) } : nil
  }
}

/// The request fields that an answer depends on: RFC 9110 section 12.5.5.
struct Vary: Hashable, Sendable {
  /// Lower-case names in order, each once; `nil` for `*`, which depends on more than fields.
  let names: [String]?

  static let everything = Vary(names: nil)

  /// Reads a field; one that is no list of names depends on everything.
  init(_ text: String) {
    var names: Set<String> = []
    var reader = FieldReader(text)
    while !reader.isAtEnd {
      reader.skipSpace()
      // A list may have empty elements: RFC 9110 section 5.6.1.2.
      if reader.isAtEnd || reader.take(",") { continue }
      let name = reader.token()
      reader.skipSpace()
      guard let name, name != "*", reader.isAtEnd || reader.take(",") else {
        self = .everything
        return
      }
      names.insert(name)
    }
    self.init(names: names.sorted())
  }

  private init(names: [String]?) { self.names = names }

  /// A field that says the same; one without names is a list with nothing in it.
  var text: String {
    guard let names else { return "*" }
    return names.isEmpty ? "," : names.joined(separator: ",")
  }

  /// The fields that tell accounts apart, whether or not a server names them.
  private static let credentials = Vary(names: ["authorization", "cookie"])

  /// As ``digest(of:)``, of the fields that tell accounts apart; empty where the request has none of them.
  static func credentialDigest(of fields: [String: String]) -> String {
    let hasAny = fields.keys.contains { credentials.names?.contains($0.lowercased()) == true }
    return hasAny ? credentials.digest(of: fields) : ""
  }

  /// A word that tells apart requests whose answers may differ; empty where none do.
  ///
  /// - Parameter fields: Those of the request, by name in any case.
  func digest(of fields: [String: String]) -> String {
    guard let names, !names.isEmpty else { return "" }
    var values: [String: [String]] = [:]
    for (name, value) in fields { values[name.lowercased(), default: []].append(value) }
    // No header field holds these two bytes, so different requests give different bytes here. Fields
    // are secrets at times, and this stands on disk: hence a hash that nobody turns back.
    let text = names.map { name in
      ([name] + values[name, default: []].sorted()).joined(separator: "\n")
    }
    let hash = SHA256.hash(Array(text.joined(separator: "\0").utf8))
    return Data(hash.prefix(16)).base64EncodedString()
  }
}

/// The fields of a request that its answer depends on, as hashes.
struct RequestDigest: Hashable, Sendable {
  /// Of the fields that `Vary` names; empty where it names none.
  var varying = ""
  /// Of the fields that tell accounts apart; empty where the request had none, or the answer is for all.
  var credentials = ""
}

/// An opaque name of one version of an original: RFC 9110 section 8.8.3.
struct EntityTag: Sendable {
  let isWeak: Bool

  /// The characters between the quotes.
  let opaque: String

  /// Reads a tag as a server sends it, with its quotes.
  ///
  /// `nil` for anything else, such as two tags with a comma between them.
  init?(_ text: String) {
    var reader = FieldReader(text)
    // The letter's case matters, unlike most words of header fields.
    isWeak = text.utf8.starts(with: "W/".utf8) && reader.take("W/")
    guard reader.take("\"") else { return nil }
    // Printable characters except quotes, and whatever is no ASCII.
    opaque = reader.run { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F } ?? ""
    guard reader.take("\""), reader.isAtEnd else { return nil }
  }

  /// Whether a text may be sent back as a server's tag.
  ///
  /// Servers forget the quotes, and compare with what they have sent. With a comma the text is a list, of which
  /// any tag would match.
  static func isOne(_ text: String) -> Bool {
    EntityTag(text) != nil || !text.contains(",") && ResponseMetadata.isText(text)
  }

  /// Whether two texts name two versions; quotes and weakness make no difference.
  static func differ(_ first: String?, _ second: String?) -> Bool {
    guard let first, let second else { return false }
    let (before, now) = (EntityTag(first)?.opaque ?? first, EntityTag(second)?.opaque ?? second)
    return !before.utf8.elementsEqual(now.utf8)
  }

  /// Whether equal tags mean equal bytes.
  ///
  /// Not those with characters that are no ASCII: two of them may have become one text on the way
  /// here.
  var isStrong: Bool { !isWeak && opaque.utf8.allSatisfy { $0 < 0x80 } }

  /// Whether two versions are byte for byte the same: section 8.8.3.2.
  func isStronglyEqual(to other: EntityTag) -> Bool {
    isStrong && other.isStrong && opaque.utf8.elementsEqual(other.opaque.utf8)
  }
}

/// Which bytes of the original an answer has: RFC 9110 section 14.4.
struct ContentRange: Hashable, Sendable {
  let first: Int
  let last: Int
  /// The number of bytes of the whole original; `nil` where the server does not know it.
  let total: Int?

  /// Reads a field; `nil` where it has no bytes, contradicts itself, or has a number from `Int.max` on, so that
  /// `last + 1` is always a number.
  init?(_ text: String) {
    var reader = FieldReader(text)
    guard reader.take("bytes "), let first = reader.length(), reader.take("-"),
      let last = reader.length(), first <= last, reader.take("/")
    else { return nil }
    (self.first, self.last) = (first, last)
    if reader.take("*") {
      total = nil
    } else {
      guard let total = reader.length(), last < total else { return nil }
      self.total = total
    }
    if !reader.isAtEnd { return nil }
  }
}

/// The codings of bodies that have come into use: RFC 9110 section 8.4.1.
enum ContentCoding: String, Sendable {
  case brotli = "br"
  case compress
  case deflate
  case gzip
  case zstandard = "zstd"

  /// Reads a field, in the order in which the codings were applied. Words that name no coding are skipped, as
  /// browsers do: servers send `UTF-8`, and stores of objects `aws-chunked`, with bytes as they are.
  static func list(_ field: String?) -> [ContentCoding] {
    (field ?? "").split(separator: ",").compactMap { word in
      let name = word.trimmingCharacters(in: .whitespaces).lowercased()
      return ContentCoding(rawValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name)
    }
  }
}
