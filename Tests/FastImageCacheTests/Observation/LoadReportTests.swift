import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

@Suite("The report of a load says", .timeLimit(.minutes(10)))
struct LoadReportTests {
  private let image: Data
  private let originals = MemoryOriginals()

  init() throws { image = try solid(7).pngData() }

  /// A server of one tagged image, and a cache that knows it.
  ///
  /// - Parameter change: Changes an answer of the server.
  private func serving(
    _ format: ImageFormat = .row, keeping originals: MemoryOriginals? = nil,
    retries: Int = 0,
    _ change: @escaping @Sendable (HTTPServer.Request, HTTPReply) -> HTTPReply = { $1 }
  ) async throws -> (server: HTTPServer, fixture: Fixture, photo: Photo) {
    let file = HTTPFile(image, entityTag: #""x""#)
    let server = try HTTPServer { change($0, file.reply(to: $0)) }
    let fixture = try await Fixture(
      [format], from: URLImageSource(http: .retrying(retries)), originals: originals)
    return (server, fixture, Photo("7", url: server.url("/7").absoluteString))
  }

  /// The report of a load that brings the image.
  private func report(
    _ fixture: Fixture, _ photo: Photo = Photo("7"), _ options: LoadOptions = LoadOptions(),
    format: ImageFormat = .row
  ) async throws -> LoadReport {
    let (image, report) = try await fixture.cache.load(photo, format: format, options: options)
    #expect(image.solidNumber == 7)
    return report
  }

  private func counts(_ report: LoadReport) -> [Int] {
    [report.attemptCount, report.fetchedByteCount, report.resumedByteCount]
  }

  @Test("that the network brought the image, and then that the table had it")
  func ofNetwork() async throws {
    let (server, fixture, photo) = try await serving()
    let first = try await report(fixture, photo)
    #expect(first.origin == .network && first.isStored && !first.isCoalesced)
    #expect(counts(first) == [1, image.count, 0])
    #expect(first.cacheStatus == "fwd=uri-miss; fwd-status=200; stored")
    #expect(
      first.storeDuration > .zero && first.drawDuration > .zero && first.decodeDuration > .zero)
    let second = try await report(fixture, photo)
    #expect(second.origin == .table && second.isStored && !second.isCoalesced)
    #expect(counts(second) == [0, 0, 0] && second.cacheStatus == "hit")
    let third = try await report(fixture, photo, LoadOptions(.reload))
    #expect(third.origin == .network && counts(third) == [1, image.count, 0])
    #expect(third.cacheStatus == "fwd=request; fwd-status=200; stored")
    #expect(server.requests.value == 2)
  }

  @Test("that the entity, a source without a network, or another chain's source had it")
  func ofOthers() async throws {
    let fixture = try await Fixture(from: EncodedSource(need: .local))
    let source = try await report(fixture)
    #expect(source.origin == .source && counts(source) == [1, image.count, 0])
    #expect(source.cacheStatus == "fwd=uri-miss; stored; detail=source")
    var photo = Photo("own")
    photo.ownImage = { _ in .bitmap(try solid(7)) }
    let entity = try await report(fixture, photo)
    #expect(entity.origin == .entity && counts(entity) == [0, 0, 0] && entity.isStored)
    #expect(entity.cacheStatus == "fwd=uri-miss; stored; detail=entity")
    let chain = ImageSourceChain([
      EncodedSource(need: .local) { _, _ in throw ImageSourceError.notFound(path: "") },
      EncodedSource(),
    ])
    let web = try await report(try await Fixture(from: chain))
    #expect(web.origin == .network && counts(web) == [1, image.count, 0])
  }

  @Test("that a store had the original, fresh or stale, and the server was not asked")
  func ofOriginals() async throws {
    for (freshness, detail) in [(Freshness.fresh, "original"), (.stale, "stale-original")] {
      try originals.put(7, as: "test:/7", freshness: freshness)
      let found = try await report(try await Fixture(from: EncodedSource(), originals: originals))
      #expect(found.origin == .original(isStale: freshness == .stale))
      #expect(counts(found) == [0, 0, 0] && found.isStored)
      #expect(found.cacheStatus == "hit; detail=\(detail)")
    }
  }

  @Test("that the server called a kept original unchanged, which a table or a decode shows")
  func ofRevalidation() async throws {
    let (server, fixture, photo) = try await serving(keeping: originals)
    _ = try await report(fixture, photo)
    await originals.written.reaches(1)
    await fixture.quiet()
    let asked = try await report(fixture, photo, LoadOptions(.revalidate))
    #expect(asked.origin == .revalidated && asked.isStored)
    #expect(counts(asked) == [1, 0, 0] && asked.decodeDuration == .zero)
    #expect(asked.cacheStatus == "fwd=request; fwd-status=304; stored")
    await fixture.quiet()
    try await fixture.cache.markStale(photo)
    let stale = try await report(fixture, photo)
    #expect(stale.origin == .revalidated && counts(stale) == [1, 0, 0])
    #expect(stale.cacheStatus == "fwd=stale; fwd-status=304; stored")
    #expect(server.arrivedRequests.map { $0.headers["if-none-match"] } == [nil, #""x""#, #""x""#])
  }

  @Test("that a stale original answers since its server failed")
  func ofFailedRevalidation() async throws {
    let (server, fixture, photo) = try await serving(keeping: originals, retries: 1) {
      $0.number == 1 ? $1 : .status(503)
    }
    _ = try await report(fixture, photo)
    await originals.written.reaches(1)
    await fixture.quiet()
    try await fixture.cache.removeImage(for: photo, format: .row)
    originals[ImageID(server.url("/7"))]?.freshness = .mustRevalidate(answersFailures: true)
    let found = try await report(fixture, photo)
    #expect(found.origin == .original(isStale: true) && counts(found) == [2, 0, 0])
    #expect(found.cacheStatus == "fwd=stale; stored; detail=stale-original")
  }

  @Test("that a download went on where an earlier load's had broken off, and with how many bytes")
  func ofResumption() async throws {
    let (server, fixture, photo) = try await serving {
      $0.number == 1 ? $1.inserting(.cut, after: 20) : $1
    }
    await #expect(throws: ImageCacheError.self) { try await report(fixture, photo) }
    await fixture.quiet()
    let resumed = try await report(fixture, photo)
    #expect(resumed.origin == .resumed && counts(resumed) == [1, image.count - 20, 20])
    #expect(resumed.cacheStatus == "fwd=partial; fwd-status=206; stored")
    #expect(server.requests.value == 2)
  }

  @Test("how often the source was asked, with repetitions that follow at once")
  func attempts() async throws {
    let (server, cut, photo) = try await serving(retries: 2) {
      $0.number == 3 ? $1 : $1.inserting(.cut, after: 20)
    }
    let found = try await report(cut, photo)
    #expect(found.origin == .network && counts(found) == [3, image.count, 0])
    #expect(found.cacheStatus == "fwd=uri-miss; fwd-status=206; stored")
    // The rest contradicts what is there, so that all bytes are asked for.
    #expect(server.requests.value == 3)
    let (contradicting, other, again) = try await serving { request, reply in
      switch request.number {
      case 1: reply.inserting(.cut, after: 20)
      case 2: .status(412)
      default: reply
      }
    }
    await #expect(throws: ImageCacheError.self) { try await report(other, again) }
    await other.quiet()
    let all = try await report(other, again)
    #expect(all.origin == .network && counts(all) == [2, image.count, 0])
    // Of the second answer, not of the one that was no image.
    #expect(all.cacheStatus == "fwd=uri-miss; fwd-status=200; stored")
    #expect(contradicting.requests.value == 3)
  }

  @Test("that the table did not keep it: full of leases, without a place on this device, refused")
  func notStored() async throws {
    let small = ImageFormat.row.with(capacity: 1)
    let full = try await Fixture([small], from: EncodedSource())
    let held = try await full.cache.image(for: Photo("1"), format: small)
    let leased = try await report(full, format: small)
    #expect(!leased.isStored && leased.cacheStatus == "fwd=uri-miss")
    withExtendedLifetime(held) {}
    let elsewhere = ImageFormat("row", devices: [])
    let (server, fixture, photo) = try await serving(elsewhere)
    let bypassed = try await report(fixture, photo, format: elsewhere)
    #expect(!bypassed.isStored && bypassed.cacheStatus == "fwd=bypass; fwd-status=200")
    #expect(server.requests.value == 1)
    let hooked = try await Fixture(from: EncodedSource()) {
      $0.willStore = { $0.storage = .doNotStore }
    }
    #expect(try await report(hooked).isStored == false)
  }

  @Test("how many previews the load drew, and when the first was there", arguments: [true, false])
  func previews(isEarly: Bool) async throws {
    let sketch = try await SketchFixture()
    let load = { @Sendable [cache = sketch.cache] in
      try await cache.load(Photo("1"), format: .row).report
    }
    let early = isEarly ? Task(operation: load) : nil
    if isEarly { await sketch.fixture.subscribers(1) }
    let following = Following(sketch.cache)
    await sketch.fixture.subscribers(isEarly ? 2 : 1)
    await sketch.step(100, after: 40)
    await following.previewed.reaches(1)
    await sketch.idle()
    await sketch.step(100, after: 1000)
    await following.previewed.reaches(2)
    let asked = early ?? Task(operation: load)
    await sketch.fixture.subscribers(2)
    sketch.clock.advance(by: .seconds(5))
    await sketch.finish([following])
    let report = try await asked.value
    #expect(report.previewCount == 2 && report.isCoalesced == !isEarly)
    // A late request waits from the last step on; the load asked its source before.
    #expect(report.firstPreviewDuration == (isEarly ? .seconds(40) : .zero))
    #expect(report.totalDuration == .seconds(isEarly ? 1045 : 5))
    #expect(report.fetchDuration == .seconds(1045))
  }
}

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
    async let first = fixture.image(Photo("7"))
    await asked.reaches(1)
    async let joined = fixture.cache.load(Photo("7"), format: .row)
    await fixture.subscribers(2)
    let following = Following(fixture.cache, Photo("7"))
    await fixture.subscribers(3)
    gate.open()
    await following.ends()
    let told = try await (first, joined).1.report
    _ = try await fixture.cache.load(Photo("7"), format: .row)
    _ = try await fixture.image(Photo("7"), .row, LoadOptions(.reload))
    let reports = await reports(4, of: events)
    #expect(reports.map(\.isCoalesced) == [false, true, true, false])
    #expect(reports.map(\.origin) == [.network, .network, .network, .network])
    #expect(reports.map { $0.cacheStatus.hasSuffix("collapsed") } == [false, true, true, false])
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

extension LoadReport {
  /// Waits, fetch, store, total.
  fileprivate var clockSeconds: [Int64] {
    [waitDuration, fetchDuration, storeDuration, totalDuration].map(\.components.seconds)
  }
}

@Suite("The durations of a report", .timeLimit(.minutes(10)))
struct LoadDurationTests {
  private let clock = ManualClock()

  @Test(
    "are those at the gate and before a worker, at the source, and in all with the hook",
    arguments: [Photo("7"), PlainPhoto(number: 7)] as [any ImageEntity])
  func parts(of entity: any ImageEntity) async throws {
    let resources = LoadResources(decodeWidth: 1, localWidth: 1)
    let (clock, asked, hooked) = (self.clock, Counter(), Counter())
    let source = EncodedSource(need: .local) { request, _ in
      asked.increment()
      clock.advance(by: .seconds(2))
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source) { configuration in
      (configuration.resources, configuration.clock) = (resources, clock)
      configuration.willStore = { _ in
        clock.advance(by: .seconds(100))
        hooked.increment()
      }
    }
    let permit = try await resources[.local].enter(Urgency(.high))
    let worker = try await Occupied(resources.workers)
    let loading = Task { try await fixture.cache.load(entity, format: .row).report }
    while resources[.local].counts.waiting == 0, !Task.isCancelled { await Task.yield() }
    clock.advance(by: .seconds(1))
    resources[.local].finish(permit)
    while resources.workers.counts.waiting == 0, !Task.isCancelled { await Task.yield() }
    clock.advance(by: .seconds(4))
    try await worker.leave()
    let report = try await loading.value
    #expect(report.clockSeconds == [1 + 4, 2, 0, 107])
    #expect(report.decodeDuration > .zero && report.drawDuration > .zero)
    #expect((asked.value, hooked.value) == (1, 1))
  }

  @Test("of an entity's own image count as fetched, and its silence does not")
  func ofEntity() async throws {
    let clock = clock
    let fixture = try await Fixture(from: EncodedSource()) { $0.clock = clock }
    var photo = Photo("7")
    photo.ownImage = { _ in
      clock.advance(by: .seconds(3))
      return .bitmap(try solid(7))
    }
    let own = try await fixture.cache.load(photo, format: .row).report
    #expect(own.clockSeconds == [0, 3, 0, 3] && own.decodeDuration == .zero)
    photo = Photo("8")
    photo.ownImage = { _ in
      clock.advance(by: .seconds(3))
      return nil
    }
    #expect(try await fixture.cache.load(photo, format: .row).report.clockSeconds == [0, 0, 0, 3])
  }

  @Test("of a joined load begin before its request")
  func ofJoined() async throws {
    let (clock, gate, asked) = (self.clock, CancellableGate(), Counter())
    let source = EncodedSource { request, _ in
      asked.increment()
      try await gate.pass()
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source) { $0.clock = clock }
    async let first = fixture.image(Photo("7"))
    await asked.reaches(1)
    clock.advance(by: .seconds(10))
    async let joined = fixture.cache.load(Photo("7"), format: .row).report
    await fixture.subscribers(2)
    clock.advance(by: .seconds(1))
    gate.open()
    let report = try await joined
    _ = try await first
    #expect(report.clockSeconds == [0, 11, 0, 1] && report.isCoalesced)
  }
}
