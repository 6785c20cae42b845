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
      let seconds = CacheControl.seconds(text).map { Int64($0) }
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
    if let coding = fields["transfer-encoding"], coding.lowercased() != "identity" {
      fields["content-length"] = nil
    }
    return HTTPHead(url: url, status: status, fields: fields, received: Date())
  }
}

/// The meaning of an answer's head: the request and the head in, the next action out.
enum HTTPDecision: Sendable {
  case redirect(to: URL)
  /// The original from its first byte on.
  case whole(ResponseMetadata)
  /// Bytes of the original that the known ones are the beginning of.
  case part(ResponseMetadata, Range<Int>, after: KnownOriginal)
  /// The known original is the present one.
  case unchanged(ResponseMetadata)
  case failure(HTTPFailure)

  /// The body is the original: RFC 9110 section 15.3, RFC 3229 section 10.4.1.
  private static let successes: Set<Int> = [200, 201, 202, 203, 226]
  private static let redirects: Set<Int> = [301, 302, 303, 307, 308]
  /// The server, or one between, may answer otherwise in a moment: RFC 9110 section 15.
  private static let passing: Set<Int> = [408, 429, 500, 502, 503, 504]
  /// Statuses that no condition of a request brings about: they concern the original, the account or the
  /// way to the server.
  private static let unconditional: Set<Int> = [
    401, 403, 404, 407, 408, 410, 429, 451, 502, 503, 504,
  ]

  init(on head: HTTPHead, to condition: HTTPCondition) {
    switch (head.status, condition) {
    case (let status, _)
    where Self.redirects.contains(status) && !head.fields["location", default: ""].isEmpty:
      self = Self.redirect(head)
    case (let status, .rest) where Self.successes.contains(status) && Self.isPart(head):
      self = .failure(.contradiction(.httpStatus(status)))
    case (let status, _) where Self.successes.contains(status) || Self.showsInstead(head):
      self = .whole(Self.terms(head))
    case (206, .rest(let known, let first)):
      self = Self.part(head, known, first) ?? .failure(.contradiction(.httpStatus(206)))
    case (304, .ifChanged(let known)):
      let newer = Self.terms(head)
      self =
        EntityTag.differ(newer.entityTag, known.terms.entityTag)
        ? .failure(HTTPFailure(error: .httpStatus(304), remedy: .all))
        : .unchanged(known.terms.confirmed(by: newer))
    case (let status, _):
      // A server that is out of order says nothing about the bytes that are known.
      let keepsBytes =
        if case .rest = condition { Self.passing.contains(status) } else {
          ![404, 410].contains(status)
        }
      self = .failure(
        HTTPFailure(
          error: .httpStatus(status), remedy: Self.remedy(for: head, to: condition),
          dropsBytes: !keepsBytes))
    }
  }

  /// Signed addresses, firewalls and servers of apps refuse ranges, and conditions that they do not know,
  /// with any status. So such a status counts only as the answer to a plain request.
  private static func remedy(for head: HTTPHead, to condition: HTTPCondition) -> HTTPFailure.Remedy
  {
    switch condition {
    case .rest: .all
    case .ifChanged where !unconditional.contains(head.status): .all
    // Whatever was not asked for is among these: a part (206), no news (304).
    case .ifChanged, .all:
      passing.contains(head.status) ? .again(notBefore: head.retryDelay) : .none
    }
  }

  /// Whether a redirect that leads nowhere may have a picture for a body, which browsers show.
  private static func showsInstead(_ head: HTTPHead) -> Bool {
    redirects.contains(head.status) && head.contentLength != 0
      && head.fields["content-type"]?.lowercased().hasPrefix("image/") != false
  }

  private static func redirect(_ head: HTTPHead) -> HTTPDecision {
    let location = head.fields["location", default: ""]
    guard let target = RedirectTarget.url(location, relativeTo: head.url) else {
      let text = "The server redirects to '\(location)', which is no URL."
      return .failure(HTTPFailure(error: .network(text)))
    }
    return .redirect(to: target)
  }

  private static func terms(_ head: HTTPHead) -> ResponseMetadata {
    var fields = head.fields
    // It says something with status 206 alone: RFC 9110 section 14.4.
    if head.status != 206 { fields["content-range"] = nil }
    var terms = ResponseMetadata(fields: fields, received: head.received)
    terms.origin = HTTPHost.origin(of: head.url)
    // Nothing says how long the original of such an answer is the present one: RFC 9111 section 3.
    if redirects.union([201, 202, 226]).contains(head.status), terms.cacheControl?.maxAge == nil,
      terms.cacheControl?.isPublic != true, terms.expires == nil
    {
      terms.cacheControl = CacheControl("no-store")
    }
    return terms
  }

  /// Whether an answer of a whole has only a part of it, as some servers send the rest.
  private static func isPart(_ head: HTTPHead) -> Bool {
    guard let range = head.contentRange else { return false }
    return range.first > 0 || range.total.map { range.last + 1 < $0 } ?? false
  }

  /// The part that came, if nothing about it contradicts what is known.
  private static func part(
    _ head: HTTPHead, _ known: KnownOriginal, _ first: Int
  ) -> HTTPDecision? {
    let newer = terms(head)
    guard !newer.hasContentCoding, !head.isMultipart,
      let range = head.contentRange, let total = range.total, total == known.terms.byteCount,
      range.first <= first, range.last >= known.bytes.count || range.last == total - 1,
      head.contentLength.map({ $0 == range.last - range.first + 1 }) ?? true,
      isSameVersion(head, known)
    else { return nil }
    return .part(known.terms.confirmed(by: newer), range.first..<range.last + 1, after: known)
  }

  private static func isSameVersion(_ head: HTTPHead, _ known: KnownOriginal) -> Bool {
    if let before = known.terms.entityTag.flatMap({ EntityTag($0) }) {
      return head.entityTag.map(before.isStronglyEqual) ?? false
    }
    if EntityTag.differ(known.terms.entityTag, head.fields["etag"]) { return false }
    return head.fields["last-modified"].map { $0 == known.terms.lastModified } ?? true
  }
}

/// Why one request brought nothing, and what may help.
struct HTTPFailure: Error, Hashable, Sendable {
  enum Remedy: Hashable, Sendable {
    case none
    /// The same again; not earlier than the server said.
    case again(notBefore: Duration? = nil)
    /// The same again; the server serves others on the same connection meanwhile.
    case resend
    /// The bytes that did not come, at once: all that were announced came, and they were too few.
    case rest
    /// All bytes, without a condition, at once.
    case all
  }

  let error: ImageSourceError
  var remedy = Remedy.none
  /// Whether bytes that have arrived so far are of no use.
  var dropsBytes = false

  /// The answer contradicts what is known.
  static func contradiction(_ error: ImageSourceError) -> HTTPFailure {
    HTTPFailure(error: error, remedy: .all, dropsBytes: true)
  }
}

/// The address that a field `Location` means to a browser: WHATWG's URL standard, section 4.4, as far as
/// https and http go.
enum RedirectTarget {
  /// The field's value as text. Where it is not UTF-8, bytes beyond ASCII are percent-encoded as they are.
  static func text(_ bytes: some Collection<UInt8>) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return bytes.map { byte in
      byte < 0x80
        ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
    }.joined()
  }

  /// The address; `nil` where the text is none.
  static func url(_ location: String, relativeTo base: URL) -> URL? {
    let text = location.trimmingCharacters(in: .whitespaces).filter { $0 != "\t" }
    let standard = standard(text, baseScheme: base.scheme?.lowercased())
    return URL(string: standard, relativeTo: base)?.absoluteURL
  }

  /// The text as RFC 3986 would have it written. Browsers take a backslash for a slash, and one slash or
  /// many before a host for two.
  private static func standard(_ text: String, baseScheme: String?) -> String {
    let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
    var path = text[..<end].replacing("\\", with: "/")[...]
    var scheme: String?
    if let colon = path.firstIndex(of: ":"), !path[..<colon].contains("/") {
      scheme = path[..<colon].lowercased()
      guard scheme == "https" || scheme == "http" else { return text }
      path = path[colon...].dropFirst()
    }
    let slashes = path.prefix { $0 == "/" }
    guard slashes.count >= 2 || scheme != nil && scheme != baseScheme else {
      return String(path + text[end...])
    }
    let authority = (scheme.map { $0 + "://" } ?? "//") + path.dropFirst(slashes.count)
    return authority + text[end...]
  }
}
