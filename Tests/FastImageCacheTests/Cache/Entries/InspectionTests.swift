import Foundation
import TestSupport
import Testing

@testable import FastImageCache

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
      Task(priority: .high) { try await fixture.cache.image(for: Photo("a"), format: .row) }
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

  @Test("of a namespace that a cache has open reads beside it, and changes nothing")
  func readsBesideOwner() async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    let inspection = try await ImageCache.inspect(namespace: "test", in: fixture.directory.url)
    #expect(inspection.tables.first?.entries.map(\.imageID) == [Photo("a").imageID])
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: .row)?.solidNumber == 1)
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
