import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("Metadata", .timeLimit(.minutes(10)))
struct MetadataTests {
  private let photo = Photo("a")
  private let caption = Data("by the sea".utf8)

  @Test("stored with an image comes back with it, in a later run too")
  func comesBack() async throws {
    let directory = try TemporaryDirectory()
    do {
      let fixture = try await Fixture(directory: directory)
      #expect(try await fixture.cache.store(solid(1), for: photo, format: .row).metadata == nil)
      let stored = try await fixture.cache.store(
        solid(1), for: photo, format: .row, metadata: caption)
      #expect(stored.metadata == caption)
      #expect(fixture.cache.cachedImage(for: photo, format: .row)?.metadata == caption)
      await fixture.cache.close()
    }
    let later = try await Fixture(directory: directory)
    #expect(later.cache.cachedImage(for: photo, format: .row)?.metadata == caption)
  }

  @Test("goes to every format of the family, with encoded bytes too")
  func reachesFamily() async throws {
    let fixture = try await Fixture([.large, .dot])
    let png = try await fixture.cache.store(solid(1), for: Photo("b"), format: .large).pngData()
    try await fixture.cache.store(png, for: photo, format: .large, metadata: caption)
    #expect(fixture.cache.cachedImage(for: photo, format: .dot)?.metadata == caption)
  }

  @Test("comes from sources and entities as well")
  func comesFromSources() async throws {
    let caption = caption
    let fixture = try await Fixture {
      $0.source = .closure { _ in .bitmap(try solid(2)).with(metadata: caption) }
    }
    #expect(try await fixture.image(photo).metadata == caption)
    var own = Photo("b")
    own.ownImage = { _ in
      .bitmap(try solid(3)).with(metadata: Data("old".utf8)).with(metadata: caption)
    }
    #expect(try await fixture.image(own).metadata == caption)
  }

  @Test("is read as a value that was encoded as JSON")
  func decodes() async throws {
    struct Caption: Codable, Equatable { var text: String }
    let fixture = try await Fixture()
    let image = try await fixture.cache.store(
      solid(1), for: photo, format: .row, metadata: JSONEncoder().encode(Caption(text: "sea")))
    #expect(try image.metadata(as: Caption.self) == Caption(text: "sea"))
    #expect(throws: DecodingError.self) { try image.metadata(as: Int.self) }
  }

  @Test("that is too long is refused, and the old image stays")
  func refusesTooMuch() async throws {
    let fixture = try await Fixture()
    let limit = ImageFormat.row.metadataByteLimit
    let full = Data(repeating: 7, count: limit)
    let long = Photo(ImageID(String(repeating: "x", count: 300)))
    #expect(
      try await fixture.cache.store(solid(1), for: long, format: .row, metadata: full).metadata
        == full)
    let error = ImageCacheError.metadataTooLarge(
      entity: long.imageID, format: "row", byteCount: limit + 1, limit: limit)
    await #expect(throws: error) {
      try await fixture.cache.store(solid(2), for: long, format: .row, metadata: full + [1])
    }
    #expect(fixture.cache.cachedImage(for: long, format: .row)?.solidNumber == 1)
  }

  @Test("that is too long for a sibling costs that one its image")
  func givesUpSibling() async throws {
    let fixture = try await Fixture([.large, .dot])
    try await fixture.cache.store(solid(1), for: photo, format: .large)
    #expect(fixture.cache.containsImage(for: photo, format: .dot))
    let much = Data(count: ImageFormat.dot.metadataByteLimit + 1)
    let image = try await fixture.cache.store(solid(2), for: photo, format: .large, metadata: much)
    #expect(image.metadata == much)
    #expect(!fixture.cache.containsImage(for: photo, format: .dot))
  }

  @Test("changes without a decode, for later readers only")
  func changes() async throws {
    let directory = try TemporaryDirectory()
    let fixture = try await Fixture(directory: directory)
    let first = try await fixture.cache.store(solid(1), for: photo, format: .row, metadata: caption)
    let drawings = await fixture.cache.statistics().drawings
    for metadata in [Data("at night".utf8), nil] {
      let image = try await fixture.cache.setMetadata(metadata, for: photo, format: .row)
      #expect(image?.metadata == metadata && image?.solidNumber == 1)
      #expect(fixture.cache.cachedImage(for: photo, format: .row)?.metadata == metadata)
    }
    #expect(first.metadata == caption && first.solidNumber == 1)
    #expect(await fixture.cache.statistics().drawings == drawings)
    try await fixture.cache.setMetadata(caption, for: photo, format: .row)
    await fixture.cache.close()
    let later = try await Fixture(directory: directory)
    #expect(later.cache.cachedImage(for: photo, format: .row)?.metadata == caption)
  }

  @Test("that is too long, or of an image that is missing or of another version, is not set")
  func changesNothing() async throws {
    let fixture = try await Fixture()
    #expect(try await fixture.cache.setMetadata(caption, for: photo, format: .row) == nil)
    try await fixture.cache.store(solid(1), for: photo, format: .row, metadata: caption)
    let newer = Photo("a", version: "2")
    #expect(try await fixture.cache.setMetadata(nil, for: newer, format: .row) == nil)
    let limit = ImageFormat.row.metadataByteLimit
    let error = ImageCacheError.metadataTooLarge(
      entity: photo.imageID, format: "row", byteCount: limit + 1, limit: limit)
    await #expect(throws: error) {
      try await fixture.cache.setMetadata(Data(count: limit + 1), for: photo, format: .row)
    }
    #expect(fixture.cache.cachedImage(for: photo, format: .row)?.metadata == caption)
  }
}
