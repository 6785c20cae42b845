import CBenchPeers
import CommandSupport
import FastImageCache

/// Private memory of a screen full of animations.
struct HeldAnimations: Scenario {
  static let id = "A2"
  static let name = "held-animations"
  static let summary = """
    private memory (RssAnon on Linux) that 100 animations of 160 x 160 and 30 frames take while they are held and all \
    their frames are read, against copies of the frames
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    guard let stickers = try Stickers(side: 160, frames: 30, setting) else { return Findings([]) }
    let count = setting.effort.heldCount
    return try await setting.withCache("held-animations", formats: [Stickers.format]) { cache in
      let images = (0..<count).map { BenchImage($0, file: stickers.file) }
      for image in images {
        _ = try await cache.animation(for: image, format: Stickers.format)
      }
      func held() throws -> [CachedAnimation] {
        try images.map { image in
          guard let found = cache.cachedAnimation(for: image, format: Stickers.format) else {
            throw BenchFailure.missingImage
          }
          for index in 0..<found.frameCount {
            found.frame(at: index).image.withPixels {
              $0.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) }
            }
          }
          return found
        }
      }
      let ours = Contest.Contender { try HeldImages.growth { try held() } }
      let copies = Contest.Contender {
        try HeldImages.growth {
          try held().map { found in
            try (0..<found.frameCount).map { try found.frame(at: $0).image.makeBitmap() }
          }
        }
      }
      let results = try await Contest([ours, copies]).run(
        roundCount: min(setting.effort.roundCount, 5), warmUpCount: 1)
      return Findings([
        Measure(
          Self.id, "\(count) animations of 30 frames held and read", unit: "kB", ours: results[0],
          reference: results[1], named: "private copies", bar: .oursAtMost(4096))
      ])
    }
  }
}
