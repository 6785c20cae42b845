import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("The closest image", .timeLimit(.minutes(10)))
struct ClosestImageTests {
  private static func format(_ side: Int, capacity: Int = 4) -> ImageFormat {
    ImageFormat(
      name: "\(side)", family: "f", size: .exact(PixelSize(width: side, height: side)),
      pixelFormat: .bgrx32, capacity: .count(capacity))
  }

  private let small = format(8)
  private let medium = format(16)
  private let large = format(32)

  private func photo(_ id: ImageID = "a", version: ImageID = "1") -> Photo {
    var photo = Photo(id, version: version)
    photo.wantsFamily = false
    return photo
  }

  private func store(
    _ number: Int, _ photo: Photo, _ format: ImageFormat, in fixture: Fixture
  ) async throws {
    try await fixture.cache.store(solid(number), for: photo, format: format)
  }

  @Test("is the wanted one, then that of the smallest larger sibling, then of the largest")
  func prefers() async throws {
    let fixture = try await Fixture([small, medium, large])
    let expectations = [(small, 1), (large, 2), (medium, 3)]
    #expect(fixture.cache.bestCachedImage(for: photo(), format: medium) == nil)
    for (format, number) in expectations {
      try await store(number, photo(), format, in: fixture)
      let closest = fixture.cache.bestCachedImage(for: photo(), format: medium)
      let (image, preview) = try #require(closest)
      #expect(image.solidNumber == number && image.size == format.size && !image.isPrivate)
      #expect(preview.kind == .variant(format) && preview.isSettled == (format == medium))
    }
    #expect(fixture.source.started.value == 0)
    let own = fixture.cache.bestCachedImage(for: photo(), format: small, fallback: .none)
    #expect(own?.image.solidNumber == 1)
    try await fixture.cache.removeImage(for: photo(), format: small)
    #expect(fixture.cache.bestCachedImage(for: photo(), format: small, fallback: .none) == nil)
    #expect(fixture.cache.bestCachedImage(for: photo(), format: .row) == nil)
  }

  @Test("is one of another version only if the policy allows it, and never before this version")
  func versions() async throws {
    let fixture = try await Fixture([small, medium])
    try await store(1, photo(version: "1"), medium, in: fixture)
    let newer = photo(version: "2")
    #expect(fixture.cache.bestCachedImage(for: newer, format: medium) == nil)
    var policy = FallbackPolicy()
    policy.allowsOtherVersions = true
    let older = fixture.cache.bestCachedImage(for: newer, format: medium, fallback: policy)
    #expect(older?.image.solidNumber == 1 && older?.preview.kind == .stale)
    let sibling = fixture.cache.bestCachedImage(for: newer, format: small, fallback: policy)
    #expect(sibling?.image.solidNumber == 1 && sibling?.preview.kind == .stale)
    try await store(2, newer, small, in: fixture)
    let current = fixture.cache.bestCachedImage(for: newer, format: medium, fallback: policy)
    #expect(current?.image.solidNumber == 2 && current?.preview.kind == .variant(small))
  }

  @Test("is, of images that are all marked stale, the one that was the closest before")
  func marked() async throws {
    let fixture = try await Fixture([small, medium, large])
    let formats = [medium, large, small]
    for (number, format) in formats.enumerated() {
      try await store(number, photo(), format, in: fixture)
    }
    try await fixture.cache.markStale(photo())
    for (number, format) in formats.enumerated() {
      let closest = fixture.cache.bestCachedImage(for: photo(), format: medium)
      #expect(closest?.image.solidNumber == number && closest?.preview.kind == .stale)
      try await fixture.cache.removeImage(for: photo(), format: format)
    }
    #expect(fixture.cache.bestCachedImage(for: photo(), format: medium) == nil)
  }

  @Test("is found in an earlier session's tables, and never another entity's")
  func reopens() async throws {
    let fixture = try await Fixture([small, medium])
    try await store(1, photo("a"), small, in: fixture)
    await fixture.cache.close()
    let reopened = try await Fixture([small, medium], directory: fixture.directory)
    #expect(reopened.cache.bestCachedImage(for: photo("b"), format: medium) == nil)
    let closest = reopened.cache.bestCachedImage(for: photo("a"), format: medium)
    #expect(closest?.image.solidNumber == 1)
  }

  @Test("counts as used, and as no hit")
  func isUsed() async throws {
    let pair = Self.format(16, capacity: 2)
    let fixture = try await Fixture([pair])
    try await store(1, photo("a"), pair, in: fixture)
    try await store(2, photo("b"), pair, in: fixture)
    #expect(fixture.cache.bestCachedImage(for: photo("a"), format: pair) != nil)
    let hits = await fixture.cache.statistics().hits
    try await store(3, photo("c"), pair, in: fixture)
    #expect(fixture.cache.containsImage(for: photo("a"), format: pair))
    #expect(!fixture.cache.containsImage(for: photo("b"), format: pair))
    #expect(hits == 0)
  }

  @Test("keeps its pixels while it is held")
  func isLeased() async throws {
    let pair = Self.format(16, capacity: 2)
    let fixture = try await Fixture([pair])
    try await store(1, photo("a"), pair, in: fixture)
    let held = fixture.cache.bestCachedImage(for: photo("a"), format: pair)?.image
    for number in 2..<9 {
      try await store(number, photo(ImageID(number)), pair, in: fixture)
    }
    #expect(held?.solidNumber == 1)
    #expect(fixture.cache.containsImage(for: photo("a"), format: pair))
  }

  /// An entity with a version of its own in each format.
  private struct Versions: ImageEntity {
    var imageID: ImageID { "a" }
    func sourceURL(for format: ImageFormat) -> URL? { URL(string: "test:/1") }
    func versionID(for format: ImageFormat) -> ImageID { ImageID(format.name) }
    func drawing(for format: ImageFormat) -> Drawing { .stretch }
    func prerendersFamily(_ family: String) -> Bool { false }
  }

  @Test("is of the version that the entity names for its format")
  func versionOfFormat() async throws {
    let fixture = try await Fixture([small, medium])
    _ = try await fixture.cache.image(for: Versions(), format: medium)
    await fixture.quiet()
    let closest = fixture.cache.bestCachedImage(for: Versions(), format: small)
    #expect(closest?.preview.kind == .variant(medium))
  }
}
