import CommandSupport
import FastImageCache
import Foundation

/// A photograph as a file and as a kept original, to be missed in either form.
struct KeptImage {
  let file: URL
  let address: URL
  static let format = ImageFormat(
    name: "kept", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
    capacity: .count(64))

  let bytes: Data

  init(_ size: (width: Int, height: Int), _ setting: BenchSetting) throws {
    let name = "kept-\(size.width).jpg"
    file = setting.place.url.appending(path: name)
    guard let address = URL(string: "https://photos.example.com/\(name)") else {
      throw BenchFailure.missingOriginal
    }
    self.address = address
    try setting.photographs.writeFile(
      3, size: PixelSize(width: size.width, height: size.height), to: file)
    bytes = try Data(contentsOf: file)
  }

  /// The usual configuration, with a store for this image, on one worker.
  static func configuration(
    _ name: String, _ setting: BenchSetting, networkWidth: Int = 18
  ) -> ImageCache.Configuration {
    .with {
      $0.originals = OriginalStore(
        directory: setting.place.url.appending(path: "originals-\(name)"))
      $0.resources = LoadResources(decodeWidth: 1, networkWidth: networkWidth)
    }
  }

  /// Has a cache keep the bytes as an original.
  func keep(in cache: ImageCache, _ originals: OriginalStore?) async throws {
    try await cache.store(bytes, for: BenchImage(0, file: address), format: Self.format)
    guard try await originals?.bytes(of: ImageID(address)) == bytes else {
      throw BenchFailure.missingOriginal
    }
  }

  /// A miss in each turn, in milliseconds.
  ///
  /// - Parameter loadCount: Loads that are under way all the time. The rest of the last miss's load
  ///   belongs to that miss, and the next one would join it.
  func misses(
    of url: URL, in cache: ImageCache, besides loadCount: Int = 0
  ) -> Contest.Contender {
    // Each entity has another image in the table, and all have one original.
    var number = url.isFileURL ? 0 : 1_000_000
    return Contest.Contender {
      while await cache.statistics().activeLoads > loadCount { await Task.yield() }
    } turn: {
      number += 1
      let image = ImageOfAddress(imageID: BenchImage(number).imageID, url: url)
      return try await Contest.time(1) {
        _ = try await cache.image(for: image, format: Self.format)
      } / 1e6
    }
  }
}

/// An image of its address's version: a kept original answers it, whichever image it was kept for.
private struct ImageOfAddress: ImageEntity {
  let imageID: ImageID
  let url: URL

  func sourceURL(for format: ImageFormat) -> URL? { url }
}
