import CommandSupport
import FastImageCache

/// The first images of a program that has just been started.
struct FirstFrame: Scenario {
  static let id = "P17"
  static let name = "first-frame"
  static let summary = """
    a fresh process that opens a cache of 1000 photos, shows five and reads their bytes, from \
    posix_spawn(3) to the last byte; without what an empty Swift program takes (--empty); against the \
    same executable that does nothing, and against processes that obtain the same five from the peers' \
    stores. Those of --peers load that library, with all below it: the row against a process that \
    loads it and does nothing tells what remains for the store. Tests/Benchmarks/run links Swift's \
    runtime into all of them
    """

  private static let shownCount = 5
  private static let side = 200

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.imageCount
    let gallery = try await Gallery(
      Self.name, count: count, side: Self.side, roles: [.open, .scroll], setting: setting)
    // The programs have folders to themselves.
    await gallery.close()
    func launch(
      _ program: LaunchedProgram.Program, library: String? = nil
    ) throws -> FreshProcess {
      try FreshProcess(
        LaunchedProgram(
          program: program, place: setting.place.url, galleryName: Self.name, count: count,
          side: Self.side, shownCount: Self.shownCount, library: library))
    }
    let builtIn = try PeerLibrary(path: nil)
    var others = [
      ("the same program that does nothing", try launch(.nothing)),
      ("a program in C that does nothing", FreshProcess.inC),
    ]
    if let library = setting.peers.path {
      others.append(
        ("the same that loads the peers' library", try launch(.libraries, library: library)))
    }
    others += try gallery.stores.map { store in
      let library = builtIn.has(store.name) ? nil : setting.peers.path
      return (store.name, try launch(.peer(store.name), library: library))
    }
    if let path = setting.emptyProgram {
      others.append((LaunchedProgram.emptyName, FreshProcess(path: path)))
    }
    let launches = [try launch(.cache)] + others.map(\.1)
    let results = try await Contest(
      launches.map { launch in Contest.Contender { try launch.milliseconds() } }
    ).run(roundCount: min(setting.effort.roundCount, 60), warmUpCount: 2)
    let what = "\(Self.shownCount) of \(count) images in a fresh process"
    return Findings(
      LaunchedProgram.beyondEmpty(
        Self.id, what, results[0], setting.emptyProgram == nil ? nil : results.last,
        millisecondsAtMost: 4)
        + zip(others, results.dropFirst()).map { other, reference in
          Measure(
            Self.id, what, unit: "ms", ours: results[0], reference: reference, named: other.0)
        })
  }
}
