import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The entries of a cache", .timeLimit(.minutes(10)))
struct EntriesTests {
  private func all(
    _ cache: ImageCache, in format: ImageFormat? = nil
  ) async throws -> [CacheEntry] {
    try await cache.entries(in: format).reduce(into: []) { $0.append($1) }
  }

  private func store(_ ids: [ImageID], in cache: ImageCache) async throws {
    for id in ids { try await cache.store(solid(1), for: Photo(id), format: .row) }
  }

  @Test("are those of every format, with all that is known of them")
  func listsAll() async throws {
    let fixture = try await Fixture([.row, .large, .dot])
    let before = Date()
    let uuid = UUID()
    try await fixture.cache.store(
      solid(1), for: Photo(ImageID(uuid), version: 7), format: .large,
      metadata: Data("by the sea".utf8))
    try await store(["a", 5], in: fixture.cache)
    let entries = try await all(fixture.cache)
    #expect(entries.map(\.format.name) == ["row", "row", "large", "dot"])
    #expect(entries.map(\.imageID) == ["a", 5, ImageID(uuid), ImageID(uuid)])
    #expect(entries.map(\.versionID) == ["test:/a", "test:/5", 7, 7])
    #expect(
      entries.map(\.metadata) == [nil, nil] + Array(repeating: Data("by the sea".utf8), count: 2))
    #expect(entries[2].size == ImageFormat.large.size && entries[3].size == ImageFormat.dot.size)
    #expect(entries.allSatisfy { (before...Date()).contains($0.dateStored) })
    #expect(entries.allSatisfy { $0.byteCount >= $0.size.width * $0.size.height })
    #expect(try await all(fixture.cache, in: .dot) == [entries[3]])
  }

  @Test("have no id where it is too long for the slot, and recognise it")
  func recognisesLongIDs() async throws {
    let fixture = try await Fixture()
    let long = ImageID(String(repeating: "long", count: 300))
    try await fixture.cache.store(solid(1), for: Photo(long, version: 1), format: .row)
    let entry = try #require(try await all(fixture.cache).first)
    #expect(entry.imageID == nil && entry.versionID == 1)
    #expect(entry.isImage(of: long) && entry.isImage(of: long, version: 1))
    #expect(!entry.isImage(of: "a") && !entry.isImage(of: long, version: 2))
    #expect(try await fixture.cache.removeImages { $0.isImage(of: long) } == 1)
    #expect(!fixture.cache.containsImage(for: long, format: .row))
  }

  @Test("come although the loop changes the cache")
  func toleratesChanges() async throws {
    let fixture = try await Fixture([.row.with(capacity: 400)])
    let format = ImageFormat.row.with(capacity: 400)
    for number in 0..<300 {
      try await fixture.cache.store(solid(number), for: Photo(ImageID(number)), format: format)
    }
    var seen: Set<ImageID> = []
    for try await entry in fixture.cache.entries() {
      let id = try #require(entry.imageID)
      seen.insert(id)
      try await fixture.cache.removeImage(for: id, format: format)
    }
    #expect(seen.count == 300)
    #expect(try await all(fixture.cache).isEmpty)
  }

  @Test("of an unknown format, a closed cache or a cancelled task are an error, and then no more")
  func throwsErrors() async throws {
    let fixture = try await Fixture()
    try await store(["a"], in: fixture.cache)
    await #expect(throws: ImageCacheError.unknownFormat("large")) {
      try await all(fixture.cache, in: .large)
    }
    await #expect(throws: ImageCacheError.unknownFormat("large")) {
      try await fixture.cache.removeImages(in: .large) { _ in true }
    }
    let cache = fixture.cache
    let cancelled = Task { () async throws in
      withUnsafeCurrentTask { $0?.cancel() }
      var iterator = cache.entries().makeAsyncIterator()
      await #expect(throws: ImageCacheError.cancelled) { try await iterator.next() }
      #expect(try await iterator.next() == nil)
      await #expect(throws: ImageCacheError.cancelled) {
        try await cache.removeImages { _ in true }
      }
    }
    try await cancelled.value
    #expect(cache.containsImage(for: Photo("a"), format: .row))
    await fixture.cache.close()
    await #expect(throws: ImageCacheError.closed) { try await all(fixture.cache) }
  }

  @Test("can be removed by what they say, and the count and the events tell of each")
  func removes() async throws {
    let directory = try TemporaryDirectory()
    let fixture = try await Fixture([.row, .large], directory: directory)
    try await store(["a", "b", "c"], in: fixture.cache)
    try await fixture.cache.store(solid(1), for: Photo("b"), format: .large)
    let events = fixture.cache.events()
    // A variable of the caller: the closure does not leave its actor.
    var asked = 0
    let count = try await fixture.cache.removeImages(in: .row) { entry in
      asked += 1
      return entry.imageID != "a"
    }
    #expect(count == 2 && asked == 3)
    #expect(fixture.cache.cachedFormats(for: Photo("b")).map(\.name) == ["large"])
    #expect(try await fixture.cache.removeImages { $0.imageID == "b" } == 1)
    await fixture.cache.close()
    var removed: [ImageID?] = []
    for await event in events {
      if case .removed(let entity, _) = event { removed.append(entity) }
    }
    #expect(removed == ["b", "c", "b"])
    let later = try await Fixture([.row, .large], directory: directory)
    #expect(try await all(later.cache).map(\.imageID) == ["a"])
  }

  @Test("are not removed where another image took their place")
  func sparesNewer() async throws {
    let fixture = try await Fixture()
    try await store(["a", "b"], in: fixture.cache)
    // Another cache of the process stores between the look and the removal.
    let other = try await Fixture(directory: fixture.directory)
    let table = try #require(other.cache.tables[.row])
    let newer = Photo("a", version: "2")
    let key = ImageKey(entity: "a", version: "2", format: ImageFormat.row.name)
    let bitmap = try solid(2, size: ImageFormat.row.size)
    let slot = try table.drawSlot(for: key, size: ImageFormat.row.size) { bytes, _ in
      bitmap.withUnsafeBytes { bytes.copyMemory(from: $0) }
    }
    let count = try await fixture.cache.removeImages { entry in
      if entry.imageID == "a" {
        _ = try? table.store(
          slot, for: key, other.cache.recorder, .byHand(at: Generation.next()), oldest: { .max })
      }
      return true
    }
    #expect(count == 1)
    #expect(fixture.cache.cachedImage(for: newer, format: .row)?.solidNumber == 2)
    #expect(!fixture.cache.containsImage(for: "b", format: .row))
  }
}

@Suite("An inspection", .timeLimit(.minutes(10)))
struct InspectionTests {
  @Test("lists each table's images by their use, with the bytes that its file takes, and no load")
  func listsTables() async throws {
    let fixture = try await Fixture([.row, .dot])
    for (number, name) in ["a", "b"].enumerated() {
      try await fixture.cache.store(solid(number), for: Photo(ImageID(name)), format: .row)
    }
    try await fixture.cache.flush()
    _ = fixture.cache.cachedImage(for: Photo("a"), format: .row)
    let inspection = try await fixture.cache.inspect()
    #expect(inspection.namespace == "test" && inspection.loads.isEmpty)
    #expect(inspection.tables.map(\.format.name) == ["row", "dot"])
    let row = try #require(inspection.tables.first)
    #expect(row.entries.map(\.imageID) == [Photo("a").imageID, Photo("b").imageID])
    let figures = await fixture.cache.statistics().tables[0]
    #expect(row.slotCount == figures.slotCount)
    #expect(row.diskByteCount >= 2 * row.entries[0].byteCount && row.mappedByteCount > 0)
    #expect(inspection.tables[1].entries.isEmpty)
  }

  @Test("tells the bytes in memory, and that none is dirty once they were brought to the disk")
  func tellsResidency() async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    let image = try #require(fixture.cache.cachedImage(for: Photo("a"), format: .row))
    let table = try #require(try await fixture.cache.inspect().tables.first)
    // What was written a moment ago, and is looked at, is in memory.
    #expect(try #require(table.residentByteCount) >= table.entries[0].byteCount / 2)
    withExtendedLifetime(image) {}
    // Older kernels do not tell.
    guard let dirty = table.dirtyByteCount else { return }
    #expect(dirty <= table.residentByteCount ?? 0)
    try await fixture.cache.flush()
    #expect(try await fixture.cache.inspect().tables.first?.dirtyByteCount == 0)
  }

  @Test("lists the loads under way, with their images and subscribers")
  func listsLoads() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, _ in
        try await gate.pass()
        return .bitmap(try solid(1))
      })
    let requests = (0..<2).map { _ in
      Task(priority: .high) { try await fixture.image(Photo("a")) }
    }
    await fixture.subscribers(2)
    let loads = try await fixture.cache.inspect().loads
    let load = try #require(loads.first)
    #expect(loads.count == 1 && load.requestCount == 2)
    #expect(load.url == Photo("a").sourceURL(for: .row))
    #expect(load.images == [.init(imageID: Photo("a").imageID, format: "row")])
    #expect(load.priority >= .high)
    gate.open()
    for request in requests { _ = try await request.value }
    await fixture.quiet()
    #expect(try await fixture.cache.inspect().loads.isEmpty)
  }

  @Test("of a namespace that no cache has open tells the same, from the files alone")
  func readsClosed() async throws {
    let fixture = try await Fixture()
    for (number, name) in ["a", "b", "c"].enumerated() {
      try await fixture.cache.store(
        solid(number), for: Photo(ImageID(name)), format: .row, metadata: Data(name.utf8))
    }
    try await fixture.cache.removeImages(for: Photo("b"))
    _ = fixture.cache.cachedImage(for: Photo("a"), format: .row)
    let open = try await fixture.cache.inspect()
    await fixture.cache.close()
    let closed = try await ImageCache.inspect(namespace: "test", in: fixture.directory.url)
    #expect(closed.namespace == "test" && closed.originals.isEmpty && closed.loads.isEmpty)
    let (was, table) = (try #require(open.tables.first), try #require(closed.tables.first))
    #expect(table.entries.map(\.imageID) == was.entries.map(\.imageID))
    #expect(table.entries.map(\.metadata) == [Data("a".utf8), Data("c".utf8)])
    #expect(table.entries.map(\.byteCount) == was.entries.map(\.byteCount))
    #expect(table.format.size == was.format.size && table.slotCount == was.slotCount)
    #expect(table.format.pixelFormat == was.format.pixelFormat && table.mappedByteCount == 0)
  }

  @Test("of a namespace without a folder is empty, and makes none")
  func findsNothing() async throws {
    let directory = try TemporaryDirectory()
    let inspection = try await ImageCache.inspect(namespace: "none", in: directory.url)
    #expect(inspection.tables.isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty)
    await #expect(throws: ImageCacheError.self) {
      try await ImageCache.inspect(namespace: "", in: directory.url)
    }
  }
}
