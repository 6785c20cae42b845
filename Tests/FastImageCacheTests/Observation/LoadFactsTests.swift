import Testing

@testable import FastImageCache

@Suite("The facts of a load", .timeLimit(.minutes(10)))
struct LoadFactsTests {
  private static let origins: [ByteOrigin?] = [
    nil, .source, .resumed(after: 20, of: 90), .original, .unchanged,
  ]

  private static func report(_ facts: LoadFacts) -> LoadReport {
    LoadReport(facts, LoadMeter(), total: .zero, firstPreview: nil, previewCount: 0)
  }

  /// Every combination, those that no load has among them.
  private static var all: [LoadFacts] {
    var all: [LoadFacts] = []
    for (side, bytes) in AnswerSide.allCases.flatMap({ side in origins.map { (side, $0) } }) {
      for bits in 0..<128 {
        for status in [nil, 200, 206, 304] {
          for policy in [LoadOptions.CachePolicy.useCache, .revalidate, .reload] {
            func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
            var facts = LoadFacts(answer: AnswerFacts(side: side, isStored: bit(0)))
            facts.source = LoadFacts.Source(
              bytes: bytes, isStale: bit(1), wasAsked: bit(2), knewOriginal: bit(3),
              usedNetwork: bit(4), status: status)
            (facts.hasTable, facts.isCoalesced, facts.policy) = (bit(5), bit(6), policy)
            all.append(facts)
          }
        }
      }
    }
    return all
  }

  @Test("decide the origin of its picture")
  func origins() {
    for facts in Self.all {
      let expected: LoadReport.Origin
      if facts.answer.side == .table {
        expected = .table
      } else if facts.answer.side == .entity {
        expected = .entity
      } else {
        switch facts.source.bytes {
        case .original: expected = .original(isStale: facts.source.isStale)
        case .unchanged: expected = .revalidated
        case .resumed: expected = .resumed
        default: expected = facts.source.usedNetwork ? .network : .source
        }
      }
      #expect(facts.origin == expected, "\(facts)")
    }
  }

  /// Written as sets of words, unlike the code.
  @Test("decide the words of RFC 9211, one reason for each request that was forwarded")
  func words() {
    for facts in Self.all {
      let words = Self.report(facts).cacheStatus.split(separator: "; ").map(String.init)
      let isOriginal = facts.answer.side == .load && facts.source.bytes == .original
      let isHit = facts.answer.side == .table || isOriginal && !facts.source.wasAsked
      #expect(words.contains("hit") == isHit, "\(facts)")
      #expect(words.count { $0.hasPrefix("fwd=") } == (isHit ? 0 : 1), "\(facts)")
      #expect(words.contains("stored") == (!isHit && facts.answer.isStored), "\(facts)")
      #expect(words.contains("collapsed") == (!isHit && facts.isCoalesced), "\(facts)")
      let status = words.first { $0.hasPrefix("fwd-status=") }
      let isAnswered = !isHit && facts.answer.side == .load
      #expect(
        status == (isAnswered ? facts.source.status.map { "fwd-status=\($0)" } : nil), "\(facts)")
      #expect(Set(words).count == words.count && words[0] == (isHit ? "hit" : Self.reason(facts)))
    }
  }

  private static func reason(_ facts: LoadFacts) -> String {
    let isLoaded = facts.answer.side == .load
    if isLoaded, case .resumed? = facts.source.bytes { return "fwd=partial" }
    if facts.policy == .reload || facts.policy == .revalidate { return "fwd=request" }
    if isLoaded && facts.source.knewOriginal { return "fwd=stale" }
    return facts.hasTable ? "fwd=uri-miss" : "fwd=bypass"
  }

  @Test("are told in one order")
  func order() {
    var facts = LoadFacts(answer: AnswerFacts(side: .load, isStored: true))
    facts.source = LoadFacts.Source(bytes: .resumed(after: 1, of: 2), wasAsked: true, status: 206)
    facts.isCoalesced = true
    #expect(Self.report(facts).cacheStatus == "fwd=partial; fwd-status=206; stored; collapsed")
    facts.source.bytes = .original
    facts.source = LoadFacts.Source(bytes: .original, isStale: true, wasAsked: true)
    #expect(
      Self.report(facts).cacheStatus == "fwd=uri-miss; stored; collapsed; detail=stale-original")
    #expect(LoadReport(ofHitAfter: .seconds(2)).cacheStatus == "hit")
    #expect("\(LoadReport(ofHitAfter: .microseconds(1530)))" == "hit, 1.5 ms")
  }

  @Test("of a hit are nothing but its time")
  func hit() {
    let report = LoadReport(ofHitAfter: .milliseconds(1500))
    #expect(report.origin == .table && report.isStored && !report.isCoalesced)
    #expect(report.totalDuration == .seconds(1.5) && report.firstPreviewDuration == nil)
    let counts = [
      report.attemptCount, report.fetchedByteCount, report.resumedByteCount, report.previewCount,
    ]
    let durations = [
      report.waitDuration, report.fetchDuration, report.decodeDuration, report.drawDuration,
      report.storeDuration,
    ]
    #expect(counts == [0, 0, 0, 0] && durations == Array(repeating: .zero, count: 5))
  }

  @Test("forget the status of an answer that was no picture when the source is asked again")
  func asksAgain() {
    var meter = LoadMeter()
    meter.ask(knowsOriginal: true)
    meter.source.status = 206
    meter.ask(knowsOriginal: false)
    #expect(meter.attempts == 2 && meter.source == LoadFacts.Source(wasAsked: true))
  }

  @Test("leave each figure where it belongs")
  func figures() {
    var meter = LoadMeter()
    (meter.attempts, meter.fetchedByteCount) = (2, 70)
    meter.source.bytes = .resumed(after: 20, of: 90)
    (meter.wait, meter.fetch, meter.store) = (.seconds(1), .seconds(2), .seconds(3))
    (meter.decode, meter.draw) = (.seconds(4), .seconds(5))
    let facts = LoadFacts(
      answer: AnswerFacts(side: .load, isStored: false), source: meter.source, isCoalesced: true)
    let report = LoadReport(
      facts, meter, total: .seconds(20), firstPreview: .seconds(-1), previewCount: 3)
    #expect((report.attemptCount, report.fetchedByteCount, report.resumedByteCount) == (2, 70, 20))
    #expect(
      (report.waitDuration, report.fetchDuration, report.storeDuration)
        == (.seconds(1), .seconds(2), .seconds(3)))
    #expect(
      (report.decodeDuration, report.drawDuration, report.totalDuration)
        == (.seconds(4), .seconds(5), .seconds(20)))
    // The preview was there before the request came.
    #expect(report.previewCount == 3 && report.firstPreviewDuration == .zero)
    #expect(report.isCoalesced && !report.isStored)
  }
}
