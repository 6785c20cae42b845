import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A format that the cache was not made with", .timeLimit(.minutes(10)))
struct UnknownFormatTests {
  /// Of another name, and of the name of one that differs.
  static let formats = [
    ImageFormat(name: "other", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4),
    ImageFormat(
      name: "row", size: .exact(PixelSize(width: 9, height: 8)), pixelFormat: .bgrx32, capacity: 16),
  ]

  private func isRefused(
    _ format: ImageFormat, _ call: () async throws(ImageCacheError) -> Void
  ) async -> Bool {
    do {
      try await call()
      return false
    } catch .unknownFormat(format.name) {
      return true
    } catch {
      return false
    }
  }

  @Test("is refused by every call that can throw", arguments: formats)
  func isThrown(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    let (cache, photo) = (fixture.cache, Photo("a"))
    let (bitmap, missing) = (try solid(1), URL(fileURLWithPath: "/missing"))
    let outcomes = [
      await isRefused(format) { () throws(ImageCacheError) in
        _ = try await cache.image(for: photo, format: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.store(bitmap, for: photo, format: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.store(Data(), for: photo, format: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.store(contentsOf: missing, for: photo, format: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.removeImage(for: photo, format: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.removeAllImages(in: format)
      },
      await isRefused(format) { () throws(ImageCacheError) in
        try await cache.setMetadata(nil, for: photo, format: format)
      },
    ]
    #expect(outcomes == Array(repeating: true, count: 7))
  }

  @Test("ends a stream, fails a prefetch, and is told to listeners", arguments: formats)
  func isTold(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    let events = fixture.cache.events()
    var last: ImageProgress?
    for await step in fixture.cache.progress(for: Photo("a"), format: format) { last = step }
    guard case .failed(.unknownFormat(format.name)) = last else {
      Issue.record("The last step was \(String(describing: last)).")
      return
    }
    let progress = await fixture.cache.prefetch([Photo("b"), Photo("c")], format: format)
    #expect(progress.failedCount == 2 && progress.isFinished)
    await fixture.cache.close()
    var told: [ImageID] = []
    for await event in events {
      if case .failed(let entity, format.name, .unknownFormat(format.name)) = event {
        told.append(entity)
      }
    }
    #expect(told == ["a", "b", "c"])
    #expect(fixture.source.started.value == 0)
  }

  @Test("has no image, as far as those can tell who ask what is there", arguments: formats)
  func isEmpty(format: ImageFormat) async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    #expect(fixture.cache.cachedImage(for: Photo("a"), format: format) == nil)
    #expect(!fixture.cache.containsImage(for: Photo("a"), format: format))
    #expect(fixture.cache.cachedFormats(for: Photo("a")) == [.row])
  }
}
