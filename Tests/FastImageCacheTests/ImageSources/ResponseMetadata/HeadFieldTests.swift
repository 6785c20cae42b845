import Foundation
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("An entity tag", .timeLimit(.minutes(10)))
struct EntityTagTests {
  @Test("compares as the table of RFC 9110 section 8.8.3.2 says")
  func comparison() throws {
    for (first, second, isStrongMatch) in [
      (#"W/"1""#, #"W/"1""#, false), (#"W/"1""#, #"W/"2""#, false), (#"W/"1""#, #""1""#, false),
      (#""1""#, #""1""#, true),
    ] {
      let (left, right) = (try #require(EntityTag(first)), try #require(EntityTag(second)))
      #expect(left.isStronglyEqual(to: right) == isStrongMatch, "\(first) \(second)")
      #expect(right.isStronglyEqual(to: left) == isStrongMatch, "\(second) \(first)")
    }
  }

  @Test(
    "has any printable characters between its quotes",
    arguments: [#""xyzzy""#, #"W/"xyzzy""#, #""""#, #""a,b\c""#, #""é""#])
  func accepted(_ text: String) throws {
    let tag = try #require(EntityTag(text))
    #expect(tag.isWeak == text.hasPrefix("W/"))
    #expect(text.hasSuffix("\"\(tag.opaque)\""))
  }

  @Test(
    "is none if it is written in another way",
    arguments: [
      "", "\"", "xyzzy", "'x'", #"w/"x""#, "W/", #""a", "b""#, #""a"b""#, #""a b""#,
      "\"a\u{7F}\"", "\"a\r\nb\"", #" "a""#, #""a" "#,
    ])
  func refused(_ text: String) {
    #expect(EntityTag(text) == nil)
  }

  @Test("may be sent back without its quotes, but no list of tags, and nothing that ends a field")
  func sentBack() {
    for text in ["xyzzy", "'x'", #"w/"x""#, #""a"b""#, #""a b""#, #""abc"#, #""a,b""#, #"W/"x""#] {
      #expect(EntityTag.isOne(text), "\(text)")
    }
    for text in ["", #""a", "b""#, "a,b", "a\u{7F}", "a\r\nb"] {
      #expect(!EntityTag.isOne(text), "\(text)")
    }
  }

  @Test("names another version by other characters, but for quotes and weakness")
  func differs() {
    for (first, second) in [("a", #""a""#), (#"W/"a""#, #""a""#), ("a", "a"), (#""a"#, #""a"#)] {
      #expect(!EntityTag.differ(first, second) && !EntityTag.differ(first, nil))
    }
    for (first, second) in [("a", "b"), ("a", #""b""#), (#""a""#, #""b""#)] {
      #expect(EntityTag.differ(first, second) && EntityTag.differ(second, first))
    }
  }

  @Test("with characters that are no ASCII proves nothing, since two may look alike here")
  func foreignCharacters() throws {
    let tag = try #require(EntityTag("\"\u{FFFD}\""))
    #expect(!tag.isStrong && !tag.isStronglyEqual(to: tag))
    // Canonically the same, in other bytes.
    #expect(EntityTag.differ("\"\u{E9}\"", "\"e\u{301}\""))
  }
}

@Suite("A content range", .timeLimit(.minutes(10)))
struct ContentRangeTests {
  @Test("is read as RFC 9110 section 14.4 shows it")
  func examples() {
    for (text, first, last, total) in [
      ("bytes 42-1233/1234", 42, 1233, 1234), ("bytes 42-1233/*", 42, 1233, nil),
      ("Bytes 0-0/1", 0, 0, 1),
    ] as [(String, Int, Int, Int?)] {
      let range = ContentRange(text)
      #expect(range?.first == first && range?.last == last && range?.total == total, "\(text)")
    }
  }

  @Test("has numbers to which one can be added")
  func largest() {
    let almost = Int.max - 1
    let range = ContentRange("bytes \(almost - 1)-\(almost - 1)/\(almost)")
    #expect(range?.last == almost - 1 && range?.total == almost)
    for text in [
      "bytes 0-\(Int.max)/*", "bytes 0-1/\(Int.max)",
      "bytes 0-1/99999999999999999999999999", "bytes 18446744073709551616-18446744073709551617/*",
    ] {
      #expect(ContentRange(text) == nil, "\(text)")
    }
  }

  @Test(
    "is none if it contradicts itself or is written in another way",
    arguments: [
      "", "bytes", "bytes 0-1", "bytes 0-1/", "bytes 1-0/5", "bytes 0-5/5", "bytes 0-1/1x",
      "bytes -1/5", "bytes 0-/5", "bytes +0-1/5", "bytes 0 - 1/5", "bytes=0-1/5", "items 0-1/5",
      "bytes */", "bytes */*", "bytes */1234", "*/*", "bytes 0-1/5, bytes 2-3/5", "*/5",
      "bytes 0-1/-5",
    ])
  func refused(_ text: String) {
    #expect(ContentRange(text) == nil)
  }
}

@Suite("A field Retry-After", .timeLimit(.minutes(10)))
struct RetryAfterTests {
  private let now = HTTPDate(clamping: 946_684_700)  // 100 s before 2000

  private func delay(_ text: String) -> Duration? {
    HTTPHead(
      url: URL(filePath: "/"), status: 503, fields: ["retry-after": text], received: now.date
    ).retryDelay
  }

  @Test("is a number of seconds or a moment")
  func forms() {
    #expect(delay("120") == .seconds(120))
    #expect(delay("Sat, 01 Jan 2000 00:00:00 GMT") == .seconds(100))
    #expect(delay("Fri, 31 Dec 1999 23:00:00 GMT") == .seconds(0))
    #expect(delay("99999999999999999999") == .seconds(2_147_483_648))
  }

  @Test("is none if it is anything else", arguments: ["", "-1", "1.5", "1 s", "soon"])
  func refused(_ text: String) {
    #expect(delay(text) == nil)
  }
}

@Suite("A field Vary", .timeLimit(.minutes(10)))
struct VaryTests {
  @Test("names fields in any case and order, or everything")
  func names() {
    #expect(
      Vary("Accept-Encoding, accept-language").names == ["accept-encoding", "accept-language"])
    #expect(Vary("b,A ,, b") == Vary("a, b") && Vary("") == Vary(" , "))
    #expect(Vary("").names == [])
    for text in ["*", "Accept, *", "a b", "a;b", "\"a\"", "a,\u{0},b"] {
      #expect(Vary(text) == .everything, "\(text)")
    }
  }

  @Test("tells requests apart by the named fields only")
  func digest() {
    let vary = Vary("Accept, X-Size")
    let digest = vary.digest(of: ["accept": "image/webp", "X-Size": "2"])
    #expect(digest.count == 24)
    #expect(digest == vary.digest(of: ["ACCEPT": "image/webp", "x-size": "2", "Cookie": "1"]))
    let others = [
      [:], ["accept": "image/webp"], ["x-size": "2"], ["accept": "image/webp", "x-size": ""],
      ["accept": "2", "x-size": "image/webp"], ["accept": "image/webp2", "x-size": ""],
    ].map { vary.digest(of: $0) }
    #expect(Set(others + [digest]).count == 7)
    #expect(Vary("accept").digest(of: [:]) != Vary("x-size").digest(of: [:]))
    #expect(Vary("").digest(of: ["accept": "1"]) == "")
  }

  @Test("of credentials tells accounts apart, and is none without any")
  func credentials() {
    let digest = Vary.credentialDigest(of: ["authorization": "Bearer a", "Accept": "1"])
    #expect(digest.count == 24)
    #expect(digest == Vary.credentialDigest(of: ["AUTHORIZATION": "Bearer a"]))
    let others = [
      ["Authorization": "Bearer b"], ["Cookie": "Bearer a"],
      ["Authorization": "Bearer a", "Cookie": "b"],
    ].map { Vary.credentialDigest(of: $0) }
    #expect(Set(others + [digest]).count == 4)
    #expect(Vary.credentialDigest(of: ["Accept": "1"]) == "")
  }
}
