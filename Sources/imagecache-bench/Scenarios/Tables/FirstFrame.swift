import CommandSupport
import FastImageCache

/// The first pictures of a program that has just been started.
struct FirstFrame: Scenario {
  static let id = "P17"
  static let name = "first-frame"
  static let summary = """
    a fresh process that opens a cache of 1000 pictures, shows five and reads their bytes, from \
    posix_spawn(3) to the last byte; without what an empty Swift program takes (--empty); against the \
    same executable that does nothing, and against processes that obtain the same five from the peers' \
    stores and load the same libraries. All are as linked as this executable is; .ci/release links \
    Swift's runtime into it, as Tests/Benchmarks/run has it do
    """

  private static let shownCount = 5
  private static let side = 200

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.pictureCount
    let gallery = try await Gallery(
      Self.name, count: count, side: Self.side, roles: [.open, .scroll], setting: setting)
    // The programs have folders to themselves.
    await gallery.close()
    func launch(_ program: LaunchedProgram.Program) throws -> FreshProcess {
      try FreshProcess(
        LaunchedProgram(
          program: program, place: setting.place.url, galleryName: Self.name, count: count,
          side: Self.side, shownCount: Self.shownCount, library: setting.peers.path))
    }
    let stores = gallery.stores
    let empty = setting.emptyProgram.map { FreshProcess(path: $0) }
    let launches =
      try [launch(.cache), launch(.nothing), FreshProcess.inC]
      + stores.map { try launch(.peer($0.name)) } + (empty.map { [$0] } ?? [])
    let results = try await Contest(
      launches.map { launch in Contest.Contender { try launch.milliseconds() } }
    ).run(roundCount: min(setting.effort.roundCount, 60), warmUpCount: 2)
    let names =
      ["the same program that does nothing", "a program in C that does nothing"]
      + stores.map(\.name)
    let what = "\(Self.shownCount) of \(count) pictures in a fresh process"
    let emptyTimes = empty == nil ? nil : results.last
    return Findings(
      Self.comparisons(of: what, results[0], emptyTimes)
        + zip(names, results.dropFirst()).map { name, reference in
          Measure(
            Self.id, what, unit: "ms", ours: results[0], reference: reference, named: name)
        })
  }

  /// Against an empty Swift program, which may not be there.
  private static func comparisons(
    of what: String, _ ours: Distribution, _ empty: Distribution?
  ) -> [Measure] {
    let name = "an empty Swift program"
    let whole = Measure(Self.id, what, unit: "ms", ours: ours, reference: empty, named: name)
    guard let empty else { return [whole] }
    return [
      Measure(
        Self.id, "the same, without what \(name) takes", unit: "ms",
        ours: Distribution(ours.values.map { max(0, $0 - empty.median) }), bar: .oursAtMost(4)),
      whole,
    ]
  }
}
