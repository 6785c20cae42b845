import CBenchPeers
import CommandSupport
import FastImageCache

/// Private memory of a screen full of images.
struct HeldImages: Scenario {
  static let id = "P12"
  static let name = "held-pictures"
  static let summary = """
    private memory (RssAnon on Linux) that 100 photos of 160 kB take while they are held and read, \
    against copies of the same photos, which is what every decoding library holds
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let hits = try await setting.gallery().hits
    let range = 0..<min(setting.effort.heldCount, hits.images.count)
    let ours = Contest.Contender {
      try Self.growth {
        var held: [CachedImage] = []
        held.reserveCapacity(range.count)
        for index in range {
          guard let image = hits.cache.cachedImage(for: hits.images[index], format: hits.format)
          else { throw BenchFailure.missingImage }
          image.withPixels { $0.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) } }
          held.append(image)
        }
        return held
      }
    }
    let copies = Contest.Contender {
      try Self.growth {
        try range.map { index in
          let image = hits.cache.cachedImage(for: hits.images[index], format: hits.format)
          guard let bitmap = try image?.makeBitmap() else { throw BenchFailure.missingImage }
          return bitmap
        }
      }
    }
    let results = try await Contest([ours, copies]).run(
      roundCount: min(setting.effort.roundCount, 11), warmUpCount: 2)
    return Findings([
      Measure(
        Self.id, "\(range.count) images held and read", unit: "kB", ours: results[0],
        reference: results[1], named: "private copies", bar: .oursAtMost(64))
    ])
  }

  /// Growth of private memory, in kilobytes, while the result of `body` is held.
  static func growth<Held>(_ body: () throws -> Held) throws -> Double {
    ProcessMemory.releaseFreeMemory()
    let before = ProcessMemory.privateByteCount()
    let held = try body()
    let after = ProcessMemory.privateByteCount()
    withExtendedLifetime(held) {}
    return Double(max(after - before, 0)) / 1024
  }
}
