import FastImageCache
import Foundation
import Pixels
import TableStore

/// An image as clients of the whole library know it: an entity with a source.
struct Photograph: ImageEntity {
  static let size = PixelSize(width: 32, height: 32)

  let image: ImageVersion

  init(_ image: ImageVersion) { self.image = image }

  var imageID: ImageID { ImageID(image.entity) }
  func versionID(for format: ImageFormat) -> ImageID { ImageID(image.version) }
  func sourceURL(for format: ImageFormat) -> URL? {
    URL(string: "torture:/\(image.entity)/\(image.version)")
  }
  func drawing(for format: ImageFormat) -> Drawing { .stretch }

  static func format(capacity: ImageFormat.Capacity, name: String = "torture") -> ImageFormat {
    ImageFormat(name: name, size: .exact(size), pixelFormat: .bgrx32, capacity: capacity)
  }

  func bitmap() throws -> Bitmap {
    guard let layout = PixelLayout(size: Self.size, format: .bgrx32) else {
      throw BitmapError.outOfMemory(byteCount: 0)
    }
    return try Bitmap(layout: layout) { image.fill($0, mask: ImageVersion.opaque) }
  }

  /// Delivers the image of a URL, after some turns of other tasks.
  static let source = ClosureImageSource { request in
    let numbers = request.url.pathComponents.compactMap { Int($0) }
    guard numbers.count == 2 else { throw URLError(.badURL) }
    for _ in 0..<(numbers[0] % 5) {
      try Task.checkCancellation()
      await Task.yield()
    }
    return .bitmap(
      try Photograph(ImageVersion(entity: numbers[0], version: numbers[1])).bitmap())
  }

  static func cache(
    in folder: String, formats: [ImageFormat]
  ) async throws(ImageCacheError) -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.directory = URL(fileURLWithPath: folder, isDirectory: true)
    configuration.source = source
    return try await ImageCache(
      namespace: "torture", formats: formats, configuration: configuration)
  }
}

extension ImageCache {
  /// Whether all loads end once nobody waits.
  ///
  /// A prefetch whose stream was dropped is cancelled, and leaves a moment later.
  func isQuiet() async -> Bool {
    for _ in 0..<10_000 {
      let statistics = await statistics()
      if statistics.pendingRequests == 0, statistics.activeLoads == 0 { return true }
      // Only cancellation ends a sleep early, and the next turn sees it.
      try? await Task.sleep(for: .milliseconds(1))
    }
    return false
  }
}

extension CachedImage {
  func shows(_ image: ImageVersion) -> Bool {
    entry.withPixels { pixels in
      image.isShown(
        by: UnsafeRawBufferPointer(rebasing: pixels[..<layout.byteCount]), mask: ImageVersion.opaque
      )
    }
  }
}
