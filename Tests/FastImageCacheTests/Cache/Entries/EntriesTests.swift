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

  @Test("tell the order of use, which listing them does not change")
  func tellsUse() async throws {
    let fixture = try await Fixture()
    try await store(["a", "b", "c"], in: fixture.cache)
    _ = fixture.cache.cachedImage(for: Photo("a"), format: .row)
    for _ in 0..<2 {
      let entries = try await all(fixture.cache).sorted { $0.lastUse < $1.lastUse }
      #expect(entries.map(\.imageID) == ["b", "c", "a"])
    }
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

  @Test("of a format that is not stored on this device are none")
  func listsNothingUnstored() async throws {
    let phone = ImageFormat(
      name: "p", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4, devices: .phone)
    let fixture = try await Fixture([phone])
    _ = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: phone)
    #expect(try await all(fixture.cache).isEmpty)
    #expect(try await fixture.cache.moveImages(from: "a", to: "b") == 0)
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
