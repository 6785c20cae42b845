/// Terms as bytes, at most 4 KiB of them.
///
/// | bytes | meaning |
/// |---|---|
/// | 1 | version, 2 |
/// | 4 | flags: which of the parts below are there, and seven facts |
/// | 8 | moment of the answer |
/// | 8 each | number of bytes, `Date`, `Expires` |
/// | 4 each | `Age`, `max-age`, `stale-while-revalidate`, `stale-if-error` |
/// | 2 + n each | `ETag`, `Last-Modified`, names of `Vary` with commas between them, or `*` |
/// | 16 each | digest of the request's fields, where `Vary` has names; of its credentials |
/// | 2 + n | origin; empty where it is unknown |
///
/// Integers are little-endian; moments are seconds since 1970 of the years 0 to 9999; texts are UTF-8
/// behind their count of bytes. The flags are ``Flags`` from bit 0 on. Equal terms have equal bytes, and
/// nothing but such bytes is read.
extension OriginalTerms {
  private struct Flags: OptionSet {
    let rawValue: UInt32

    static let byteCount = Flags(rawValue: 1 << 0)
    static let date = Flags(rawValue: 1 << 1)
    static let expires = Flags(rawValue: 1 << 2)
    static let age = Flags(rawValue: 1 << 3)
    static let maxAge = Flags(rawValue: 1 << 4)
    static let staleWhileRevalidate = Flags(rawValue: 1 << 5)
    static let staleIfError = Flags(rawValue: 1 << 6)
    static let entityTag = Flags(rawValue: 1 << 7)
    static let lastModified = Flags(rawValue: 1 << 8)
    static let vary = Flags(rawValue: 1 << 9)
    static let cacheControl = Flags(rawValue: 1 << 10)
    static let noCache = Flags(rawValue: 1 << 11)
    static let noStore = Flags(rawValue: 1 << 12)
    static let mustRevalidate = Flags(rawValue: 1 << 13)
    static let refusesRanges = Flags(rawValue: 1 << 14)
    static let hasContentCoding = Flags(rawValue: 1 << 15)
    static let isPublic = Flags(rawValue: 1 << 16)
    static let credentials = Flags(rawValue: 1 << 17)

    /// Sets a flag and returns the value if it is there.
    mutating func note<Value>(_ flag: Flags, _ value: Value?) -> Value? {
      if value != nil { insert(flag) }
      return value
    }
  }

  private static let version: UInt8 = 2

  /// The bytes; an `ETag` or `Last-Modified` that no server would send is left out, and a long origin.
  func encoded() -> [UInt8] {
    var flags = Flags()
    var parts: [UInt8] = []
    parts.append(integer: HTTPDate(received).seconds)
    for (flag, number) in [
      (Flags.byteCount, byteCount.map { Int64(max(0, $0)) }), (.date, date?.seconds),
      (.expires, expires?.seconds),
    ] {
      if let number = flags.note(flag, number) { parts.append(integer: number) }
    }
    for (flag, number) in [
      (Flags.age, age), (.maxAge, cacheControl?.maxAge),
      (.staleWhileRevalidate, cacheControl?.staleWhileRevalidate),
      (.staleIfError, cacheControl?.staleIfError),
    ] {
      if let number = flags.note(flag, number) { parts.append(integer: number) }
    }
    for (flag, text) in [
      (Flags.entityTag, Self.checked(entityTag: entityTag)),
      (.lastModified, Self.checked(lastModified: lastModified)),
      (.vary, vary.map { $0.names?.joined(separator: ",") ?? "*" }),
    ] {
      if let text = flags.note(flag, text) { parts.append(text: text) }
    }
    parts += requestDigest.varying
    parts += requestDigest.credentials
    parts.append(text: Self.checked(origin: origin) ?? "")
    for (flag, isTrue) in [
      (Flags.cacheControl, cacheControl != nil), (.noCache, cacheControl?.noCache == true),
      (.noStore, cacheControl?.noStore == true),
      (.mustRevalidate, cacheControl?.mustRevalidate == true),
      (.refusesRanges, refusesRanges), (.hasContentCoding, hasContentCoding),
      (.isPublic, cacheControl?.isPublic == true),
      (.credentials, !requestDigest.credentials.isEmpty),
    ] where isTrue {
      flags.insert(flag)
    }
    var bytes = [Self.version]
    bytes.append(integer: flags.rawValue)
    return bytes + parts
  }

  /// Reads what ``encoded()`` wrote; `nil` for bytes of another version and for anything else.
  package init?(encoded bytes: [UInt8]) {
    var reader = PartReader(bytes)
    guard reader.integer(UInt8.self) == Self.version, let rawFlags = reader.integer(UInt32.self),
      let received = reader.date()
    else { return nil }
    let flags = Flags(rawValue: rawFlags)
    self.init(received: received.date)
    if flags.contains(.byteCount) {
      guard let count = reader.integer(Int64.self), count >= 0 else { return nil }
      byteCount = Int(count)
    }
    if flags.contains(.date) { date = reader.date() }
    if flags.contains(.expires) { expires = reader.date() }
    if flags.contains(.age) { age = reader.seconds() }
    readCacheControl(flags, &reader)
    if flags.contains(.entityTag) { entityTag = Self.checked(entityTag: reader.text()) }
    if flags.contains(.lastModified) { lastModified = Self.checked(lastModified: reader.text()) }
    if flags.contains(.vary) { vary = reader.text().map { Vary($0) } }
    if let names = vary?.names, !names.isEmpty { requestDigest.varying = reader.bytes(16) ?? [] }
    if flags.contains(.credentials) { requestDigest.credentials = reader.bytes(16) ?? [] }
    origin = Self.checked(origin: reader.text())
    refusesRanges = flags.contains(.refusesRanges)
    hasContentCoding = flags.contains(.hasContentCoding)
    // Whatever was missing, out of bounds, in another order or too much is not written again.
    guard encoded() == bytes else { return nil }
  }

  private mutating func readCacheControl(_ flags: Flags, _ reader: inout PartReader) {
    guard flags.contains(.cacheControl) else { return }
    var control = CacheControl()
    if flags.contains(.maxAge) { control.maxAge = reader.seconds() }
    if flags.contains(.staleWhileRevalidate) { control.staleWhileRevalidate = reader.seconds() }
    if flags.contains(.staleIfError) { control.staleIfError = reader.seconds() }
    control.noCache = flags.contains(.noCache)
    control.noStore = flags.contains(.noStore)
    control.mustRevalidate = flags.contains(.mustRevalidate)
    control.isPublic = flags.contains(.isPublic)
    cacheControl = control
  }

  // The properties are public, and a source may set them to anything.

  private static func checked(entityTag: String?) -> String? {
    guard let entityTag, entityTag.utf8.count <= valueByteCountLimit, EntityTag.isOne(entityTag)
    else { return nil }
    return entityTag
  }

  private static func checked(origin: String?) -> String? {
    guard let origin, !origin.isEmpty, origin.utf8.count <= valueByteCountLimit else { return nil }
    return origin
  }

  private static func checked(lastModified: String?) -> String? {
    lastModified.flatMap { isDateText($0) ? $0 : nil }
  }
}

extension [UInt8] {
  fileprivate mutating func append(integer: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: integer.littleEndian) { append(contentsOf: $0) }
  }

  fileprivate mutating func append(text: String) {
    append(integer: UInt16(text.utf8.count))
    append(contentsOf: text.utf8)
  }
}

/// Takes parts from the front of bytes, `nil` where there are too few.
private struct PartReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func bytes(_ count: Int) -> [UInt8]? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  mutating func integer<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
    bytes(Number.bitWidth / 8)?.reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }

  mutating func date() -> HTTPDate? { integer(Int64.self).map { HTTPDate(clamping: $0) } }

  mutating func seconds() -> UInt32? {
    integer(UInt32.self).map { min($0, CacheControl.largestSeconds) }
  }

  mutating func text() -> String? {
    guard let count = integer(UInt16.self), let bytes = bytes(Int(count)) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}
