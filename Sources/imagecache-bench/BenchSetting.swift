import CommandSupport
import FastImageCache
import Foundation

/// What all scenarios share: a folder for their tables, and pictures to put there.
struct BenchSetting: Sendable {
  let place: TemporaryFolder

  /// Pictures in a table.
  let pictureCount: Int

  let format: ImageFormat

  init(pictureCount: Int) throws {
    place = try TemporaryFolder(prefix: "imagecache-bench")
    self.pictureCount = pictureCount
    format = ImageFormat(
      name: "row", size: PixelSize(width: 200, height: 200), style: .bgra32,
      capacity: .count(pictureCount))
  }

  /// Opens a cache of its own for a scenario.
  func makeCache(_ namespace: String) async throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = place.url
    return try await ImageCache(
      namespace: namespace, formats: [format], configuration: configuration)
  }

  /// A cache whose table is full, with pages in memory.
  func makeFullCache(_ namespace: String) async throws -> ImageCache {
    let cache = try await makeCache(namespace)
    let bitmap = try BenchPicture.bitmap(format.size)
    for number in 0..<pictureCount {
      try Task.checkCancellation()
      let image = try await cache.store(bitmap, for: BenchPicture(number), format: format)
      await image.prepareForDisplay()
    }
    return cache
  }

  /// Runs `body` with a full cache and closes it in any case.
  func withFullCache(
    _ namespace: String, _ body: (ImageCache) async throws -> Measurement.Outcome
  ) async throws -> Measurement.Outcome {
    let cache = try await makeFullCache(namespace)
    do {
      let outcome = try await body(cache)
      await cache.close()
      return outcome
    } catch {
      await cache.close()
      throw error
    }
  }
}
