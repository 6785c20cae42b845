import CommandSupport
import FastImageCache

/// The first pictures of a program that has just been started.
struct FirstFrame: Scenario {
  static let id = "P17"
  static let name = "first-frame"
  static let summary = """
    a fresh process that opens a cache of 1000 pictures, shows five and reads their bytes, from \
    posix_spawn(3) to the last byte, against the same executable that does nothing, and against \
    processes that obtain the same five from the peers' stores, and load the same libraries. \
    What those libraries cost is the row against a program in C that ends at once
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
    let launches =
      try [launch(.nothing), FreshProcess.inC, launch(.cache)]
      + stores.map { try launch(.peer($0.name)) }
    let results = try await Contest(
      launches.map { launch in Contest.Contender { try launch.milliseconds() } }
    ).run(roundCount: min(setting.effort.roundCount, 60), warmUpCount: 2)
    let (empty, inC, ours, others) = (results[0], results[1], results[2], results.dropFirst(3))

    func measure(_ reference: Distribution, named name: String) -> Measure {
      Measure(
        Self.id, "\(Self.shownCount) of \(count) pictures in a fresh process", unit: "ms",
        ours: ours, reference: reference, named: name)
    }
    let nothing = "the same program that does nothing"
    return Findings(
      [
        Measure(
          Self.id, "the same, without what nothing takes", unit: "ms",
          ours: Distribution(ours.values.map { max(0, $0 - empty.median) }), bar: .oursAtMost(4)),
        measure(empty, named: nothing),
      ]
        + zip(stores, others).map { measure($1, named: $0.name) }
        + [
          Measure(
            Self.id, nothing, unit: "ms", ours: empty, reference: inC,
            named: "a program in C that does nothing")
        ])
  }
}
