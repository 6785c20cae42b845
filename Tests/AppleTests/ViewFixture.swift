import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import Foundation

/// A cache that has the images 0 and 1, and a source that brings all others when it is told to.
@MainActor struct ViewFixture {
  let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
  let cache: ImageCache
  let format = ImageFormat(
    name: "cell", size: .exact(PixelSize(width: 40, height: 20)), scale: 2, pixelFormat: .bgrx32,
    capacity: 8)

  init() throws {
    cache = try ImageCache.filled(
      with: [Self.photo(0), Self.photo(1)], formats: [format], source: source)
  }

  nonisolated static func photo(_ number: Int) -> URL { URL(filePath: "/photos/\(number).jpg") }

  /// Images that something on screen, or a test, holds.
  var leaseCount: Int {
    get async { await cache.statistics().tables.reduce(0) { $0 + $1.leasedCount } }
  }

  /// Waits until nothing holds an image: a load gives its lease back when its task ends.
  func isReleased() async throws { try await waits { await leaseCount == 0 } }

  func contains(_ number: Int) -> Bool {
    cache.containsImage(for: Self.photo(number), format: format)
  }

  /// The bytes of an image as the table has it.
  func pixels(_ number: Int) -> [UInt8] {
    cache.cachedImage(for: Self.photo(number), format: format).map { image in
      image.withPixels { pixels in
        (0..<pixels.byteCount).map { pixels.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      }
    } ?? []
  }

  /// Whether an image shows the image, without a copy of its own.
  func isImage(_ number: Int, _ image: CGImage?) -> Bool {
    image.map { $0.dataProvider?.data.map { Array($0) } == pixels(number) } ?? false
  }
}

/// Why a source has no image.
struct Offline: Error {}

/// Lets other tasks and the main queue go on until something is true.
@MainActor func waits(until condition: () async -> Bool) async throws {
  while await !condition() {
    try Task.checkCancellation()
    await Task.yield()
  }
}
