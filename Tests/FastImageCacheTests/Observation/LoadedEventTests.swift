import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The event of an image that was loaded", .timeLimit(.minutes(10)))
struct LoadedEventTests {
  /// The next so many reports, each with its format.
  private func reports(
    _ count: Int, of events: AsyncStream<CacheEvent>
  ) async -> [LoadReport] {
    var reports: [LoadReport] = []
    for await event in events {
      guard case .loaded(_, _, let report) = event else { continue }
      reports.append(report)
      if reports.count == count { break }
    }
    return reports
  }

  @Test("has the report of each request that missed, of whatever kind, and none of a hit")
  func forEachRequest() async throws {
    let (gate, asked) = (CancellableGate(), Counter())
    let source = EncodedSource { _, _ in
      asked.increment()
      try await gate.pass()
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source)
    let events = fixture.cache.events()
    async let first = fixture.cache.image(for: Photo("7"), format: .row)
    await asked.reaches(1)
    async let joined = fixture.cache.load(Photo("7"), format: .row)
    await fixture.subscribers(2)
    let following = Following(fixture.cache, Photo("7"))
    await fixture.subscribers(3)
    gate.open()
    await following.ends()
    let told = try await (first, joined).1.report
    _ = try await fixture.cache.load(Photo("7"), format: .row)
    _ = try await fixture.cache.image(
      for: Photo("7"), format: .row, options: LoadOptions(.reload))
    let reports = await reports(4, of: events)
    #expect(reports.map(\.isCoalesced) == [false, true, true, false])
    #expect(reports.map(\.origin) == [.network, .network, .network, .network])
    #expect(reports.contains(told))
  }

  @Test("tells of an image that was stored by hand meanwhile, and of none that failed")
  func byHand() async throws {
    let gate = CancellableGate()
    let source = EncodedSource { request, _ in
      if request.url.lastPathComponent == "8" { throw ImageSourceError.network("no route") }
      try await gate.pass()
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source)
    let events = fixture.cache.events()
    await #expect(throws: ImageCacheError.self) {
      try await fixture.cache.load(Photo("8"), format: .row)
    }
    async let loaded = fixture.cache.load(Photo("7"), format: .row)
    await fixture.subscribers(1)
    try await fixture.cache.store(solid(9), for: Photo("7"), format: .row)
    let (image, report) = try await loaded
    #expect(image.solidNumber == 9)
    #expect(report.origin == .table && report.isStored && report.cacheStatus == "hit")
    #expect(await reports(1, of: events) == [report])
    gate.open()
  }
}
