import FastImageCache
import TestSupport
import Testing

@Suite("The version of an entity", .timeLimit(.minutes(10)))
struct VersionQuestionTests {
  /// How often a cache with these formats asks for it.
  private func questions(
    _ formats: [ImageFormat], _ body: (ImageCache, Photo) async throws -> Void
  ) async throws -> Int {
    let fixture = try await Fixture(formats)
    let count = Counter()
    var photo = Photo("a", url: "test:/5")
    photo.willTellSource = { _ in count.increment() }
    try await body(fixture.cache, photo)
    await fixture.quiet()
    return count.value
  }

  @Test("is asked once for a hit, awaited or not")
  func hit() async throws {
    let count = try await questions([.large, .dot, .row]) { cache, photo in
      var silent = photo
      silent.willTellSource = nil
      try await cache.store(solid(5), for: silent, format: .large)
      _ = try await cache.image(for: photo, format: .large)
      _ = cache.cachedImage(for: photo, format: .large)
    }
    #expect(count == 2)
  }

  @Test(
    "is asked twice for a miss, once for each other format, and again for others of the family",
    arguments: [
      ([ImageFormat.row], 2), ([.row, .dot], 3), ([.large, .dot], 4), ([.large, .dot, .row], 5),
    ])
  func miss(formats: [ImageFormat], expected: Int) async throws {
    let count = try await questions(formats) { cache, photo in
      _ = try await cache.image(for: photo, format: formats[0])
    }
    #expect(count == expected)
  }
}
