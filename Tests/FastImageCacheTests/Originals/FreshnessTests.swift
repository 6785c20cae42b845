import Foundation
import Testing

@testable import FastImageCache

@Suite("The rule of freshness", .timeLimit(.minutes(10)))
struct FreshnessTests {
  private let day: Int64 = 86_400
  private let received: Int64 = 784_112_000
  /// Never stale.
  private let bound = Freshness.mustRevalidate(answersFailures: false)
  /// Stale only where no server can be reached.
  private let expired = Freshness.expired(answersFailures: false)

  private func terms(_ fields: [String: String]) -> ResponseMetadata {
    ResponseMetadata(
      fields: fields, received: Date(timeIntervalSince1970: TimeInterval(received)))
  }

  /// So many seconds after the answer, which was stored at once and never used since.
  private func freshness(
    _ fields: [String: String], after seconds: Int64, rule: OriginalStore.Lifetime = .init()
  ) -> Freshness {
    freshness(
      fields, stored: received, lastUse: received, now: received + seconds, rule: rule)
  }

  private func freshness(
    _ fields: [String: String] = [:], stored: Int64, lastUse: Int64, now: Int64,
    rule: OriginalStore.Lifetime = .init()
  ) -> Freshness {
    // What may not be kept has no facts.
    rule.facts(of: terms(fields)).map {
      rule.freshness(of: $0, stored: stored, lastUse: lastUse, now: now)
    } ?? .gone
  }

  /// How many seconds an answer is fresh.
  private func span(_ fields: [String: String], rule: OriginalStore.Lifetime = .init()) -> UInt32? {
    rule.facts(of: terms(fields))?.freshFor
  }

  @Test("believes what the server says, else thirty days")
  func lifetimes() {
    #expect(span([:]) == 2_592_000)
    #expect(span(["Cache-Control": "max-age=60", "Expires": date(received + 9)]) == 60)
    #expect(span(["Date": date(received), "Expires": date(received + 9)]) == 9)
    #expect(span(["Expires": date(received + 9)]) == 9)
    #expect(span(["Expires": date(received - 9)]) == 0)
    #expect(span(["Expires": "0", "Date": date(received)]) == 0)
    #expect(span(["Cache-Control": "s-maxage=60"]) == 2_592_000)
    #expect(span(["Cache-Control": "no-cache, max-age=60"]) == 0)
    #expect(span(["Cache-Control": "max-age=99999999999"]) == 2_147_483_648)
    #expect(span(["Cache-Control": "no-store"]) == nil && span(["Vary": "*"]) == nil)
  }

  @Test("counts the age that an answer had when it came: RFC 9111 section 4.2.3")
  func initialAge() {
    let control = ["Cache-Control": "max-age=60"]
    #expect(span(control.merging(["Age": "20"]) { $1 }) == 40)
    #expect(span(control.merging(["Date": date(received - 25)]) { $1 }) == 35)
    #expect(span(control.merging(["Age": "20", "Date": date(received - 25)]) { $1 }) == 35)
    #expect(span(control.merging(["Age": "30", "Date": date(received - 25)]) { $1 }) == 30)
    #expect(span(control.merging(["Age": "61"]) { $1 }) == 0)
    // A server whose clock is ahead made no younger answer.
    #expect(span(control.merging(["Date": date(received + 25)]) { $1 }) == 60)
    // Both moments of the server's clock, which is wrong by a year.
    #expect(
      span(["Date": date(received + 365 * day), "Expires": date(received + 365 * day + 7)]) == 7)
  }

  @Test("answers fresh until the last second, then stale, then must ask or not at all")
  func rows() {
    let minute = ["Cache-Control": "max-age=60"]
    #expect(freshness(minute, after: 0) == .fresh && freshness(minute, after: 59) == .fresh)
    #expect(freshness(minute, after: 60) == .stale)
    #expect(freshness(minute, after: day + 59) == .stale)
    #expect(freshness(minute, after: day + 60) == expired)
    #expect(freshness(minute, after: 30 * day - 1) == expired)
    #expect(freshness(minute, after: 30 * day) == .gone)

    let strict = ["Cache-Control": "max-age=60, must-revalidate"]
    #expect(freshness(strict, after: 59) == .fresh && freshness(strict, after: 60) == bound)
    #expect(freshness(strict, after: 30 * day) == .gone)
    let never = ["Cache-Control": "no-cache, max-age=60"]
    #expect(freshness(never, after: 0) == bound)
    #expect(freshness(["Cache-Control": "no-store, max-age=60"], after: 0) == .gone)
    #expect(freshness(["Vary": "*"], after: 0) == .gone)
  }

  @Test("lets stale answers pass for longer than a day, or from failures, where the server does")
  func lenient() {
    let week = ["Cache-Control": "max-age=60, stale-while-revalidate=604800"]
    #expect(freshness(week, after: 7 * day + 59) == .stale)
    #expect(freshness(week, after: 7 * day + 60) == expired)
    let failures = ["Cache-Control": "max-age=60, stale-if-error=604800"]
    #expect(freshness(failures, after: day + 59) == .stale)
    #expect(freshness(failures, after: day + 60) == .expired(answersFailures: true))
    #expect(freshness(failures, after: 7 * day + 60) == expired)
    let strict = ["Cache-Control": "max-age=60, stale-if-error=604800, must-revalidate"]
    #expect(freshness(strict, after: day + 60) == bound)
  }

  @Test("lets stale answers pass where nobody allows them only as long as the server does")
  func strict() {
    var rule = OriginalStore.Lifetime()
    rule.servesStale = false
    let fields = ["Cache-Control": "max-age=600, stale-while-revalidate=30, stale-if-error=90"]
    #expect(freshness(fields, after: 599, rule: rule) == .fresh)
    #expect(freshness(fields, after: 600, rule: rule) == .stale)
    #expect(freshness(fields, after: 629, rule: rule) == .stale)
    #expect(freshness(fields, after: 630, rule: rule) == .mustRevalidate(answersFailures: true))
    #expect(freshness(fields, after: 689, rule: rule) == .mustRevalidate(answersFailures: true))
    #expect(freshness(fields, after: 690, rule: rule) == bound)
    #expect(freshness(fields, after: -1, rule: rule) == bound)
    let old = fields.merging(["Age": "610"]) { $1 }
    #expect(freshness(old, after: 19, rule: rule) == .stale)
    #expect(freshness(old, after: 79, rule: rule) == .mustRevalidate(answersFailures: true))
    #expect(freshness(old, after: 80, rule: rule) == bound)
    for directive in ["must-revalidate", "no-cache"] {
      let control = "max-age=1, stale-if-error=9, stale-while-revalidate=9, \(directive)"
      #expect(freshness(["Cache-Control": control], after: 1, rule: rule) == bound)
    }
  }

  @Test("may count the store's word only, but for what must not be kept")
  func disobedient() {
    var rule = OriginalStore.Lifetime()
    (rule.respectsServer, rule.defaultFreshness) = (false, .seconds(100))
    for fields in [
      [:], ["Cache-Control": "max-age=5", "Age": "50"], ["Cache-Control": "no-cache"],
      ["Expires": "0"], ["Cache-Control": "must-revalidate"],
    ] {
      #expect(freshness(fields, after: 99, rule: rule) == .fresh, "\(fields)")
      #expect(freshness(fields, after: 100, rule: rule) == .stale, "\(fields)")
      #expect(freshness(fields, after: day + 100, rule: rule) == expired, "\(fields)")
    }
    #expect(freshness(["Cache-Control": "no-store"], after: 0, rule: rule) == .gone)
  }

  @Test("keeps from the last use or from storing, whatever is fresh")
  func keeping() {
    var rule = OriginalStore.Lifetime()
    rule.maximumAge = .seconds(100)
    func kept(stored: Int64, lastUse: Int64, now: Int64) -> Freshness {
      freshness(stored: stored, lastUse: lastUse, now: now, rule: rule)
    }
    let now = received + 200
    #expect(kept(stored: now - 100, lastUse: now - 99, now: now) == .stale)
    #expect(kept(stored: now - 100, lastUse: now - 100, now: now) == .gone)
    rule.renewsOnUse = false
    #expect(kept(stored: now - 100, lastUse: now - 99, now: now) == .gone)
    #expect(kept(stored: now - 99, lastUse: now - 200, now: now) == .stale)
    rule.maximumAge = .zero
    #expect(kept(stored: now, lastUse: now, now: now) == .gone)
  }

  @Test("believes no server for longer than originals are kept")
  func forged() {
    let fields = ["Cache-Control": "max-age=2147483648"]
    func used(after days: Int64) -> Freshness {
      let now = received + days * day
      return freshness(fields, stored: received, lastUse: now, now: now)
    }
    #expect(used(after: 29) == .fresh && used(after: 30) == .stale && used(after: 31) == expired)
  }

  @Test("calls an answer from the future expired, not gone, and never shows beyond what is kept")
  func clocks() {
    #expect(freshness([:], after: -1) == expired)
    #expect(freshness(["Cache-Control": "must-revalidate"], after: -1) == bound)
    let rule = OriginalStore.Lifetime()
    func kept(stored: Int64, lastUse: Int64, now: Int64) -> Freshness {
      freshness(stored: stored, lastUse: lastUse, now: now)
    }
    // A year back, 1970 and 2038.
    for now in [received - 365 * day, 0, -1, .min] {
      #expect(kept(stored: received, lastUse: received, now: now) == expired)
    }
    for now in [1 << 31, Int64.max] {
      #expect(kept(stored: received, lastUse: received, now: now) == .gone)
    }
    // Used while the clock was a year ahead; the use says nothing, and the storing counts.
    let ahead = received + 365 * day
    #expect(kept(stored: received, lastUse: ahead, now: received + 29 * day) == .fresh)
    #expect(kept(stored: received, lastUse: ahead, now: received + 30 * day) == .gone)
    #expect(kept(stored: ahead, lastUse: received, now: received + 30 * day) == .gone)
    // Numbers from a damaged disk.
    for wild in [Int64.min, .max] {
      let facts = FreshnessFacts(answered: wild, freshFor: .max, mustRevalidate: false)
      let freshness = rule.freshness(of: facts, stored: wild, lastUse: wild, now: received)
      #expect(freshness == (wild == .max ? expired : .gone))
    }
  }

  private func date(_ seconds: Int64) -> String {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds)))
  }
}
