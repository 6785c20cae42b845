import Foundation
import Locking
import OriginalDatabase
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A load of an original that broke off", .timeLimit(.minutes(10)))
struct ResumptionTests {
  private let image: Data
  private let terms: ResponseMetadata

  init() throws {
    image = try solid(7).pngData()
    terms = Self.terms("x", count: image.count)
  }

  private static func terms(_ tag: String, count: Int) -> ResponseMetadata {
    ResponseMetadata(
      fields: ["ETag": "\"\(tag)\"", "Content-Length": "\(count)"], received: Date())
  }

  /// Fails the first call after twenty bytes, and continues what later calls know.
  private func failingOnce(
    _ later: @escaping @Sendable (ImageSourceRequest, Int) async throws -> Void = { _, _ in }
  ) -> EncodedSource {
    EncodedSource { [image, terms] request, call in
      if call == 1 {
        try request.begin(terms).append(image.prefix(20))
        throw ImageSourceError.truncatedBody(received: 20, expected: image.count)
      }
      try await later(request, call)
      let arrival = request.begin(terms, continuing: request.known)
      try arrival.append(image.dropFirst(arrival.byteCount))
      return .arrived(arrival)
    }
  }

  /// Has a load fail after twenty bytes.
  private func breakOff(
    _ fixture: Fixture, _ photo: Photo = Photo("7"), _ options: LoadOptions = LoadOptions()
  ) async {
    await #expect(throws: ImageCacheError.self) { try await fixture.image(photo, .row, options) }
  }

  private func image(
    _ fixture: Fixture, _ options: LoadOptions = LoadOptions()
  ) async throws -> Int? {
    try await fixture.image(Photo("7"), .row, options).solidNumber
  }

  /// The counts of bytes that the source was told of, by call.
  private func known(_ source: EncodedSource) -> [Int?] {
    source.requests.map { $0.known?.bytes.count }
  }

  @Test("goes on where the last one failed, and leaves nothing once its image is drawn")
  func continues() async throws {
    let source = failingOnce()
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    #expect(fixture.cache.partials.byteCount == 20)
    #expect(try await image(fixture) == 7)
    #expect(known(source) == [nil, 20] && source.requests[1].known?.terms == terms)
    await fixture.quiet()
    #expect(fixture.cache.partials.byteCount == 0)
  }

  @Test("counts the bytes that come, and those of the load before no second time")
  func countsBytes() async throws {
    let source = failingOnce()
    let fixture = try await Fixture(from: source)
    var events = fixture.cache.events().makeAsyncIterator()
    await breakOff(fixture)
    #expect(await fixture.cache.statistics().fetchedByteCount == 20)
    #expect(try await image(fixture) == 7)
    await fixture.quiet()
    let statistics = await fixture.cache.statistics()
    #expect(statistics.fetchedByteCount == image.count && statistics.fetches == 1)
    while let event = await events.next() {
      guard case .fetched(_, let byteCount, _) = event else { continue }
      #expect(byteCount == image.count - 20)
      break
    }
  }

  @Test("goes on where the last one was when its last subscriber left")
  func continuesCancelled() async throws {
    let (gate, arrived) = (CancellableGate(), Counter())
    let source = EncodedSource { [image, terms] request, call in
      let arrival = request.begin(terms, continuing: request.known)
      if call == 1 {
        try arrival.append(image.prefix(20))
        arrived.increment()
        try await gate.pass()
      }
      try arrival.append(image.dropFirst(arrival.byteCount))
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    let task = Task { try await image(fixture) }
    await arrived.reaches(1)
    task.cancel()
    await #expect(throws: ImageCacheError.self) { try await task.value }
    while fixture.cache.partials.byteCount == 0, !Task.isCancelled { await Task.yield() }
    #expect(try await image(fixture) == 7)
    #expect(known(source) == [nil, 20])
  }

  @Test("keeps what there was although it brings nothing itself")
  func bringsNothing() async throws {
    let source = failingOnce { _, call in
      if call == 2 { throw ImageSourceError.network("no route") }
    }
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    await breakOff(fixture)
    #expect(try await image(fixture) == 7)
    #expect(known(source) == [nil, 20, 20])
  }

  @Test("has what there is alone")
  func alone() async throws {
    let (gate, asked) = (Gate(), Counter())
    let source = failingOnce { _, _ in
      asked.increment()
      await gate.pass()
    }
    let fixture = try await Fixture(from: source)
    await breakOff(fixture, Photo("7", version: "1"))
    async let first = fixture.image(Photo("7", version: "1"))
    await asked.reaches(1)
    async let second = fixture.image(Photo("7", version: "2"))
    await asked.reaches(2)
    gate.open()
    #expect(try await [first.solidNumber, second.solidNumber] == [7, 7])
    #expect(known(source) == [nil, 20, nil])
  }

  @Test("knows nothing for another account, nor when it was told to reload")
  func conditions() async throws {
    let source = failingOnce()
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    #expect(try await image(fixture, LoadOptions(account: AccountID("a"))) == 7)
    try await fixture.cache.removeImage(for: Photo("7"), format: .row)
    #expect(try await image(fixture, LoadOptions(.reload)) == 7)
    #expect(known(source) == [nil, nil, nil])
  }

  @Test("continues no answer to other fields that its server heeds, and one to the same fields")
  func heedsVary() async throws {
    let terms = ResponseMetadata(
      fields: ["ETag": "\"x\"", "Content-Length": "\(image.count)", "Vary": "Accept-Language"],
      received: Date())
    let source = EncodedSource { [image] request, call in
      let arrival = request.begin(terms, continuing: request.known)
      if call < 3 {
        try arrival.append(image.dropFirst(arrival.byteCount).prefix(20))
        throw ImageSourceError.network("cut")
      }
      try arrival.append(image.dropFirst(arrival.byteCount))
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    var (german, french) = (LoadOptions(), LoadOptions())
    german.headers = ["Accept-Language": "de"]
    french.headers = ["Accept-Language": "fr"]
    await breakOff(fixture, Photo("7"), german)
    await breakOff(fixture, Photo("7"), french)
    #expect(try await image(fixture, french) == 7)
    #expect(known(source) == [nil, nil, 20])
  }

  @Test("knows nothing of what was removed, before it began or meanwhile")
  func removals() async throws {
    let (gate, asked) = (Gate(), Counter())
    let source = EncodedSource { [image, terms] request, call in
      try request.begin(terms, continuing: request.known).append(image.prefix(20))
      asked.increment()
      if call == 3 { await gate.pass() }
      throw ImageSourceError.network("cut")
    }
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    try await fixture.cache.removeImages(for: Photo("7"))
    await breakOff(fixture)
    try await fixture.cache.removeAllImages()
    async let third: Void = breakOff(fixture)
    await asked.reaches(3)
    try await fixture.cache.removeImages(for: Photo("7"))
    gate.open()
    await third
    #expect(known(source) == [nil, nil, nil] && fixture.cache.partials.byteCount == 0)
  }

  @Test(
    "asks for all bytes once more when the parts make no image",
    arguments: [Data("no image at all.....".utf8), nil])
  func partsOfTwo(start: Data?) async throws {
    let source = EncodedSource { [image, terms] request, call in
      if call == 3 { return .encoded(image) }
      let arrival = request.begin(terms, continuing: request.known)
      guard call == 2 else {
        try arrival.append(start ?? image.prefix(20))
        throw ImageSourceError.network("cut")
      }
      try arrival.append(Data(count: image.count - 20))
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    #expect(try await image(fixture) == 7)
    #expect(known(source) == [nil, 20, nil] && fixture.cache.partials.byteCount == 0)
  }

  @Test("that never makes an image asks no third time, fails, and keeps nothing")
  func hopeless() async throws {
    let source = EncodedSource { [image, terms] request, call in
      let arrival = request.begin(terms, continuing: request.known)
      try arrival.append(
        call == 1 ? image.prefix(20) : Data(count: image.count - arrival.byteCount))
      if call == 1 { throw ImageSourceError.network("cut") }
      return .arrived(arrival)
    }
    let fixture = try await Fixture(from: source)
    await breakOff(fixture)
    await #expect {
      try await image(fixture)
    } throws: { error in
      if case ImageCacheError.undecodable = error { true } else { false }
    }
    #expect(known(source) == [nil, 20, nil])
    await fixture.quiet()
    #expect(fixture.cache.partials.byteCount == 0)
  }

  @Test("only asks whether it changed when all bytes had come")
  func whole() async throws {
    let (gate, arrived) = (CancellableGate(), Counter())
    let newer = Self.terms("x", count: 0)
    let source = EncodedSource { [image, terms] request, call in
      guard call == 1 else { return .unchanged(newer) }
      try request.begin(terms).append(image)
      arrived.increment()
      try await gate.pass()
      throw ImageSourceError.network("cut")
    }
    let originals = MemoryOriginals()
    let fixture = try await Fixture(from: source, originals: originals)
    let task = Task { try await image(fixture) }
    await arrived.reaches(1)
    task.cancel()
    _ = await task.result
    while fixture.cache.partials.byteCount == 0, !Task.isCancelled { await Task.yield() }
    #expect(try await image(fixture) == 7)
    #expect(source.requests.last?.known?.isWhole == true)
    await originals.written.reaches(1)
    #expect(originals["test:/7"]?.bytes == image && originals.confirmed.value == 0)
    #expect(originals["test:/7"]?.terms.byteCount == image.count)
  }

  @Test("continues the newer version of an original that a store has")
  func newerThanKept() async throws {
    let originals = MemoryOriginals()
    try originals.put(1, as: "test:/7", freshness: .mustRevalidate(answersFailures: false))
    let source = failingOnce()
    let fixture = try await Fixture(from: source, originals: originals)
    await breakOff(fixture)
    #expect(try await image(fixture) == 7)
    #expect(source.requests.map { $0.known?.isWhole } == [true, false])
    await originals.written.reaches(1)
    #expect(originals["test:/7"]?.bytes == image && originals.confirmed.value == 0)
  }

  @Test("fetches what is missing, and all where that is refused", arguments: [nil, 401, 403, 500])
  func overHTTP(_ status: Int?) async throws {
    let file = HTTPFile(image, entityTag: "\"x\"")
    let server = try HTTPServer { request in
      if let status, request.headers["range"] != nil { return .status(status) }
      let reply = file.reply(to: request)
      return request.number == 1 ? reply.inserting(.cut, after: 20) : reply
    }
    let fixture = try await Fixture(from: URLImageSource(http: .patient))
    let photo = Photo("7", url: server.url("/7").absoluteString)
    await breakOff(fixture, photo)
    #expect(try await fixture.image(photo).solidNumber == 7)
    #expect(
      server.arrivedRequests(for: "/7").map { $0.headers["range"] }
        == [nil, "bytes=20-"] + (status == nil ? [] : [nil]))
    if status == nil { #expect(server.bodyByteCount(for: "/7") == image.count) }
    await fixture.quiet()
    #expect(fixture.cache.partials.byteCount == 0)
  }

  @Test(
    "drops what is refused, unless the server is out of order", arguments: [401, 403, 404, 503])
  func refusedWhole(_ status: Int) async throws {
    let file = HTTPFile(OriginalStore.bytes(7, count: 300_000), entityTag: "\"x\"")
    let server = try HTTPServer { request in
      request.number == 1
        ? file.reply(to: request).inserting(.cut, after: 200_000) : .status(status)
    }
    let directory = try TemporaryDirectory()
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: URLImageSource(http: .patient)) { $0.originals = store }
    let photo = Photo("7", url: server.url("/7").absoluteString)
    func kept() async throws -> (disk: [Int], memory: Int) {
      await fixture.cache.loadsHaveEnded()
      await store.queueIsDone()
      return (
        try await store.inspect().map(\.arrivedByteCount), fixture.cache.partials.byteCount
      )
    }
    await breakOff(fixture, photo)
    #expect(try await kept().disk == [Checksum.blockByteCount])
    await breakOff(fixture, photo)
    #expect(server.arrivedRequests(for: "/7").compactMap { $0.headers["range"] }.count == 1)
    let isKept = status == 503
    #expect(try await kept().disk.isEmpty == !isKept)
    #expect((try await kept().memory > 0) == isKept)
  }
}

@Suite("Partial downloads", .timeLimit(.minutes(10)))
struct PartialDownloadsTests {
  private let partials = PartialDownloads(room: 100)

  private func name(_ number: Int, _ account: AccountID? = nil) -> OriginalName {
    OriginalName(id: ImageID(number), account: account, address: "test:/")
  }

  private func arrival(_ count: Int, of total: Int, _ fields: [String: String] = [:])
    -> DownloadBuffer
  {
    let head = ["ETag": #""x""#, "Content-Length": "\(total)"].merging(fields) { $1 }
    let terms = ResponseMetadata(fields: head, received: Date(timeIntervalSince1970: 784_112_000))
    let bytes = Data(repeating: UInt8(truncatingIfNeeded: count), count: count)
    return DownloadBuffer(
      terms, continuing: KnownOriginal(terms: terms, bytes: bytes, isWhole: false),
      byteCountLimit: count)
  }

  /// What a load finds that begins now.
  private func take(_ name: OriginalName, from other: PartialDownloads? = nil) -> KnownOriginal? {
    let partials = other ?? partials
    let (load, known) = partials.begin(name, of: OriginalOwner(namespace: "a", entity: 0))
    partials.end(load, keeping: nil)
    return known
  }

  private func put(
    _ arrival: DownloadBuffer, as name: OriginalName, of entity: ImageID = 0,
    on other: PartialDownloads? = nil
  ) {
    let partials = other ?? partials
    let owner = OriginalOwner(namespace: "a", entity: entity)
    partials.end(partials.begin(name, of: owner).load, keeping: arrival)
  }

  @Test("keeps nothing that cannot be continued")
  func refusing() throws {
    let arrivals = [
      arrival(10, of: 20, ["ETag": #"W/"x""#]), arrival(10, of: 20, ["Accept-Ranges": "none"]),
      arrival(10, of: 20, ["Content-Length": ""]), arrival(0, of: 20), arrival(21, of: 20),
      arrival(101, of: 200),
    ]
    for (number, arrival) in arrivals.enumerated() {
      put(arrival, as: name(number))
      #expect(take(name(number)) == nil && partials.byteCount == 0, "\(number)")
    }
    put(arrival(100, of: 100), as: name(7))
    #expect(try #require(take(name(7))).isWhole)
  }

  @Test("has room for so many bytes, and lets the oldest go first")
  func room() {
    for number in 1...4 { put(arrival(30, of: 50), as: name(number)) }
    #expect(partials.byteCount == 90 && take(name(1)) == nil)
    put(arrival(20, of: 50), as: name(2))
    #expect(partials.byteCount == 80)
    put(arrival(50, of: 60), as: name(5))
    #expect(take(name(3)) == nil && take(name(2)) != nil && take(name(5)) != nil)
  }

  @Test("hands out nothing that is older than a week")
  func age() {
    let now = Lock(ContinuousClock.now)
    let partials = PartialDownloads(room: 100) { now.withLock { $0 } }
    for isOld in [false, true] {
      put(arrival(10, of: 20), as: name(1), on: partials)
      now.withLock { $0 += PartialDownloads.lifetime + (isOld ? .seconds(1) : .zero) }
      #expect((take(name(1), from: partials) == nil) == isOld)
    }
  }

  @Test("gives its memory back when it is told to; loads under way may fill it again")
  func trimming() {
    let memory = TrimmableMemory(
      tables: TableSet([]), source: URLImageSource(), partials: partials,
      watch: MemoryPressureWatch { _ in })
    for (level, count) in [(MemoryTrim.spare, 10), (.partials, 0), (.pages, 0)] {
      put(arrival(10, of: 20), as: name(1))
      let load = partials.begin(name(2), of: OriginalOwner(namespace: "a", entity: 0)).load
      memory.trim(level)
      #expect(partials.byteCount == count)
      partials.end(load, keeping: arrival(10, of: 20))
      #expect(take(name(2)) != nil && partials.byteCount == count)
    }
  }
}
