import Foundation
import TestSupport
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

@Suite("A field Cache-Control", .timeLimit(.minutes(10)))
struct CacheControlTests {
  private func control(_ change: (inout CacheControl) -> Void) -> CacheControl {
    var control = CacheControl()
    change(&control)
    return control
  }

  @Test("has directives in any case, with arguments as tokens or in quotes")
  func directives() {
    #expect(CacheControl("MAX-AGE=60").maxAge == 60)
    #expect(CacheControl(#"max-age="60""#).maxAge == 60)
    #expect(CacheControl("private, Max-Age=5 , No-Cache").maxAge == 5)
    #expect(
      CacheControl("no-cache, no-store, must-revalidate")
        == control { ($0.noCache, $0.noStore, $0.mustRevalidate) = (true, true, true) })
    #expect(CacheControl("") == CacheControl() && CacheControl(",, ,") == CacheControl())
    #expect(CacheControl("s-maxage=9, proxy-revalidate, private") == CacheControl())
    #expect(CacheControl("Public") == control { $0.isPublic = true })
  }

  @Test("may allow stale answers for a while: RFC 5861")
  func staleWhileRevalidate() {
    let control = CacheControl("max-age=600, stale-while-revalidate=30")
    #expect(control.maxAge == 600 && control.staleWhileRevalidate == 30)
    #expect(CacheControl("stale-while-revalidate=x").staleWhileRevalidate == 0)
    #expect(CacheControl("max-age=600, stale-if-error=1200").staleIfError == 1200)
  }

  @Test("has directives behind semicolons, too, as some servers write them")
  func semicolons() {
    let expected = control { ($0.maxAge, $0.noStore) = (100, true) }
    for text in ["max-age=100; no-store", "max-age=100;no-store", ";no-store;;max-age=\"100\";"] {
      #expect(CacheControl(text) == expected, "\(text)")
    }
    #expect(CacheControl(#"a="x; no-store"; max-age=100"#) == control { $0.maxAge = 100 })
  }

  @Test("has directives behind characters that begin none, such as a no-break space")
  func oddSpaces() {
    let expected = control { ($0.maxAge, $0.noStore) = (100, true) }
    // The last one is how a lone byte 0xA0 arrives here.
    for space in ["\u{A0}", " \u{A0} ", "\u{FEFF}", "\u{2003}", "\u{B}", "\u{FFFD}"] {
      for text in ["max-age=100,\(space)no-store", "\(space)no-store, max-age=100"] {
        #expect(CacheControl(text) == expected, "\(text.debugDescription)")
      }
      #expect(CacheControl("\(space),\(space)") == CacheControl())
      #expect(CacheControl("\(space)a=\"x, no-store\"") == CacheControl())
      #expect(CacheControl("\(space)\"x, no-store\"") == CacheControl())
    }
  }

  @Test("finds no directive inside a quoted string")
  func quotedStrings() {
    #expect(CacheControl(#"community="UCI, max-age=9", max-age=8"#).maxAge == 8)
    #expect(CacheControl(#"a="\", no-store", max-age=8"#) == control { $0.maxAge = 8 })
  }

  @Test(
    "with a quote that never closes forbids to keep, since the quote may hide that",
    arguments: [
      #"max-age=8, a="b, no-store"#, #"a="b\""#, #"max-age="8, no-store"#,
      #"must-understand, a="b, no-store"#,
    ])
  func unclosedQuote(_ text: String) {
    #expect(CacheControl(text).noStore)
  }

  @Test("with field names behind no-cache or private counts as it would without")
  func qualified() {
    #expect(CacheControl(#"no-cache="Set-Cookie, Age""#) == control { $0.noCache = true })
    #expect(CacheControl(#"private="Set-Cookie""#) == CacheControl())
  }

  @Test("means an age of nothing by what is no number")
  func invalidNumbers() {
    for text in ["max-age", "max-age=", "max-age=-1", "max-age=1.5", "max-age=1h", "max-age =1"] {
      #expect(CacheControl(text).maxAge == 0, "\(text)")
    }
  }

  @Test("takes 2147483648 for all larger numbers: RFC 9111 section 1.2.2")
  func largeNumbers() {
    #expect(CacheControl("max-age=2147483647").maxAge == 2_147_483_647)
    for text in ["2147483648", "2147483649", "4294967296", "99999999999999999999999"] {
      #expect(CacheControl("max-age=\(text)").maxAge == 2_147_483_648, "\(text)")
    }
  }

  @Test("counts the first of several: RFC 9111 section 4.2.1")
  func duplicates() {
    #expect(CacheControl("max-age=1, max-age=2").maxAge == 1)
    #expect(CacheControl("max-age=x, max-age=2").maxAge == 0)
  }

  @Test("with must-understand may be kept by a cache that does: RFC 9111 section 5.2.2.3")
  func mustUnderstand() {
    #expect(CacheControl("must-understand, no-store") == CacheControl())
    #expect(CacheControl("no-store, must-understand") == CacheControl())
  }
}

@Suite("A server's date", .timeLimit(.minutes(10)))
struct HTTPDateTests {
  private static let now = HTTPDate(clamping: 1_750_000_000)  // June 2025

  private func seconds(_ text: String, now: HTTPDate = Self.now) -> Int64? {
    HTTPDate(text, now: now)?.seconds
  }

  @Test(
    "is one moment in the three formats of RFC 9110",
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ])
  func formats(_ text: String) {
    #expect(seconds(text) == 784_111_777)
  }

  @Test("with two digits of a year lies at most fifty years ahead")
  func shortYears() {
    func year(_ digits: String, in now: Int64) -> Int? {
      HTTPDate("Sunday, 06-Nov-\(digits) 08:49:37 GMT", now: HTTPDate(clamping: now)).map {
        1970 + Int((Double($0.seconds) / 31_556_952).rounded(.down))
      }
    }
    #expect(year("74", in: Self.now.seconds) == 2074)
    #expect(year("75", in: Self.now.seconds) == 1975)
    #expect(year("76", in: Self.now.seconds) == 1976)
    // In December 2099, and in 1970.
    #expect(year("01", in: 4_100_000_000) == 2101)
    #expect(year("99", in: 4_100_000_000) == 2099)
    #expect(year("19", in: 0) == 2019)
    #expect(year("21", in: 0) == 1921)
    // There is no 29 February 2100, so the year is 2000.
    #expect(
      seconds("Tuesday, 29-Feb-00 00:00:00 GMT", now: HTTPDate(clamping: 4_100_000_000))
        == 951_782_400)
  }

  @Test("may be a leap second, which is the next minute's first")
  func leapSecond() {
    #expect(seconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
    #expect(seconds("Sat, 31 Dec 2016 23:59:61 GMT") == nil)
  }

  @Test(
    "is none if it is written in another way",
    arguments: [
      "", "0", "-1", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
      "Sun, 06 Now 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
      "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 30 Feb 2000 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
      "Sun, 06 Nov +994 08:49:37 GMT", "Sun, 06 Nov 1994  08:49:37 GMT",
      "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 06 08:49:37 94", "Sun Nov 6 08:49:37 1994",
    ])
  func refused(_ text: String) {
    #expect(seconds(text) == nil)
  }

  @Test("agrees with the calendar on every kind of day")
  func calendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let formatter = DateFormatter()
    formatter.calendar = calendar
    formatter.timeZone = calendar.timeZone
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    var random = SplitMix64(state: 9110)
    // From 1600 on: before, this calendar is not the one of the standard.
    var days = (0..<2000).map { _ in
      Int64.random(in: -11_670_000_000...253_402_300_799, using: &random)
    }
    days += [951_782_400, 4_107_542_400, -2_203_891_200, 0, 253_402_300_799]
    for day in days {
      let text = formatter.string(from: Date(timeIntervalSince1970: TimeInterval(day)))
      #expect(seconds(text) == day, "\(text)")
    }
    #expect(seconds("Sat, 01 Jan 0000 00:00:00 GMT") == HTTPDate.earliest.seconds)
    #expect(seconds("Fri, 31 Dec 9999 23:59:60 GMT") == HTTPDate.latest.seconds)
  }

  @Test("is made of any clock")
  func clocks() {
    #expect(HTTPDate(Date(timeIntervalSince1970: -0.5)).seconds == -1)
    #expect(HTTPDate(Date(timeIntervalSince1970: .infinity)) == .latest)
    #expect(HTTPDate(Date(timeIntervalSince1970: -.infinity)) == .earliest)
    #expect(HTTPDate(Date(timeIntervalSince1970: .nan)) == .earliest)
    #expect(HTTPDate(clamping: .max) == .latest && HTTPDate(clamping: .min) == .earliest)
    #expect(Self.now.date == Date(timeIntervalSince1970: 1_750_000_000))
  }
}
