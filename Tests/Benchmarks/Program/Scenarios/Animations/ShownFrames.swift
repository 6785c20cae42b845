import CBenchPeers
import CommandSupport
import FastImageCache

/// A frame of each sticker on a screen, in the second loop.
struct ShownFrames: Scenario {
  static let id = "A1"
  static let name = "shown-frames"
  static let summary = """
    frame(at:) of each of 200 animations of 160 x 160 and 30 frames that are kept, one frame after the other, against \
    libwebp's animation decoder, which decodes each frame of each loop: one decoder for each animation, begun anew after \
    the last frame. Both yield a pointer to pixels; in the second line every byte is read, ours from 680 MB of tables, \
    libwebp's from a canvas that it has just written
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
        let image = BenchImage(number, file: stickers.file)
        animations.append(try await cache.animation(for: image, format: Stickers.format))
      }
      let kept = animations
      guard !kept.contains(where: \.isStreamed) else { throw BenchFailure.missingImage }
      var measures: [Measure] = []
      for isRead in [false, true] {
        var index = 0
        let ours = Contest.Contender {
          index = (index + 1) % frameCount
          return Contest.time(count) {
            for animation in kept {
              animation.frame(at: index).image.withPixels { pixels in
                if isRead { pixels.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) } }
              }
            }
          }
        }
        let players = Stickers.Players(count, of: stickers, side: side, reads: isRead)
        let libwebp = Contest.Contender {
          try Contest.time(count) {
            for number in 0..<count where try !players.next(number) { _ = try players.next(number) }
          }
        }
        let results = try await Contest([ours, libwebp]).run(
          roundCount: min(setting.effort.roundCount, 2 * frameCount), warmUpCount: frameCount)
        measures.append(
          Measure(
            Self.id, "frame of \(count) animations of 160 x 160\(isRead ? ", read" : "")",
            ours: results[0], reference: results[1],
            named: String(cString: stickers.animator.name),
            bar: isRead ? nil : .ratioAtMost(0.05)))
      }
      return Findings(measures)
    }
  }
}
