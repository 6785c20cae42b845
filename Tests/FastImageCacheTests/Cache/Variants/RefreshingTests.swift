import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Refreshing", .timeLimit(.minutes(10)))
struct RefreshingTests {
  let originals = MemoryOriginals()
  private let photo = Photo("a")

  /// Sends one image, and calls it unchanged until `changes` says that there is another one.
  private func source(changes: Counter, gate: CancellableGate? = nil) -> EncodedSource {
    EncodedSource { request, call in
      if call > 1 { try await gate?.pass() }
      if request.known?.isWhole == true, changes.value == 0 {
        return .unchanged(ResponseMetadata(fields: ["ETag": "\"1\""], received: Date()))
      }
      return .encoded(try solid(changes.value).pngData())
    }
  }

  private func load(_ formats: [ImageFormat], in fixture: Fixture) async throws {
    for format in formats {
      _ = try await fixture.image(photo, format)
      await fixture.cache.loadsHaveEnded()
    }
  }

  @Test("an unchanged image costs one request for all formats, no decode, and redraws none")
  func asksOnce() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture([.row, .large, .dot], from: source, originals: originals)
    try await load([.row, .large, .dot], in: fixture)
    let before = await fixture.cache.statistics()
    #expect(try await fixture.cache.refresh(photo).isEmpty)
    await fixture.quiet()
    let after = await fixture.cache.statistics()
    #expect(source.started.value == 2 && originals.confirmed.value == 1)
    #expect(after.decodes == before.decodes && after.stores == before.stores)
    #expect(after.pendingRequests == 0)
  }

  @Test("a changed image redraws the formats that have it, and says which")
  func redraws() async throws {
    let changes = Counter()
    let source = source(changes: changes)
    let fixture = try await Fixture([.row, .large, .dot], from: source, originals: originals)
    try await load([.row, .large], in: fixture)
    try await fixture.cache.removeImage(for: photo, format: .dot)
    changes.increment()
    #expect(try await fixture.cache.refresh(photo) == [.row, .large])
    #expect(source.started.value == 2)
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 1)
    }
    #expect(try await fixture.cache.refresh(Photo("b")).isEmpty)
    #expect(source.started.value == 2)
  }

  @Test("an entity whose images have left their tables revalidates its kept original")
  func refreshesKept() async throws {
    let (changes, directory) = (Counter(), try TemporaryDirectory())
    let server = try HTTPServer { request in
      guard let image = try? solid(changes.value).pngData() else { return .status(500) }
      return HTTPFile(
        image, entityTag: "\"\(changes.value)\"", headers: ["Cache-Control": "max-age=600"]
      ).reply(to: request)
    }
    let photo = Photo("a", url: server.url("/1").absoluteString)
    func fixture(_ formats: [ImageFormat]) async throws -> Fixture {
      try await Fixture(formats, from: URLImageSource(), directory: directory) {
        $0.originals = OriginalStore(directory: directory.url.appendingPathComponent("originals"))
      }
    }
    let first = try await fixture([.row, .large])
    _ = try await first.image(photo)
    await first.cache.loadsHaveEnded()
    for count in [2, 3] {
      try await first.cache.removeImage(for: photo, format: .row)
      changes.increment()
      #expect(try await first.cache.refresh(photo).isEmpty)
      #expect(server.requests.value == count)
      await first.cache.loadsHaveEnded()
      // Nothing is drawn into a table, and the next request needs no server.
      #expect(!first.cache.containsImage(for: photo, format: .row))
      #expect(try await first.image(photo, count == 2 ? .row : .large).solidNumber == count - 1)
      #expect(server.requests.value == count)
    }
    await first.cache.close()
    // In a process that has not asked the store yet, too.
    try await ImageCache.removeNamespace("test", in: directory.url)
    changes.increment()
    let second = try await fixture([.row])
    _ = try await second.cache.refresh(photo)
    await second.cache.loadsHaveEnded()
    #expect(try await second.image(photo).solidNumber == 3 && server.requests.value == 4)
    // Nothing is kept of others, and nobody is asked.
    #expect(
      try await second.cache.refresh(Photo("b", url: server.url("/2").absoluteString)).isEmpty)
    #expect(server.requests.value == 4)
  }

  /// An entity whose formats have sources of their own.
  private struct TwoSources: ImageEntity {
    var imageID: ImageID { "two" }
    func sourceURL(for format: ImageFormat) -> URL? { URL(string: "test:/\(format.name)") }
    func versionID(for format: ImageFormat) -> ImageID { "1" }
    func drawing(for format: ImageFormat) -> Drawing { .stretch }
  }

  @Test("one image that has changed redraws none of another source")
  func leavesOtherSources() async throws {
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let formats = [ImageFormat.square(8), .square(16)]
    let fixture = try await Fixture(formats, from: source)
    for (format, policy, number) in [
      (formats[0], LoadOptions.CachePolicy.useCache, 1), (formats[1], .useCache, 2),
      (formats[0], .reload, 3),
    ] {
      let image = try await fixture.image(TwoSources(), format, LoadOptions(policy))
      #expect(image.solidNumber == number)
      await fixture.quiet()
    }
    #expect(fixture.cache.cachedImage(for: TwoSources(), format: formats[1])?.solidNumber == 2)
  }

  @Test("shows the former images until the new ones are there")
  func keepsShowing() async throws {
    let (changes, gate) = (Counter(), CancellableGate())
    let source = source(changes: changes, gate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    try await load([.row], in: fixture)
    changes.increment()
    let refresh = Task { try await fixture.cache.refresh(photo) }
    await source.started.reaches(2)
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 0)
    gate.open()
    #expect(try await refresh.value == [.row])
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 1)
  }

  @Test("that fails, or is cancelled, leaves the images, and its load ends")
  func leavesImages() async throws {
    let gate = CancellableGate()
    let source = EncodedSource { _, call in
      if call == 2 { throw ImageSourceError.httpStatus(503) }
      if call == 3 { try await gate.pass() }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    try await load([.row, .large], in: fixture)
    await #expect(throws: ImageCacheError.self) { try await fixture.cache.refresh(photo) }
    let cancelled = Task { try await fixture.cache.refresh(photo) }
    await source.started.reaches(3)
    cancelled.cancel()
    await #expect(throws: ImageCacheError.self) { try await cancelled.value }
    await fixture.quiet()
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 1)
    }
    #expect(source.started.value == 3)
  }

  @Test("images marked stale draws them again")
  func redrawsStale() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture(from: source, originals: originals)
    try await load([.row], in: fixture)
    try await fixture.cache.markStale(photo)
    #expect(try await fixture.cache.refresh(photo) == [.row])
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 0)
    #expect(source.started.value == 2 && originals.confirmed.value == 1)
  }

  @Test("asks under the conditions that it is given")
  func conditions() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture(from: source, originals: originals)
    var options = LoadOptions(account: AccountID("alice"), avoids: .expensive)
    options.headers = ["Accept": "image/jpeg"]
    options.isPlaceholder = true
    options.fallback = FallbackPolicy()
    _ = try await fixture.image(photo, .row, LoadOptions())
    await fixture.cache.loadsHaveEnded()
    // The account has no original yet, so its server sends one.
    #expect(try await fixture.cache.refresh(photo, options: options) == [.row])
    let asked = try #require(source.requests.last)
    #expect(asked.account == AccountID("alice") && asked.avoids == .expensive)
    #expect(asked.headers == ["Accept": "image/jpeg"] && asked.known == nil)
    #expect(fixture.cache.containsImage(for: photo, format: .row))
    await fixture.cache.loadsHaveEnded()
    #expect(try await fixture.cache.refresh(photo, options: options).isEmpty)
    #expect(source.requests.last?.known?.isWhole == true)
    await fixture.cache.loadsHaveEnded()
    options.cachePolicy = .reload
    _ = try await fixture.cache.refresh(photo, options: options)
    #expect(source.requests.last?.known == nil && source.started.value == 4)
    await #expect(throws: ImageCacheError.notCached(entity: photo.id, format: "row")) {
      try await fixture.cache.refresh(photo, options: LoadOptions(scope: .cache))
    }
    #expect(source.started.value == 4)
  }

  @Test("waits as long as it is told, at the priority that it is given")
  func waits() async throws {
    let (clock, gate, onScreen) = (ManualClock(), CancellableGate(), RequestPriority(.high))
    let source = source(changes: Counter(), gate: gate)
    let fixture = try await Fixture([.row, .large], from: source, originals: originals) {
      $0.clock = clock
    }
    try await load([.row, .large], in: fixture)
    var options = LoadOptions(priority: onScreen)
    options.timeout = .seconds(10)
    let refresh = Task { try await fixture.cache.refresh(photo, options: options) }
    await source.started.reaches(2)
    let urgency = try #require(source.requests.last?.urgency)
    #expect(urgency.priority.task == .high)
    onScreen.value = .low
    #expect(urgency.priority.task == .low)
    await clock.sleepers { $0.count == 2 }
    clock.advance(by: .seconds(11))
    await #expect {
      try await refresh.value
    } throws: {
      if case .timedOut? = $0 as? ImageCacheError { true } else { false }
    }
    await fixture.quiet()
    #expect(fixture.cache.containsImage(for: photo, format: .row))
  }

  @Test("an image without a source, or with a closed cache, asks nobody")
  func asksNobody() async throws {
    let source = source(changes: Counter())
    let fixture = try await Fixture(from: source)
    var made = photo
    made.url = nil
    try await fixture.cache.store(solid(3), for: made, format: .row)
    #expect(try await fixture.cache.refresh(made).isEmpty)
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.self) { try await fixture.cache.refresh(made) }
    #expect(source.started.value == 0)
  }
}
