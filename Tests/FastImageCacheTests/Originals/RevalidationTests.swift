import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Revalidating", .timeLimit(.minutes(10)))
struct RevalidationTests {
  let originals = MemoryOriginals()
  let newer = ResponseMetadata(fields: ["ETag": "\"new\""], received: Date())
  private let gate = CancellableGate()

  /// Calls an original that is known unchanged, as long as the original of the table's image is.
  private func unchanging(gate: CancellableGate? = nil) -> EncodedSource {
    EncodedSource { [newer] request, call in
      try await gate?.pass()
      if request.known?.isWhole == true { return .unchanged(newer) }
      return .encoded(try solid(Int(request.url.lastPathComponent) ?? call).pngData())
    }
  }

  @Test("an unchanged original confirms it; the table's image answers, and nothing is decoded")
  func confirms() async throws {
    let source = unchanging()
    let fixture = try await Fixture(from: source, originals: originals)
    _ = try await fixture.image(Photo("7"))
    await originals.written.reaches(1)
    let image = try await fixture.image(Photo("7"), .row, LoadOptions(.revalidate))
    #expect(image.solidNumber == 7 && !image.isPrivate)
    let known = try #require(source.requests.last?.known)
    #expect(known.isWhole)
    #expect(known.bytes == (try solid(7).pngData()))
    let statistics = await fixture.cache.statistics()
    #expect(statistics.decodes == 1 && statistics.stores == 1 && statistics.fetches == 2)
    #expect(originals.confirmed.value == 1 && originals.writes.value == 1)
    #expect(originals["test:/7"]?.terms.entityTag == "\"new\"")
  }

  @Test("an unchanged original draws the image that no table has")
  func drawsUnchanged() async throws {
    let source = unchanging()
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .mustRevalidate(answersFailures: false))
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    #expect(source.requests.map { $0.known != nil } == [true])
    #expect(originals.confirmed.value == 1 && originals["test:/7"]?.freshness == .fresh)
  }

  @Test("the same bytes once more counts as unchanged, and leaves nothing to be continued")
  func comparesBytes() async throws {
    let bytes = try solid(7).pngData()
    let terms = ResponseMetadata(
      fields: ["ETag": "\"x\"", "Content-Length": "\(bytes.count)"], received: Date())
    let source = EncodedSource { request, _ in
      let arrival = request.begin(terms)
      try arrival.append(bytes)
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source, originals: originals)
    _ = try await fixture.image(Photo("7"))
    await originals.written.reaches(1)
    _ = try await fixture.image(Photo("7"), .row, LoadOptions(.revalidate))
    while fixture.cache.registry.resources[.network].counts.inside > 0, !Task.isCancelled {
      await Task.yield()
    }
    #expect(originals.confirmed.value == 1 && originals.writes.value == 1)
    #expect(await fixture.cache.statistics().decodes == 1)
    #expect(fixture.cache.partials.byteCount == 0)
  }

  @Test("a changed original replaces it and the entity's images of all formats")
  func replaces() async throws {
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    let photo = Photo("a")
    _ = try await fixture.image(photo)
    await originals.written.reaches(1)
    _ = try await fixture.image(photo, .large)
    #expect(source.started.value == 1)
    let image = try await fixture.image(photo, .row, LoadOptions(.revalidate))
    #expect(image.solidNumber == 2)
    await originals.written.reaches(2)
    await fixture.quiet()
    #expect(originals["test:/a"]?.bytes == (try solid(2).pngData()))
    for format in [ImageFormat.row, .large] {
      #expect(fixture.cache.cachedImage(for: photo, format: format)?.solidNumber == 2)
    }
    #expect(source.started.value == 2)
  }

  @Test(
    "shares no request that was sent before, and shows what the server has now",
    arguments: [false, true])
  func asksAnew(keeps: Bool) async throws {
    let (gate, directory) = (Gate(), try TemporaryDirectory())
    let server = try HTTPServer { request in
      guard let image = try? solid(request.number).pngData() else { return .status(500) }
      return request.number > 1
        ? .ok(image).inserting(.wait(gate), after: 9) : .ok(image)
    }
    let fixture = try await Fixture(from: URLImageSource()) {
      if keeps { $0.originals = OriginalStore(directory: directory.url) }
    }
    let photo = Photo("a", url: server.url("/1").absoluteString)
    func revalidate() -> Task<Int?, any Error> {
      Task { try await fixture.image(photo, .row, LoadOptions(.revalidate)).solidNumber }
    }
    _ = try await fixture.image(photo)
    await fixture.cache.loadsHaveEnded()
    let first = revalidate()
    await server.requests.reaches(2)
    // From here on the server has another image.
    let second = revalidate()
    await fixture.subscribers(2)
    gate.open()
    #expect(try await second.value == 3)
    #expect(try await first.value == 2)
    await fixture.cache.loadsHaveEnded()
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.solidNumber == 3)
  }

  @Test("draws an image anew that is older than the original of another entity's load")
  func redrawsOlder() async throws {
    let (number, directory) = (Lock(1), try TemporaryDirectory())
    let server = try HTTPServer { request in
      let number = number.withLock { $0 }
      let tag = "\"\(number)\""
      if request.headers["if-none-match"] == tag { return .status(304, headers: ["ETag": tag]) }
      guard let image = try? solid(number).pngData() else { return .status(500) }
      return .ok(image, headers: ["ETag": tag, "Cache-Control": "max-age=60"])
    }
    // Its seconds tell an original from an older image.
    let seconds = Int64(Date().timeIntervalSince1970)
    let now = Lock(seconds - 60)
    let fixture = try await Fixture(from: URLImageSource()) {
      $0.originals = OriginalStore(directory.url, 1 << 20, system: .live) {
        now.withLock { $0 } * 1_000_000
      }
    }
    func load(_ name: String, _ policy: LoadOptions.CachePolicy) async throws -> Int? {
      let photo = Photo(ImageID(name), url: server.url("/1").absoluteString)
      let image = try await fixture.image(photo, .row, LoadOptions(policy))
      await fixture.cache.loadsHaveEnded()
      return image.solidNumber
    }
    #expect(try await load("a", .useCache) == 1)
    number.withLock { $0 = 2 }
    now.withLock { $0 = seconds + 3_600 }
    #expect(try await load("b", .reload) == 2)
    #expect(try await load("a", .useCache) == 1)
    #expect(try await load("a", .revalidate) == 2)
    #expect(try await load("a", .useCache) == 2)
    #expect(server.arrivedRequests.last?.headers["if-none-match"] == "\"2\"")
    // A clock that was put back tells nothing of what is older.
    now.withLock { $0 = seconds }
    let decodes = await fixture.cache.statistics().decodes
    #expect(try await load("a", .revalidate) == 2)
    #expect(await fixture.cache.statistics().decodes == decodes)
  }

  @Test("draws no image anew that is as young as its original, by hand or by a load")
  func confirmsYoung() async throws {
    let directory = try TemporaryDirectory()
    let bytes = try solid(1).pngData()
    let server = try HTTPServer { _ in .ok(bytes, headers: ["ETag": "\"1\""]) }
    let fixture = try await Fixture(from: URLImageSource()) {
      $0.originals = OriginalStore(directory: directory.url)
    }
    let (loaded, byHand) = (
      Photo("a", url: server.url("/1").absoluteString),
      Photo("b", url: server.url("/2").absoluteString)
    )
    _ = try await fixture.image(loaded)
    _ = try await fixture.cache.store(bytes, for: byHand, format: .row, metadata: Data("b".utf8))
    await fixture.cache.loadsHaveEnded()
    let decodes = await fixture.cache.statistics().decodes
    for photo in [loaded, byHand] {
      _ = try await fixture.image(photo, .row, LoadOptions(.revalidate))
      await fixture.cache.loadsHaveEnded()
    }
    #expect(await fixture.cache.statistics().decodes == decodes)
    let kept = fixture.cache.cachedImage(for: byHand, format: .row)
    #expect(kept?.metadata == Data("b".utf8))
  }

  @Test("an original that is no image, or has no head, fetches all once", arguments: [true, false])
  func fetchesAllOnce(hasHead: Bool) async throws {
    let source = unchanging()
    let fixture = try await Fixture(from: source, originals: originals)
    let bytes = try solid(7).pngData()
    try originals.put(7, as: "test:/7", freshness: .mustRevalidate(answersFailures: false))
    originals["test:/7"]?.bytes = hasHead ? bytes.prefix(60) : Data("no image".utf8)
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    #expect(source.requests.map { $0.known != nil } == (hasHead ? [true, false] : [false]))
    await originals.written.reaches(1)
    #expect(originals["test:/7"]?.bytes == bytes)
  }

  @Test("behind a stale original leaves its answer at once, and begins with it")
  func answersStale() async throws {
    let source = unchanging(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .stale)
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    await source.started.reaches(1)
    #expect(source.requests.map { $0.priority } == [.background])
    gate.open()
    await originals.confirmed.reaches(1)
    await fixture.quiet()
    #expect(originals["test:/7"]?.freshness == .fresh)
    #expect(await fixture.cache.statistics().decodes == 1)
  }

  @Test("behind leaves other bytes alone that were kept while the server was asked")
  func confirmsItsBytes() async throws {
    let source = unchanging(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .stale)
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    await source.started.reaches(1)
    try originals.put(8, as: "test:/7", freshness: .stale)
    gate.open()
    await fixture.quiet()
    #expect(originals["test:/7"]?.freshness == .stale)
  }

  @Test("behind puts a changed image in the place of the old one")
  func replacesBehind() async throws {
    let source = EncodedSource { _, _ in .encoded(try solid(8).pngData()) }
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .stale)
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    await originals.written.reaches(1)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: Photo("7"), format: .row)?.solidNumber == 8)
    #expect(originals["test:/7"]?.bytes == (try solid(8).pngData()))
  }

  @Test("behind does not bring back what was removed while it was drawn")
  func bringsNothingBack() async throws {
    let (gate, asked) = (Gate(), Counter())
    let source = unchanging()
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.willStore = { _ in
        asked.increment()
        gate.waitBlocking()
      }
    }
    try originals.put(7, as: "test:/7", freshness: .stale, entity: "7")
    let load = Task { try await fixture.image(Photo("7")) }
    await asked.reaches(1)
    try await fixture.cache.removeImages(for: Photo("7"))
    gate.open()
    #expect(try await load.value.solidNumber == 7)
    await fixture.quiet()
    #expect(source.started.value == 0 && originals.count == 0)
    #expect(!fixture.cache.containsImage(for: Photo("7"), format: .row))
  }

  @Test("behind takes four at a time, and leaves the others for their next use")
  func isBounded() async throws {
    let source = unchanging(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    for number in 1...6 {
      try originals.put(number, as: ImageID("test:/\(number)"), freshness: .stale)
      let photo = Photo(ImageID("\(number)"))
      #expect(try await fixture.image(photo).solidNumber == number)
    }
    await source.started.reaches(4)
    while await fixture.cache.statistics().activeLoads > 4, !Task.isCancelled { await Task.yield() }
    #expect(await fixture.cache.statistics().pendingRequests == 4)
    gate.open()
    await fixture.quiet()
    #expect(originals.confirmed.value == 4 && source.started.value == 4)
    try await fixture.cache.removeImage(for: "6", format: .row)
    _ = try await fixture.image(Photo("6"))
    await originals.confirmed.reaches(5)
  }

  @Test("behind begins only while no load waits for the network, and ends with the cache")
  func givesWay() async throws {
    let source = EncodedSource(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.resources = LoadResources(networkWidth: 1)
    }
    let tasks = ["1", "2"].map { id in Task { try await fixture.image(Photo(ImageID(id))) } }
    await source.started.reaches(1)
    while fixture.cache.registry.resources[.network].counts.waiting == 0, !Task.isCancelled {
      await Task.yield()
    }
    try originals.put(7, as: "test:/7", freshness: .stale)
    _ = try await fixture.image(Photo("7"))
    while await fixture.cache.statistics().activeLoads > 2, !Task.isCancelled { await Task.yield() }
    #expect(await fixture.cache.statistics().pendingRequests == 2)
    gate.open()
    for task in tasks { _ = try await task.value }

    let never = CancellableGate()
    let hanging = try await Fixture(from: EncodedSource(gate: never), originals: originals)
    _ = try await hanging.cache.image(for: Photo("7"), format: .row)
    await hanging.subscribers(1)
    await hanging.cache.close()
    #expect(await hanging.cache.statistics().activeLoads == 0)
  }

  @Test(
    "at a server that fails or without a network shows the original where its terms allow that",
    arguments: [ImageSourceError.httpStatus(503), .offline, .networkRefused])
  func survivesFailures(error: ImageSourceError) async throws {
    let source = EncodedSource { _, _ in throw error }
    let fixture = try await Fixture(from: source, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .mustRevalidate(answersFailures: true))
    try originals.put(8, as: "test:/8", freshness: .mustRevalidate(answersFailures: false))
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    for (photo, options) in [
      (Photo("8"), LoadOptions()), (Photo("7"), LoadOptions(.revalidate)),
    ] {
      await #expect(throws: ImageCacheError.sourceFailed(photo.url, underlying: error)) {
        try await fixture.image(photo, .row, options)
      }
    }
    #expect(originals.count == 2)
  }

  @Test(
    "of an expired original shows it where no server can be reached, and else throws",
    arguments: [
      (ImageSourceError.offline, true), (.network("reset"), true), (.timedOut(after: .zero), true),
      (.networkRefused, true), (.httpStatus(503), false), (.httpStatus(403), false),
      (.truncatedBody(received: 1, expected: 2), false),
    ])
  func showsExpired(error: ImageSourceError, isShown: Bool) async throws {
    let fixture = try await Fixture(
      from: EncodedSource { _, _ in throw error }, originals: originals)
    try originals.put(7, as: "test:/7", freshness: .expired(answersFailures: false))
    try originals.put(8, as: "test:/8", freshness: .expired(answersFailures: true))
    let shown = try? await fixture.image(Photo("7"))
    #expect(shown?.solidNumber == (isShown ? 7 : nil))
    if error != .httpStatus(403) {
      #expect(try await fixture.image(Photo("8")).solidNumber == 8)
    }
    #expect(originals.count == 2)
  }

  @Test("at a server that fails shows the original behind a chain of sources, too")
  func survivesFailuresOfChain() async throws {
    let nothing = EncodedSource(need: .local) { _, _ in throw ImageSourceError.notFound(path: "") }
    let failing = EncodedSource { _, _ in throw ImageSourceError.httpStatus(503) }
    let fixture = try await Fixture(
      from: ImageSourceChain([nothing, failing]), originals: originals)
    try originals.put(7, as: "test:/7", freshness: .mustRevalidate(answersFailures: true))
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    #expect(failing.started.value == 1)
  }

  @Test("asks whether it changed even where the hook looks at each image")
  func worksWithHook() async throws {
    let asked = Counter()
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals) {
      $0.willStore = { _ in asked.increment() }
    }
    _ = try await fixture.image(Photo("a"))
    await originals.written.reaches(1)
    // Else the next request may join the load.
    await fixture.quiet()
    _ = try await fixture.image(Photo("a"), .large)
    _ = try await fixture.image(Photo("a"), .large, LoadOptions(.revalidate))
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 2)
    #expect(asked.value == 3)
  }
}
