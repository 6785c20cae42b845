import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

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
