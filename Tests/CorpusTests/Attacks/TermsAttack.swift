import Foundation

@testable import FastImageCache
@testable import ImageSources

/// Reads what a server may say of an original, as fields or as the bytes that keep them.
///
/// The input begins with the clock, in eight bytes, and a byte whose lowest bit says which of both the
/// rest is.
enum TermsAttack {
  private static let names = [
    "etag", "last-modified", "content-length", "content-range", "date", "age", "expires",
    "cache-control", "vary", "accept-ranges", "content-encoding", "retry-after",
  ]

  static func run(on bytes: [UInt8]) throws {
    var script = ByteScript(bytes)
    let clock = Int64(script.long())
    if script.byte() & 1 == 1 {
      let kept = script.remainder()
      guard let terms = ResponseMetadata(encoded: kept) else { return }
      try Attack.require(terms.encoded() == kept, "Two kinds of bytes are the same terms.")
      try check(terms, clock)
      return
    }
    var fields: [String: String] = [:]
    while !script.isEmpty {
      let name = names[Int(script.byte()) % names.count]
      let text = script.text()
      try checkParts(text, HTTPDate(clamping: clock))
      fields[name, default: ""] += text
    }
    let received = Date(timeIntervalSince1970: TimeInterval(clock))
    var terms = ResponseMetadata(fields: fields, received: received)
    terms.recordRequest(fields)
    try check(terms, clock &+ Int64(fields.count) &* 100_000)
  }

  private static func checkParts(_ text: String, _ now: HTTPDate) throws {
    if let date = HTTPDate(text, now: now) {
      try Attack.require(HTTPDate(date.date) == date, "\(date) is another date as a `Date`")
    }
    if let range = ContentRange(text) {
      try Attack.require(
        0 <= range.first && range.first <= range.last && range.last < range.total ?? .max,
        "\(text) is a part")
    }
    if let tag = EntityTag(text) {
      try Attack.require(text.hasSuffix("\"\(tag.opaque)\""), "\(text) is the tag \(tag)")
      try Attack.require(tag.isStronglyEqual(to: tag) == tag.isStrong, "\(tag) is not itself")
    }
    let head = HTTPHead(
      url: URL(filePath: "/"), status: 503, fields: ["retry-after": text], received: now.date)
    if let pause = head.retryDelay {
      try Attack.require(pause >= .zero, "A pause of \(pause)")
    }
  }

  private static func check(_ terms: ResponseMetadata, _ clock: Int64) throws {
    let bytes = terms.encoded()
    try Attack.require(bytes.count <= 4096, "Terms of \(bytes.count) bytes")
    try Attack.require(ResponseMetadata(encoded: bytes) == terms, "Other terms came back.")
    try Attack.require(terms.confirmed(by: terms) == terms, "A 304 of the same terms changed them.")
    try Attack.require(terms.byteCount ?? 0 >= 0, "\(terms.byteCount ?? 0) bytes")
    if let validator = terms.strongValidator {
      // It becomes a field of a request.
      try Attack.require(
        validator.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "The validator is \(validator)")
    }
    let received = HTTPDate(terms.received).seconds
    let lifetime = OriginalStore.Lifetime()
    for now in [clock, received, received + 1_000_000] {
      guard let facts = lifetime.facts(of: terms) else { break }
      let freshness = lifetime.freshness(of: facts, stored: clock, lastUse: received, now: now)
      if freshness == .gone { continue }
      let age = HTTPDate(clamping: now).seconds - received
      try Attack.require(
        freshness != .fresh || (0..<30 * 86_400).contains(age), "Fresh after \(age) s")
    }
  }
}
