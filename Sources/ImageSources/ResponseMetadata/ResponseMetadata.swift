package import Foundation

/// The head of a server's answer, as far as it tells how an original may be kept, resumed and
/// revalidated.
package struct ResponseMetadata: Hashable, Sendable {
  /// The number of bytes of the whole original, where the server announced it.
  package var byteCount: Int?

  /// `ETag` as it was sent, with its quotes and, for a weak one, its `W/`; RFC 9110 section 8.8.3. One without
  /// quotes is sent back as it is, and proves nothing of bytes.
  package var entityTag: String?

  /// `Last-Modified` as it was sent, whether or not it is a date; RFC 9110 section 8.8.2.
  package var lastModified: String?

  /// The resource that answered, as `https://example.com:443/photos/1.jpg`, without its query: its
  /// validators mean nothing elsewhere, and are told to no other. `nil` where it is unknown; the original
  /// is neither continued nor asked about then, nor where this is longer than 1 KiB and was kept on disk.
  package var origin: String?

  /// The moment at which the head arrived, by this machine's clock, in whole seconds.
  package var received: Date

  /// The moment at which the server made the answer, by the server's clock.
  package var date: HTTPDate?

  /// The answer's age in seconds since it was made or confirmed, as the cache that sent it says.
  package var age: UInt32?

  /// The end of the answer's freshness; ``HTTPDate/earliest`` where the server wrote something else
  /// than a date, since that means the past (RFC 9111 section 5.3).
  package var expires: HTTPDate?

  package var cacheControl: CacheControl?

  /// The fields of the request that the answer depends on.
  var vary: Vary?

  /// The request that was answered.
  var requestDigest = RequestDigest()

  /// Whether the server said that it sends no parts: RFC 9110 section 14.3.
  var refusesRanges = false

  /// Whether the bytes were compressed on the way, so that those here have other positions.
  var hasContentCoding = false

  /// Creates terms of a server that said nothing.
  ///
  /// - Parameter received: The moment at which the head arrived, by this machine's clock.
  package init(received: Date) { self.received = HTTPDate(received).date }

  /// Reads the fields of a head.
  ///
  /// Values above 1 KiB count as missing. Where they could forbid something, they do.
  ///
  /// - Parameters:
  ///   - fields: Values by name, in any case.
  ///   - received: The moment at which the head arrived, by this machine's clock.
  package init(fields: [String: String], received: Date) {
    self.init(received: received)
    let head = HeadFields(fields)
    let now = HTTPDate(received)
    func read(date text: String) -> HTTPDate? { HTTPDate(text, now: now) }

    hasContentCoding = !ContentCoding.list(head["content-encoding"]).isEmpty
    refusesRanges = head["accept-ranges"]?.lowercased() == "none"
    if !hasContentCoding { byteCount = head.byteCount }
    entityTag = head["etag"].flatMap { EntityTag.isOne($0) ? $0 : nil }
    lastModified = head["last-modified"].flatMap { Self.isDateText($0) ? $0 : nil }
    date = head["date"].flatMap(read)
    // Of several numbers the first counts: RFC 9111 section 5.1.
    age = head["age"]?.split(separator: ",").first.flatMap { CacheControl.seconds(String($0)) }
    expires = head["expires"].map { read(date: $0) ?? .earliest }
    cacheControl = head["cache-control"].map { CacheControl($0) }
    vary = head["vary"].map { Vary($0) }
    recordRequest([:])

    if head.isTooLong("content-encoding") { hasContentCoding = true }
    if head.isTooLong("vary") { vary = .everything }
    if head.isTooLong("cache-control") { cacheControl = CacheControl("no-store") }
  }

  /// The most bytes of a value that counts.
  static let valueByteCountLimit = 1 << 10

  /// Whether a value can be sent in a field, and is not empty.
  static func isText(_ value: String) -> Bool {
    !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  /// Whether a `Last-Modified` may be sent back: servers that write odd dates compare them letter by letter.
  private static func isDateText(_ value: String) -> Bool {
    value.utf8.count <= 64 && isText(value)
  }

  /// The validator for `If-Range`, if there is one: a strong `ETag`; where there is no `ETag` with quotes, a
  /// `Last-Modified` at least a minute before the `Date` (RFC 9110 sections 8.8.2.2 and 13.1.5).
  package var strongValidator: String? {
    if let entityTag, let tag = EntityTag(entityTag) {
      let isShort = entityTag.utf8.count <= Self.valueByteCountLimit
      return isShort && tag.isStrong ? entityTag : nil
    }
    // A file may change twice in the second of its date, but is not sent a minute later as it was in
    // between.
    guard let lastModified, let date,
      let change = HTTPDate(lastModified, now: HTTPDate(received)),
      date.seconds - change.seconds >= 60
    else { return nil }
    return lastModified
  }

  /// Whether a download that broke off may be continued.
  package var mayBeContinued: Bool {
    byteCount != nil && strongValidator != nil && !refusesRanges && !hasContentCoding
  }

  /// Whether the original may be kept on disk.
  package var mayBeKept: Bool {
    cacheControl?.noStore != true && vary != .everything
  }

  /// Notes the request that these terms answer.
  ///
  /// - Parameter headers: The fields that the load asked for (``ImageSourceRequest/headers``). A lookup
  ///   in a store knows no others.
  package mutating func recordRequest(_ headers: [String: String]) {
    requestDigest.varying = vary?.digest(of: headers) ?? ""
    requestDigest.credentials =
      cacheControl?.isPublic == true ? "" : Vary.credentialDigest(of: headers)
  }

  /// Whether a request with these fields would have got the same answer, as far as the server says. An answer
  /// to an account's request is for this account, unless the server calls it public.
  package func isAnswer(to headers: [String: String]) -> Bool {
    guard vary != .everything, requestDigest.varying == vary?.digest(of: headers) ?? "" else {
      return false
    }
    let credentials = requestDigest.credentials
    return credentials.isEmpty || credentials == Vary.credentialDigest(of: headers)
  }

  /// Whether the original may be kept on disk and answer a request with these fields.
  package func mayAnswerRequest(_ headers: [String: String]) -> Bool {
    mayBeKept && isAnswer(to: headers)
  }

  /// Whether a server's word that nothing changed, to a request with these fields, means these bytes.
  ///
  /// By its tag a server knows one answer among those to other fields; a date may be older than several.
  package func mayBeConfirmed(to headers: [String: String]) -> Bool {
    mayAnswerRequest(headers) || mayBeKept && entityTag != nil
  }

  /// These terms as an answer with status 304 changes them: RFC 9111 sections 3.2 and 4.3.4.
  ///
  /// The description of the bytes stays: their count and whether they were compressed.
  ///
  /// - Parameter newer: The terms of the answer without a body.
  package func confirmed(by newer: ResponseMetadata) -> ResponseMetadata {
    var terms = self
    terms.entityTag = newer.entityTag ?? entityTag
    terms.lastModified = newer.lastModified ?? lastModified
    terms.expires = newer.expires ?? expires
    terms.cacheControl = newer.cacheControl ?? cacheControl
    if newer.vary != nil {
      (terms.vary, terms.requestDigest.varying) = (newer.vary, newer.requestDigest.varying)
    }
    terms.requestDigest.credentials = newer.requestDigest.credentials
    // The moment and the age are those of the answer that confirmed, even where it names neither.
    (terms.received, terms.date, terms.age) = (newer.received, newer.date, newer.age)
    return terms
  }
}

/// A head's fields by lower-case name.
private struct HeadFields {
  private var values: [String: String] = [:]

  init(_ fields: [String: String]) {
    // Fields of one name are one list: RFC 9110 section 5.3. The order of a dictionary is none.
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      let value = value.trimmingCharacters(in: .whitespaces)
      values[name.lowercased(), default: ""] +=
        (values[name.lowercased()] == nil ? "" : ", ") + value
    }
  }

  subscript(name: String) -> String? { isTooLong(name) ? nil : values[name] }

  func isTooLong(_ name: String) -> Bool {
    values[name, default: ""].utf8.count > ResponseMetadata.valueByteCountLimit
  }

  /// The number of bytes of the whole: that of `Content-Range`, else `Content-Length`.
  var byteCount: Int? {
    if let range = values["content-range"] { return ContentRange(range)?.total }
    // The same number several times is that number: RFC 9110 section 8.6.
    let lengths = Set(
      (self["content-length"] ?? "").split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
      })
    guard lengths.count == 1, let text = lengths.first else { return nil }
    var reader = FieldReader(text)
    let length = reader.length()
    return reader.isAtEnd ? length : nil
  }
}

/// Terms as lines of text, at most 4 KiB of them, for a column that people can read.
///
/// The lines are: version; moment of the answer, number of bytes, `Date`, `Expires` and `Age`, as numbers; `ETag`,
/// `Last-Modified`, origin, `Cache-Control` and `Vary`; digests of the request's fields and of its credentials;
/// whether the server refuses ranges and whether it has compressed the body. A line is empty where the server said
/// nothing. Moments are seconds since 1970. Equal terms have equal bytes, and nothing but such bytes is read.
extension ResponseMetadata {
  private static let version = "3"
  private static let byteCountLimit = 4096

  /// The bytes; an `ETag` or `Last-Modified` that no server would send is left out, and a long origin.
  package func encoded() -> [UInt8] {
    var lines = Array(Self.version.utf8)
    lines.reserveCapacity(256)
    func add(_ text: String?) {
      lines.append(UInt8(ascii: "\n"))
      if let text { lines += text.utf8 }
    }
    func add(_ text: String?, _ isRight: (String) -> Bool) {
      add(text.flatMap { $0.utf8.count <= Self.valueByteCountLimit && isRight($0) ? $0 : nil })
    }
    func add(_ number: (some BinaryInteger)?) { add(number.map { String($0) }) }
    add(HTTPDate(received).seconds as Int64?)
    add(byteCount.map { max(0, $0) })
    add(date?.seconds)
    add(expires?.seconds)
    add(age)
    add(entityTag, EntityTag.isOne)
    add(lastModified, Self.isDateText)
    add(origin, Self.isText)
    add(cacheControl?.text)
    add(vary?.text)
    add(requestDigest.varying)
    add(requestDigest.credentials)
    add(refusesRanges ? "true" : "false")
    add(hasContentCoding ? "true" : "false")
    return lines
  }

  /// Reads what ``encoded()`` wrote; `nil` for bytes of another version and for anything else.
  package init?(encoded bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard bytes.count <= Self.byteCountLimit, lines.count == 15,
      let received = Int64(lines[1])
    else { return nil }
    func text(_ line: Int) -> String? { lines[line].isEmpty ? nil : lines[line] }
    func date(_ line: Int) -> HTTPDate? { Int64(lines[line]).map { HTTPDate(clamping: $0) } }
    self.init(received: HTTPDate(clamping: received).date)
    byteCount = Int(lines[2])
    (self.date, expires, age) = (date(3), date(4), CacheControl.seconds(lines[5]))
    (entityTag, lastModified, origin) = (text(6), text(7), text(8))
    (cacheControl, vary) = (text(9).map { CacheControl($0) }, text(10).map { Vary($0) })
    requestDigest = RequestDigest(varying: lines[11], credentials: lines[12])
    (refusesRanges, hasContentCoding) = (lines[13] == "true", lines[14] == "true")
    // Whatever was missing, out of bounds, in another order or too much is not written again.
    guard encoded() == bytes else { return nil }
  }
}
