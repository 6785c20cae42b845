import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("An image's id", .timeLimit(.minutes(10)))
struct ImageIDTests {
  @Test("finds the image of any version, or of the one that is asked for")
  func findsVersions() async throws {
    let fixture = try await Fixture([.row, .large])
    try await fixture.cache.store(solid(1), for: Photo("a", version: 2), format: .row)
    let cache = fixture.cache
    #expect(cache.containsImage(for: "a", format: .row))
    #expect(cache.containsImage(for: "a", version: 2, format: .row))
    #expect(!cache.containsImage(for: "a", version: 1, format: .row))
    #expect(!cache.containsImage(for: "a", format: .large))
    #expect(!cache.containsImage(for: "b", format: .row))
    #expect(!cache.containsImage(for: "a", format: .dot))
  }

  @Test("finds the image of an earlier run, before anybody asked for it")
  func findsEarlierImages() async throws {
    let directory = try TemporaryDirectory()
    do {
      let fixture = try await Fixture(directory: directory)
      try await fixture.cache.store(solid(1), for: Photo("a", version: 2), format: .row)
      await fixture.cache.close()
    }
    let fixture = try await Fixture(directory: directory)
    #expect(fixture.cache.containsImage(for: "a", format: .row))
    #expect(!fixture.cache.containsImage(for: "b", format: .row))
    #expect(fixture.cache.containsImage(for: "a", version: 2, format: .row))
  }

  @Test("removes the image, of one format or of all, whatever its version")
  func removes() async throws {
    let fixture = try await Fixture([.row, .large])
    let photo = Photo("a", version: 2)
    try await fixture.cache.store(solid(1), for: photo, format: .row)
    try await fixture.cache.store(solid(1), for: photo, format: .large)
    try await fixture.cache.removeImage(for: "a", format: .row)
    #expect(fixture.cache.cachedFormats(for: photo) == [.large])
    try await fixture.cache.removeImages(for: "a")
    #expect(fixture.cache.cachedFormats(for: photo).isEmpty)
    await #expect(throws: ImageCacheError.unknownFormat("dot")) {
      try await fixture.cache.removeImage(for: "a", format: .dot)
    }
  }

  @Test(
    "survives being coded, kind and all",
    arguments: [
      "a", "", "7", 7, -7, ImageID(UInt64.max), ImageID(UUID()), ImageID("\(UUID())"),
    ] as [ImageID])
  func isCodable(id: ImageID) throws {
    #expect(try JSONDecoder().decode(ImageID.self, from: JSONEncoder().encode(id)) == id)
    let list = try PropertyListEncoder().encode([id])
    #expect(try PropertyListDecoder().decode([ImageID].self, from: list) == [id])
  }

  @Test("is coded by the UUID itself where it is one, as far as the coder tells UUIDs from text")
  func encodesUUIDs() throws {
    let uuid = UUID()
    let code = try JSONEncoder().encode(ImageID(uuid))
    #expect(try JSONDecoder().decode([String: UUID].self, from: code) == ["uuid": uuid])
  }

  @Test("is refused where nothing names its kind")
  func refusesOtherCodes() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ImageID.self, from: Data(#"{"number": 7}"#.utf8))
    }
  }
}
