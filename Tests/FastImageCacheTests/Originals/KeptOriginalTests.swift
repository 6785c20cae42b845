import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A kept original", .timeLimit(.minutes(10)))
struct KeptOriginalTests {
  let originals = MemoryOriginals()
  private let source = EncodedSource()
  private let gate = CancellableGate()

  @Test("is what the network delivered, and draws what is asked for later")
  func drawsLater() async throws {
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    let photo = Photo("7")
    _ = try await fixture.image(photo)
    await originals.written.reaches(1)
    #expect(originals["test:/7"]?.bytes == (try solid(7).pngData()))
    #expect(try await fixture.image(photo, .large).solidNumber == 7)
    #expect(source.started.value == 1 && originals.writes.value == 1)
  }

  @Test("is decoded once for a family whose images are asked for one after the other")
  func sharesDecode() async throws {
    let formats = [ImageFormat.large, .row].map {
      ImageFormat(name: $0.name, family: "all", size: .exact($0.size))
    }
    let fixture = try await Fixture(formats, from: EncodedSource(), originals: originals)
    for number in 0..<20 {
      for format in formats {
        _ = try await fixture.image(Photo(ImageID("\(number)")), format)
      }
    }
    #expect(await fixture.cache.statistics().decodes == 20)
  }

  @Test("is fetched, decoded and kept once for a thousand requests")
  func isKeptOnce() async throws {
    let (fixture, _, gate) = try await Fixture.gatedNetwork(originals: originals)
    let tasks = (0..<1000).map { _ in Task { try await fixture.image(Photo("7")) } }
    await fixture.subscribers(1000)
    gate.open()
    for task in tasks { #expect(try await task.value.solidNumber == 7) }
    await originals.written.reaches(1)
    await fixture.quiet()
    let statistics = await fixture.cache.statistics()
    #expect(statistics.fetches == 1 && statistics.decodes == 1 && originals.writes.value == 1)
  }

  @Test("counts as kept while it is being written, and is written when the loads have ended")
  func countsAtOnce() async throws {
    let gate = Gate()
    let originals = MemoryOriginals(writeGate: gate)
    let fixture = try await Fixture(from: source, originals: originals)
    _ = try await fixture.image(Photo("7"))
    await originals.writes.reaches(1)
    try await fixture.cache.removeImage(for: Photo("7"), format: .row)
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    #expect(source.started.value == 1 && originals.written.value == 0)
    gate.open()
    await fixture.cache.loadsHaveEnded()
    #expect(originals.written.value == 1)
  }

  @Test("never waits for a download")
  func passesDownloads() async throws {
    let source = EncodedSource(gate: gate)
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.resources = LoadResources(networkWidth: 1)
    }
    let hanging = (1...3).map { number in
      Task { try await fixture.image(Photo(ImageID("\(number)"))) }
    }
    await source.started.reaches(1)
    await fixture.subscribers(3)
    try originals.put(9, as: "test:/9")
    #expect(try await fixture.image(Photo("9")).solidNumber == 9)
    #expect(source.started.value == 1)
    gate.open()
    for task in hanging { _ = try await task.value }
  }

  @Test("is read in turn with files")
  func passesLocalGate() async throws {
    let source = EncodedSource(need: .local, gate: gate)
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.resources = LoadResources(localWidth: 1)
    }
    let file = Task { try await fixture.image(Photo("1")) }
    await source.started.reaches(1)
    try originals.put(9, as: "test:/9")
    let kept = Task { try await fixture.image(Photo("9")) }
    while fixture.cache.registry.resources[.local].counts.waiting == 0, !Task.isCancelled {
      await Task.yield()
    }
    #expect(originals.reads.value == 0)
    gate.open()
    #expect(try await kept.value.solidNumber == 9)
    _ = try await file.value
  }

  @Test("joins no download of its own URL")
  func joinsNoDownload() async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork(
      [.row, .large], originals: originals)
    let download = Task { try await fixture.image(Photo("9")) }
    await source.started.reaches(1)
    try originals.put(9, as: "test:/9")
    #expect(try await fixture.image(Photo("9"), .large).solidNumber == 9)
    #expect(source.started.value == 1)
    gate.open()
    _ = try await download.value
  }

  @Test("that is no image is dropped, and the source asked at its own gate")
  func dropsDamaged() async throws {
    let source = EncodedSource { request, call in
      if call == 1 { try await gate.pass() }
      return .encoded(try solid(Int(request.url.lastPathComponent) ?? 0).pngData())
    }
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.resources = LoadResources(networkWidth: 1, localWidth: 1)
    }
    let hanging = Task { try await fixture.image(Photo("1")) }
    await source.started.reaches(1)
    // The header is right and the pixels are not; the other is nothing at all.
    for (id, bytes) in [
      ("8", try solid(8).pngData().prefix(60)), ("9", Data("no image".utf8)),
    ] {
      originals[ImageID("test:/\(id)")] = .init(
        bytes: bytes, terms: ResponseMetadata(received: Date()), entity: ImageID(id))
    }
    let damaged = ["8", "9"].map { id in Task { try await fixture.image(Photo(ImageID(id))) } }
    await originals.dropped.reaches(2)
    // Both have left the local gate, which is one wide.
    try originals.put(5, as: "test:/5")
    #expect(try await fixture.image(Photo("5")).solidNumber == 5)
    gate.open()
    #expect(try await damaged[0].value.solidNumber == 8)
    #expect(try await damaged[1].value.solidNumber == 9)
    _ = try await hanging.value
    #expect(source.started.value == 3)
  }

  @Test("answers requests that reach no further, unless it is no image")
  func answersWithoutSource() async throws {
    let fixture = try await Fixture(from: source, originals: originals)
    let options = LoadOptions(scope: .cache)
    for id in ["7", "8"] { try originals.put(8, as: ImageID("test:/\(id)"), freshness: .stale) }
    originals["test:/7"]?.bytes = try solid(8).pngData().prefix(60)
    let image = try await fixture.image(Photo("8"), .row, options)
    await #expect(throws: ImageCacheError.notCached(entity: "7", format: "row")) {
      try await fixture.image(Photo("7"), .row, options)
    }
    await fixture.quiet()
    #expect(image.solidNumber == 8 && source.started.value == 0)
    #expect(originals.count == 1 && originals["test:/8"] != nil)
  }

  @Test("is not made of what needed no network, has metadata or no bytes")
  func keepsOnlyDownloads() async throws {
    let local = try await Fixture(from: EncodedSource(need: .local), originals: originals)
    _ = try await local.cache.image(for: Photo("7"), format: .row)
    let annotated = EncodedSource { _, _ in
      .encoded(try solid(7).pngData()).with(metadata: Data([1]))
    }
    _ = try await Fixture(from: annotated, originals: originals).cache.image(
      for: Photo("7"), format: .row)
    let bitmaps = EncodedSource { _, _ in .bitmap(try solid(7)) }
    _ = try await Fixture(from: bitmaps, originals: originals).cache.image(
      for: Photo("7"), format: .row)
    #expect(originals.writes.value == 0 && originals.count == 0)
  }

  @Test("is made of what a chain of sources got from the network")
  func keepsFromChain() async throws {
    let nothing = EncodedSource(need: .local) { _, _ in throw ImageSourceError.notFound(path: "") }
    let chain = ImageSourceChain([nothing, EncodedSource()])
    let fixture = try await Fixture(from: chain, originals: originals)
    _ = try await fixture.image(Photo("7"))
    await originals.written.reaches(1)
    #expect(originals["test:/7"] != nil)
  }

  @Test("belongs to its account and to the name that its entity gives it")
  func hasName() async throws {
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    func photo(_ signature: String) -> SignedPhoto {
      SignedPhoto(
        url: URL(fileURLWithPath: "/7").appending(queryItems: [.init(name: "s", value: signature)]))
    }
    let alice = LoadOptions(account: AccountID("alice"))
    _ = try await fixture.image(photo("x"), .row, alice)
    await originals.written.reaches(1)
    _ = try await fixture.image(photo("y"), .large, alice)
    #expect(source.started.value == 1)
    #expect(originals["photo", AccountID("alice")] != nil && originals["photo"] == nil)
    try await fixture.cache.removeImage(for: "photo", format: .large)
    _ = try await fixture.image(photo("z"), .large, LoadOptions(account: AccountID("bob")))
    #expect(source.started.value == 2)
  }

  @Test("does not answer a request with other fields than its server saw")
  func heedsVary() async throws {
    let terms = ResponseMetadata(fields: ["Vary": "Accept"], received: Date())
    let source = EncodedSource { request, call in
      let arrival = request.begin(terms)
      try arrival.append(try solid(call).pngData())
      return .arrived(arrival)
    }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    _ = try await fixture.image(Photo("a"))
    await originals.written.reaches(1)
    let other = try await fixture.image(Photo("a"), .large, asked(["Accept": "image/webp"]))
    #expect(other.solidNumber == 2)
  }

  private func asked(_ fields: [String: String]) -> LoadOptions {
    LoadOptions { $0.headers = fields }
  }

  @Test(
    "answers other accounts and fields only after its server has called it unchanged to them",
    arguments: ["Authorization", "Cookie", "Accept"])
  func answersConfirmed(_ name: String) async throws {
    let source = EncodedSource { request, call in
      request.known == nil
        ? .encoded(try solid(call).pngData()) : .unchanged(ResponseMetadata(received: Date()))
    }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    originals.opened.increment()
    func image(_ value: String?) async throws -> Int? {
      try await fixture.cache.removeImage(for: Photo("a"), format: .large)
      let options = value.map { asked([name: $0]) } ?? LoadOptions()
      return try await fixture.image(Photo("a"), .large, options)
        .solidNumber
    }
    var terms = ResponseMetadata(fields: ["ETag": "\"x\"", "Vary": "Accept"], received: Date())
    terms.recordRequest([name: "1"])
    originals["test:/a"] = MemoryOriginals.Entry(
      bytes: try solid(9).pngData(), terms: terms, entity: "a")
    #expect(try await image("1") == 9 && source.started.value == 0)
    #expect(try await image("2") == 9 && source.started.value == 1)
    #expect(source.requests.last?.known != nil)
    // The server was asked with the second fields last.
    #expect(try await image("2") == 9 && source.started.value == 1)
    #expect(try await image("1") == 9 && source.started.value == 2)
    #expect(try await image(nil) == 9 && source.started.value == 3)
  }

  @Test("is neither shown to another account whose server fails nor taken for its older image")
  func isNotShared() async throws {
    let failure = Lock<ImageSourceError?>(.offline)
    let source = EncodedSource { _, call in
      if let failure = failure.withLock({ $0 }) { throw failure }
      return .encoded(try solid(call).pngData())
    }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    originals.opened.increment()
    try await fixture.cache.store(try solid(9).pngData(), for: Photo("a"), format: .row)
    var terms = ResponseMetadata(fields: ["ETag": "\"x\""], received: Date())
    terms.recordRequest(["Authorization": "1"])
    for freshness in [Freshness.fresh, .expired(answersFailures: true)] {
      originals["test:/a"] = MemoryOriginals.Entry(
        bytes: try solid(9).pngData(), terms: terms, entity: "a", freshness: freshness)
      await #expect(throws: ImageCacheError.self) {
        try await fixture.image(Photo("a"), .large, asked(["Authorization": "2"]))
      }
    }
    failure.withLock { $0 = nil }
    #expect(
      try await fixture.image(Photo("a"), .large, asked(["Authorization": "2"])).solidNumber == 3)
    await fixture.quiet()
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 9)
  }

  @Test("by a date alone is asked about for its own account and fields only")
  func heedsDates() async throws {
    let source = EncodedSource { _, call in .encoded(try solid(call).pngData()) }
    let fixture = try await Fixture([.row, .large], from: source, originals: originals)
    originals.opened.increment()
    var terms = ResponseMetadata(
      fields: ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], received: Date())
    terms.recordRequest(["Cookie": "1"])
    originals["test:/a"] = MemoryOriginals.Entry(
      bytes: try solid(9).pngData(), terms: terms, entity: "a")
    let image = try await fixture.image(Photo("a"), .large, asked(["Cookie": "2"]))
    #expect(image.solidNumber == 1 && source.requests.last?.known == nil)
  }

  @Test("goes with the entity's images, and no load under way brings it back")
  func goesWithImages() async throws {
    let (fixture, source, gate) = try await Fixture.gatedNetwork(originals: originals)
    try originals.put(1, as: "test:/1", entity: "7")
    let load = Task { try await fixture.image(Photo("7")) }
    await source.started.reaches(1)
    try await fixture.cache.removeImages(for: Photo("7"))
    gate.open()
    #expect(try await load.value.solidNumber == 7)
    await fixture.quiet()
    #expect(originals.count == 0 && originals.writes.value == 0)
  }

  @Test("goes with one entity's images, although another one shares the load")
  func goesWithShared() async throws {
    let (gate, asked) = (Gate(), Counter())
    let fixture = try await Fixture(from: EncodedSource(), originals: originals) {
      $0.willStore = { _ in
        asked.increment()
        gate.waitBlocking()
      }
    }
    let first = Task { try await fixture.image(Photo("7")) }
    await asked.reaches(1)
    try await fixture.cache.removeImages(for: Photo("7"))
    let late = Task { try await fixture.image(Photo("b", url: "test:/7")) }
    await fixture.subscribers(2)
    gate.open()
    _ = try await (first.value, late.value)
    await fixture.quiet()
    #expect(originals.count == 0 && originals.writes.value == 0)
  }

  @Test("whose image is too large for a cache stays, for others")
  func staysTooLarge() async throws {
    let fixture = try await Fixture(from: source, originals: originals) {
      $0.limits.encodedByteCount = 10
    }
    try originals.put(7, as: "test:/7")
    await #expect(throws: ImageCacheError.self) { try await fixture.image(Photo("7")) }
    #expect(originals.count == 1 && originals.dropped.value == 0 && source.started.value == 0)
  }

  @Test(
    "is made of bytes or a file stored by hand, and no load replaces it",
    arguments: [false, true])
  func isStoredByHand(fromFile: Bool) async throws {
    let bytes = try solid(8).pngData()
    let (fixture, source, gate) = try await Fixture.gatedNetwork(
      [.row, .large], originals: originals)
    let load = Task { try await fixture.image(Photo("7"), .large) }
    await source.started.reaches(1)
    if fromFile {
      let file = fixture.directory.url.appendingPathComponent("photo.png")
      try bytes.write(to: file)
      try await fixture.cache.store(contentsOf: file, for: Photo("7"), format: .row)
    } else {
      try await fixture.cache.store(bytes, for: Photo("7"), format: .row)
    }
    gate.open()
    _ = try await load.value
    await fixture.quiet()
    #expect(originals["test:/7"]?.bytes == bytes)
    #expect(originals.writes.value == 1)
  }

  @Test("is asked for by a source that wants what is kept of its own URL")
  func isAskedForBySource() async throws {
    let cache = Lock<ImageCache?>(nil)
    let source = EncodedSource { _, _ in
      let kept = try await cache.withLock({ $0 })?.image(
        for: Photo("7"), format: .row, options: LoadOptions(scope: .cache))
      return .encoded(try solid((kept?.solidNumber ?? 0) + 1).pngData())
    }
    let fixture = try await Fixture(from: source, originals: originals)
    cache.withLock { $0 = fixture.cache }
    defer { cache.withLock { $0 = nil } }
    try originals.put(4, as: "test:/7")
    let image = try await fixture.image(Photo("7"), .row, LoadOptions(.reload))
    #expect(image.solidNumber == 5)
  }
}

/// A photo whose URL is signed anew for each request.
private struct SignedPhoto: ImageEntity {
  let url: URL
  var imageID: ImageID { "photo" }
  func sourceURL(for format: ImageFormat) -> URL? { url }
  func versionID(for format: ImageFormat) -> ImageID { imageID }
  func originalID(for format: ImageFormat) -> ImageID { imageID }
}

@Suite("The progress of a load says where its bytes came from:", .timeLimit(.minutes(10)))
struct ByteOriginTests {
  private let image: Data
  private let terms: ResponseMetadata

  init() throws {
    image = try solid(7).pngData()
    terms = ResponseMetadata(
      fields: ["ETag": #""x""#, "Content-Length": "\(image.count)"], received: Date())
  }

  private func origins(
    _ fixture: Fixture, _ options: LoadOptions = LoadOptions(), photo: Photo = Photo("7")
  ) async -> [ByteOrigin] {
    var origins: [ByteOrigin] = []
    for await step in fixture.cache.progress(for: photo, format: .row, options: options) {
      if case .arrived(let origin) = step { origins.append(origin) }
    }
    return origins
  }

  @Test("the source; no origin for an image that its table has")
  func ofSource() async throws {
    let fixture = try await Fixture(from: EncodedSource())
    #expect(await origins(fixture) == [.source])
    #expect(await origins(fixture) == [])
    #expect(await origins(fixture, LoadOptions(.reload)) == [.source])
  }

  @Test("an earlier load and the source; a repetition within the load is none")
  func ofEarlierLoads() async throws {
    let source = EncodedSource { [image, terms] request, call in
      var arrival = request.begin(terms, continuing: request.known)
      if call == 2 {
        // As the source for web servers does after a request that broke off.
        try arrival.append(image.dropFirst(arrival.byteCount).prefix(10))
        var known = KnownOriginal(terms: terms, bytes: arrival.bytes, isWhole: false)
        known.earlierByteCount = arrival.earlierByteCount
        arrival = request.begin(terms, continuing: known)
      }
      let end = call == 1 ? 20 : image.count
      try arrival.append(image.prefix(end).dropFirst(arrival.byteCount))
      if call == 1 { throw ImageSourceError.network("cut") }
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    #expect(await origins(fixture) == [])
    #expect(await origins(fixture) == [.resumed(after: 20, of: image.count)])
  }

  @Test("a web server whose answer broke off within the load, and the source alone")
  func ofRetries() async throws {
    let file = HTTPFile(image, entityTag: #""x""#)
    let server = try HTTPServer { request in
      let reply = file.reply(to: request)
      return request.number == 1 ? reply.inserting(.cut, after: 20) : reply
    }
    let fixture = try await Fixture(from: URLImageSource(http: .retrying(1)))
    let photo = Photo("7", url: server.url("/7").absoluteString)
    #expect(await origins(fixture, photo: photo) == [.source])
    #expect(server.arrivedRequests(for: "/7").map { $0.headers["range"] } == [nil, "bytes=20-"])
  }

  @Test("a store; a store and the source that calls it unchanged; the source that replaces it")
  func ofStore() async throws {
    let originals = MemoryOriginals()
    try originals.put(7, as: "test:/7")
    let other = try solid(8).pngData()
    let source = EncodedSource { [image, terms] _, call in
      switch call {
      case 1: .unchanged(terms)
      case 2: .encoded(image)
      default: .encoded(other)
      }
    }
    let fixture = try await Fixture(from: source, originals: originals)
    #expect(await origins(fixture) == [.original])
    // The same bytes say so, too.
    for expected in [ByteOrigin.unchanged, .unchanged, .source] {
      let found = await origins(fixture, LoadOptions(.revalidate))
      #expect(found == [expected])
      // An equal request would join the load while it keeps its original.
      await fixture.quiet()
    }
  }

  @Test("bytes that turn out to be no image are followed by another origin")
  func ofSecondTry() async throws {
    let originals = MemoryOriginals()
    originals["test:/7"] = MemoryOriginals.Entry(
      bytes: image.prefix(image.count / 2), terms: terms, entity: "a")
    originals.opened.increment()
    let fixture = try await Fixture(from: EncodedSource(), originals: originals)
    // The first may not have been read before the second takes its place.
    let origins = await origins(fixture)
    #expect(origins.last == .source && [[], [.original]].contains(origins.dropLast()))
  }
}
