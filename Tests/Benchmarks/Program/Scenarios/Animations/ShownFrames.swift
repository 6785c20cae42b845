import CBenchPeers
import CommandSupport
import FastImageCache

/// A frame of each sticker on a screen, in the second loop.
struct ShownFrames: Scenario {
  static let id = "A1"
  static let name = "shown-frames"
  static let summary = """
    frame(at:) of each of 200 animations of 160 x 160 and 30 frames that are kept, one frame after the other, and every \
    byte of it read, against libwebp's animation decoder, which decodes each frame of each loop: one decoder for each \
    animation, begun anew after the last frame
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let (side, frameCount) = (160, 30)
    guard let stickers = try Stickers(side: side, frames: frameCount, setting) else {
      return Findings([])
    }
    let count = setting.effort.heldCount * 2
    return try await setting.withCache("stickers", formats: [Stickers.format]) { cache in
      var animations: [CachedAnimation] = []
      for number in 0..<count {
        let picture = BenchPicture(number, file: stickers.file)
        animations.append(try await cache.animation(for: picture, format: Stickers.format))
      }
      let kept = animations
      guard !kept.contains(where: \.isStreamed) else { throw BenchFailure.missingPicture }
      var index = 0
      let ours = Contest.Contender {
        index = (index + 1) % frameCount
        return Contest.time(count) {
          for animation in kept {
            animation.frame(at: index).image.withPixels {
              $0.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) }
            }
          }
        }
      }
      let players = Stickers.Players(count, of: stickers, side: side)
      let libwebp = Contest.Contender {
        try Contest.time(count) {
          for number in 0..<count where try !players.next(number) { _ = try players.next(number) }
        }
      }
      let results = try await Contest([ours, libwebp]).run(
        roundCount: min(setting.effort.roundCount, 2 * frameCount), warmUpCount: 1)
      return Findings([
        Measure(
          Self.id, "shown frame of 160 x 160, \(count) animations", unit: "ns", ours: results[0],
          reference: results[1], named: String(cString: stickers.animator.name),
          bar: .ratioAtMost(0.05))
      ])
    }
  }
}
