import Foundation

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
    (self.date, expires, age) = (date(3), date(4), DeltaSeconds.read(lines[5]))
    (entityTag, lastModified, origin) = (text(6), text(7), text(8))
    (cacheControl, vary) = (text(9).map { CacheControl($0) }, text(10).map { Vary($0) })
    requestDigest = RequestDigest(varying: lines[11], credentials: lines[12])
    (refusesRanges, hasContentCoding) = (lines[13] == "true", lines[14] == "true")
    // Whatever was missing, out of bounds, in another order or too much is not written again.
    guard encoded() == bytes else { return nil }
  }
}
