import CommandSupport
import FastImageCache

/// The first frames of the animations on the first screen of a program that has just been started.
struct FirstStickers: Scenario {
  static let id = "A6"
  static let name = "first-stickers"
  static let summary = """
    a fresh process that opens a cache of 20 animations of 160 x 160 and 30 frames, finds all of them and reads their \
    first frames, from posix_spawn(3) to the last byte; without what an empty Swift program takes (--empty); against \
    the same executable that does nothing
    """

  private static let count = 20
  private static let side = 160

  func measure(_ setting: BenchSetting) async throws -> Findings {
    guard let stickers = try Stickers(side: Self.side, frames: 30, setting) else {
      return Findings([])
    }
    try await setting.withCache(Self.name, formats: [Stickers.format]) { cache in
      for number in 0..<Self.count {
        let image = BenchImage(number, file: stickers.file)
        _ = try await cache.animation(for: image, format: Stickers.format)
      }
    }
    func launch(_ program: LaunchedProgram.Program) throws -> FreshProcess {
      try FreshProcess(
        LaunchedProgram(
          program: program, place: setting.place.url, galleryName: Self.name, count: Self.count,
          side: Self.side, shownCount: Self.count, library: nil))
    }
    let launches =
      [try launch(.stickers), try launch(.nothing)]
      + (setting.emptyProgram.map { [FreshProcess(path: $0)] } ?? [])
    let results = try await Contest(
      launches.map { launch in Contest.Contender { try launch.milliseconds() } }
    ).run(roundCount: min(setting.effort.roundCount, 60), warmUpCount: 2)
    let what = "first frames of \(Self.count) animations in a fresh process"
    return Findings(
      LaunchedProgram.beyondEmpty(
        Self.id, what, results[0], launches.count == 3 ? results[2] : nil, millisecondsAtMost: 6)
        + [
          Measure(
            Self.id, what, unit: "ms", ours: results[0], reference: results[1],
            named: "the same program that does nothing")
        ])
  }
}
