import CBenchPeers
import FastImageCache

/// Images that are all in a table, to be asked for one after the other.
struct HitList: Sendable {
  let cache: ImageCache
  let format: ImageFormat
  let images: [BenchImage]

  /// Lookup, lease, handle, release.
  func hit(_ range: Range<Int>) throws {
    for index in range {
      guard cache.cachedImage(for: images[index], format: format) != nil else {
        throw BenchFailure.missingImage
      }
    }
  }

  /// The same, and every byte is read.
  func read(_ range: Range<Int>) throws {
    var sum: UInt64 = 0
    for index in range {
      guard let image = cache.cachedImage(for: images[index], format: format) else {
        throw BenchFailure.missingImage
      }
      sum &+= image.withPixels { pixels in
        pixels.withUnsafeBytes { bench_sum($0.baseAddress, $0.count) }
      }
    }
    withExtendedLifetime(sum) {}
  }

  /// The awaited hit, on the caller's actor.
  nonisolated(nonsending) func awaitHit(_ range: Range<Int>) async throws {
    for index in range { _ = try await cache.image(for: images[index], format: format) }
  }
}
