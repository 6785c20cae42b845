import Foundation
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The closest image", .timeLimit(.minutes(10)))
struct ClosestImageTests {
  private let small = ImageFormat.square(8)
  private let medium = ImageFormat.square(16)
  private let large = ImageFormat.square(32)

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

  @Test("counts as used, and as no hit, and keeps its pixels while it is held")
  func isUsed() async throws {
    let pair = ImageFormat.square(16, capacity: 2)
    let fixture = try await Fixture([pair])
    try await store(1, photo("a"), pair, in: fixture)
    try await store(2, photo("b"), pair, in: fixture)
    let held = fixture.cache.bestCachedImage(for: photo("a"), format: pair)?.image
    let hits = await fixture.cache.statistics().hits
    try await store(3, photo("c"), pair, in: fixture)
    #expect(fixture.cache.containsImage(for: photo("a"), format: pair))
    #expect(!fixture.cache.containsImage(for: photo("b"), format: pair))
    #expect(hits == 0)
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
    _ = try await fixture.image(Versions(), medium)
    await fixture.quiet()
    let closest = fixture.cache.bestCachedImage(for: Versions(), format: small)
    #expect(closest?.preview.kind == .variant(medium))
  }
}

@Suite("A search for the closest image", .timeLimit(.minutes(10)))
struct VariantSearchTests {
  private func square(_ side: Int, family: String? = "f") -> ImageFormat {
    ImageFormat(name: "\(side)", family: family, size: .exact(PixelSize(width: side, height: side)))
  }

  private func upTo(_ side: Int) -> ImageFormat {
    ImageFormat(
      name: "up to \(side)", family: "f", size: .fitting(PixelSize(width: side, height: side)))
  }

  private func size(_ width: Int, _ height: Int) -> PixelSize {
    PixelSize(width: width, height: height)
  }

  @Test("looks into the wanted format, larger siblings from the smallest on, and smaller ones")
  func orders() {
    let formats = [800, 100, 300, 49, 150, 50, 200].map { square($0) } + [square(201, family: "g")]
    let search = VariantSearch(wanted: square(200), policy: FallbackPolicy())
    #expect(
      search.formats(among: formats).map(\.name) == ["200", "300", "800", "150", "100", "50"])
    let all = VariantSearch(wanted: square(200), policy: FallbackPolicy(smallestScale: 0))
    #expect(all.formats(among: formats).map(\.name).last == "49")
    let same = ImageFormat(name: "same", family: "f", size: .exact(size(200, 200)))
    #expect(
      search.formats(among: [square(300), same]).map(\.name) == ["200", "same", "300"])
    for flat in [size(200, 40), size(40, 200)] {
      let format = ImageFormat(name: "flat", family: "f", size: .exact(flat))
      #expect(search.formats(among: [format]).map(\.name) == ["200"])
    }
    let large = VariantSearch(wanted: square(200), policy: FallbackPolicy(smallestScale: 2))
    #expect(large.formats(among: formats).map(\.name) == ["200", "300", "800"])
    for search in [
      VariantSearch(wanted: square(200), policy: .none),
      VariantSearch(wanted: square(200, family: nil), policy: FallbackPolicy()),
    ] {
      #expect(search.formats(among: formats).map(\.name) == ["200"])
    }
  }

  @Test(
    "takes a sibling of the same proportions only, up to 2 % and the rounding of a pixel",
    arguments: [
      (400, 300, true), (404, 300, true), (410, 300, false), (400, 292, false), (40, 30, true),
      (40, 31, true), (40, 32, false), (4, 3, false),
    ])
  func comparesProportions(width: Int, height: Int, isTaken: Bool) {
    let wanted = ImageFormat(name: "w", family: "f", size: .exact(size(160, 120)))
    let strict = VariantSearch(wanted: wanted, policy: FallbackPolicy())
    #expect((strict.preview(.current, size(width, height), in: upTo(500)) != nil) == isTaken)
    var policy = FallbackPolicy(smallestScale: 0)
    policy.allowsOtherProportions = true
    let loose = VariantSearch(wanted: wanted, policy: policy)
    #expect(loose.preview(.current, size(width, height), in: upTo(500)) != nil)
  }

  @Test("takes images of their own proportions for each other, however small")
  func comparesOwnProportions() {
    let search = VariantSearch(wanted: upTo(100), policy: FallbackPolicy())
    #expect(search.preview(.current, size(3, 9), in: upTo(50)) != nil)
    #expect(search.preview(.current, size(100, 100), in: square(100)) == nil)
    var policy = FallbackPolicy()
    policy.allowsOtherProportions = true
    let loose = VariantSearch(wanted: upTo(100), policy: policy)
    #expect(loose.preview(.current, size(100, 100), in: square(100)) != nil)
  }
}
