import CBenchPeers
import CommandSupport
import FastImageCache

/// An animation that is not there: its first frame, and all of them.
struct AnimationMiss: Scenario {
  static let id = "A3"
  static let name = "animation-miss"
  static let summary = """
    A3: image(for:format:) of an animated WebP file of 320 x 320 and 60 frames, to 160 x 160, where all frames are kept, \
    against the same where the first one is; until the image is there, while the load goes on. A4: animation(for:format:) \
    of the file until all frames are stored, against libwebp's decode of all frames. The process is held to one core \
    where the system can (Linux)
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let side = 320
    guard let stickers = try Stickers(side: side, frames: 60, setting) else { return Findings([]) }
    let still = ImageFormat(
      name: "first-frames", size: .exact(Stickers.format.size), capacity: .bytes(64 << 20))
    return try await setting.withCache(
      "animation-miss", formats: [Stickers.format, still],
      .with { $0.resources = LoadResources(decodeWidth: 1) }
    ) { cache in
      var number = 0
      let rest: () async throws -> Void = {
        while await cache.statistics().activeLoads > 0 { await Task.yield() }
      }
      func first(_ format: ImageFormat) -> Contest.Contender {
        Contest.Contender(prepare: rest) {
          number += 1
          let photo = BenchImage(number, file: stickers.file)
          return try await Contest.time(1) {
            _ = try await cache.image(for: photo, format: format)
          } / 1e6
        }
      }
      let all = Contest.Contender(prepare: rest) {
        number += 1
        let photo = BenchImage(number, file: stickers.file)
        return try await Contest.time(1) {
          _ = try await cache.animation(for: photo, format: Stickers.format)
        } / 1e6
      }
      let players = Stickers.Players(1, of: stickers, side: side)
      let libwebp = Contest.Contender(prepare: rest) {
        try Contest.time(1) { while try players.next(0) {} } / 1e6
      }
      _ = try? Cores.hold(to: 1)
      defer { Cores.release() }
      let rounds = min(setting.effort.roundCount, 21)
      let firsts = try await Contest([first(Stickers.format), first(still)]).run(roundCount: rounds)
      let whole = try await Contest([all, libwebp]).run(roundCount: rounds)
      return Findings([
        Measure(
          "A3", "first frame of a miss, 320 x 320 WebP to 160 x 160", unit: "ms", ours: firsts[0],
          reference: firsts[1], named: "a still of the same file", bar: .ratioAtMost(1.15)),
        Measure(
          "A4", "miss of 60 frames", unit: "ms", ours: whole[0], reference: whole[1],
          named: String(cString: stickers.animator.name), bar: .ratioAtMost(1.3)),
      ])
    }
  }
}
