import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A removal", .timeLimit(.minutes(10)))
struct OriginalRemovalTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test("from a store reaches all its caches' loads", arguments: [nil, ImageID("7"), ImageID("8")])
  func reachesAllLoads(entity: ImageID?) async throws {
    let gate = CancellableGate()
    let source = EncodedSource(gate: gate)
    let store = OriginalStore(directory: directory.url)
    let caches = try await [
      Fixture(from: source) { $0.originals = store },
      Fixture(from: source) { $0.originals = store },
    ]
    let photos = ["7", "8"].map { Photo($0) }
    let loads = zip(caches, photos).map { fixture, photo in
      Task { try await fixture.image(photo) }
    }
    await source.started.reaches(2)
    if let entity {
      try await store.removeAll(of: entity, in: "test")
    } else {
      try await store.removeAll()
    }
    gate.open()
    for (load, number) in zip(loads, 7...) { #expect(try await load.value.solidNumber == number) }
    for fixture in caches { await fixture.quiet() }
    func isKept(_ photo: Photo) -> Bool {
      let id = ImageID("test:/\(photo.id)")
      let name = OriginalName(id: id, address: id)
      return store.look(
        OriginalQuery(name: name, version: id, owner: OriginalOwner(namespace: "test", entity: id)))
        != nil
    }
    #expect(photos.map(isKept) == photos.map { entity != nil && $0.id != entity })
    // Loads that begin afterwards keep.
    for (fixture, photo) in zip(caches, photos) {
      try await fixture.cache.removeImage(for: photo, format: .row)
      _ = try await fixture.image(photo)
      await fixture.quiet()
    }
    #expect(photos.allSatisfy(isKept))
  }

  @Test(
    "from a store of originals takes what its caches have in memory of downloads that broke off",
    arguments: ["id", "entity", "account", "all", "move"])
  func reachesMemory(kind: String) async throws {
    let (gate, arrived) = (CancellableGate(), Counter())
    let image = try solid(7).pngData()
    let terms = ResponseMetadata(
      fields: ["ETag": "\"x\"", "Content-Length": "\(image.count)"], received: Date())
    let source = EncodedSource { request, call in
      let arrival = request.begin(terms, continuing: request.known)
      if arrival.byteCount == 0 { try arrival.append(image.prefix(20)) }
      // The loads of the first two calls break off, the others' go on until they are cancelled.
      if call <= 2 { throw ImageSourceError.network("cut") }
      arrived.increment()
      try await gate.pass()
      return .encoded(image)
    }
    let store = OriginalStore(directory: directory.url)
    let caches = try await [
      Fixture(from: source) { $0.originals = store },
      Fixture(from: source) { $0.originals = store },
    ]
    let (photo, options) = (Photo("7"), LoadOptions(account: AccountID("alice")))
    for fixture in caches {
      await #expect(throws: ImageCacheError.self) { try await fixture.image(photo, .row, options) }
      #expect(fixture.cache.partials.byteCount == 20)
    }
    let load = Task {
      try await caches[0].cache.image(for: photo, format: .row, options: options)
    }
    await arrived.reaches(1)
    switch kind {
    case "id": try await store.remove("test:/7", for: options.account)
    case "entity": try await store.removeAll(of: "7", in: nil)
    case "account": try await store.removeAll(for: try #require(options.account))
    case "move": try await caches[1].cache.moveImages(from: "7", to: "8")
    default: try await store.removeAll()
    }
    load.cancel()
    await caches[0].cache.loadsHaveEnded()
    #expect(caches.map { $0.cache.partials.byteCount } == [0, 0])
  }

  @Test(
    "reaches the refresh that a stale original has caused when it answered",
    arguments: ["id", "entity", "account", "all", "images", "move"])
  func reachesRefresh(kind: String) async throws {
    let (gate, asked, ada) = (CancellableGate(), Counter(), AccountID("ada"))
    let server = try HTTPServer(
      scripts: [
        "/a": try [7, 8].map {
          .ok(try solid($0).pngData(), headers: ["Cache-Control": "max-age=0"])
        }
      ])
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: URLImageSource()) { $0.originals = store }
    var photo = Photo("a", url: server.url("/a").absoluteString)
    photo.ownImage = { _ in
      // The third load is the refresh, which waits before it turns to the store.
      if asked.increment() == 3 { try await gate.pass() }
      return nil
    }
    let options = LoadOptions(account: ada)
    _ = try await fixture.image(photo, .row, options)
    await fixture.quiet()
    await store.settle()
    try await fixture.cache.removeImage(for: photo, format: .row)
    #expect(try await fixture.image(photo, .row, options).solidNumber == 7)
    await asked.reaches(3)
    switch kind {
    case "id": try await store.remove(ImageID(server.url("/a")), for: ada)
    case "entity": try await store.removeAll(of: "a", in: "test")
    case "account": try await store.removeAll(for: ada)
    case "all": try await store.removeAll()
    case "images": try await fixture.cache.removeImages(for: photo)
    default: try await fixture.cache.moveImages(from: "a", to: "b")
    }
    gate.open()
    await fixture.cache.loadsHaveEnded()
    #expect(server.requests.value == 2)
    #expect(try await store.inspect().map(\.entity) == (kind == "move" ? ["b"] : []))
    // A load that begins afterwards keeps.
    try await fixture.cache.removeImage(for: photo, format: .row)
    _ = try await fixture.image(photo, .row, LoadOptions(.reload, account: ada))
    await fixture.cache.loadsHaveEnded()
    #expect(try await store.inspect().map(\.entity) == ["a"])
  }

  @Test("of an entity leaves the original that another one of the same URL has loaded")
  func leavesOthers() async throws {
    let source = EncodedSource()
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: source) { $0.originals = store }
    let (owner, other) = (Photo("a", url: "test:/7"), Photo("b", url: "test:/7"))
    for photo in [owner, other] {
      _ = try await fixture.image(photo)
      await fixture.cache.loadsHaveEnded()
    }
    try await fixture.cache.removeImages(for: other)
    #expect(try await fixture.image(other).solidNumber == 7)
    await fixture.cache.loadsHaveEnded()
    #expect(source.started.value == 1)
    try await fixture.cache.removeImages(for: owner)
    #expect(try await store.inspect().isEmpty)
    #expect(fixture.cache.containsImage(for: other, format: .row))
    try await fixture.cache.removeImages(for: other)
    _ = try await fixture.image(other)
    await fixture.cache.loadsHaveEnded()
    // Now it is the other's, and its name reaches it whoever has it.
    #expect(try await store.inspect().map(\.entity) == ["b"])
    try await store.remove("test:/7")
    #expect(try await store.inspect().isEmpty)
  }

  @Test("is a store by hand for the loads of all caches: none keeps an older original over it")
  func storedByHand() async throws {
    let gate = CancellableGate()
    let source = EncodedSource(gate: gate)
    let store = OriginalStore(directory: directory.url)
    let fixture = try await Fixture(from: source) { $0.originals = store }
    let other = try await Fixture(from: source) { $0.originals = store }
    let photo = Photo("a", url: "test:/8")
    let load = Task { try await other.cache.image(for: photo, format: .row) }
    await source.started.reaches(1)
    let bytes = try solid(7).pngData()
    try await fixture.cache.store(bytes, for: photo, format: .row)
    gate.open()
    #expect(try await load.value.solidNumber == 8)
    await other.cache.loadsHaveEnded()
    #expect(try await store.bytes(of: "test:/8") == bytes)
  }

  @Test("of a kept original that is no image lets its load keep another")
  func replacesWrongOriginal() async throws {
    let store = OriginalStore(directory: directory.url)
    await store.keep(7, Data("no image".utf8))
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    #expect(try await fixture.image(Photo("7")).solidNumber == 7)
    await fixture.cache.loadsHaveEnded()
    #expect(try await store.kept(7) == (try solid(7).pngData()))
  }

  @Test("of an entity's images empties the tables, although its store fails, as a flush does then")
  func outlastsStore() async throws {
    let originals = MemoryOriginals()
    let fixture = try await Fixture([.row, .large], from: EncodedSource(), originals: originals)
    for format in [ImageFormat.row, .large] {
      _ = try await fixture.image(Photo("7"), format)
    }
    await fixture.quiet()
    let failure = ImageCacheError.storageUnavailable("the store's disk")
    originals.failure.withLock { $0 = failure }
    await #expect(throws: failure) { try await fixture.cache.removeImages(for: Photo("7")) }
    #expect(fixture.cache.cachedFormats(for: Photo("7")).isEmpty)
    await #expect(throws: failure) { try await fixture.cache.flush() }
    #expect(originals.flushed.value == 1)
  }

  @Test("of originals outlasts a power cut once the cache was flushed")
  func isFlushed() async throws {
    let (calls, place, strength) = (Counter(), Lock<OriginalStore?>(nil), Lock<Int?>(nil))
    let folder = directory.url.appendingPathComponent("originals")
    let system = SystemCalls(observer: { call throws(SystemError) in
      guard call.kind == .synchronize else { return }
      calls.increment()
      let database = place.withLock { $0 }?.writer.database
      strength.withLock { $0 = try? database?.number("PRAGMA synchronous") }
    })
    let store = OriginalStore(folder, 1 << 24, system: system) { originalTime * 1_000_000 }
    place.withLock { $0 = store }
    defer { place.withLock { $0 = nil } }
    let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
    try await fixture.cache.flush()
    #expect(calls.value == 0 && !FileManager.default.fileExists(atPath: store.directory.path))
    _ = try await fixture.image(Photo("7"))
    await fixture.quiet()
    try await fixture.cache.removeImages(for: Photo("7"))
    #expect(calls.value == 0)
    func logByteCount() throws -> Int {
      let log = folder.path + "/originals.sqlite-wal"
      return try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int ?? 0
    }
    let before = try logByteCount()
    try await fixture.cache.flush()
    #expect(calls.value == 1)
    // SQLite brings its log to the device with a commit that changes a page, and with no other.
    #expect(try logByteCount() > before)
    // `FULL`, which waits for the device.
    #expect(strength.withLock { $0 } == 2)
  }
}
