import CommandSupport
import Foundation
import TestSupport

/// Works for a long time, and sees to it that nothing grows.
struct SoakMethod: TortureMethod {
  static let name = "soak"
  static let grammar = makeGrammar(
    summary: "works for minutes and watches memory, descriptors, mappings and files",
    options: [
      .value("--minutes", "M", help: "how long (60)"),
      .value("--seconds", "S", help: "how long, in seconds instead"),
    ],
    discussion: """
      The load of `races`, with a cache that is closed and opened every few thousand operations. After
      each turn private memory, open descriptors, mappings and the files in the folder are counted,
      and forty of these samples are printed. The first fifth is warm-up. Afterwards descriptors and
      mappings must not rise above what the warm-up had, by more than a few that come and go, the
      median of memory must stay within a sixth and 4 MiB of its start, and no temporary file may
      stay behind.
      """)

  private static let operationsPerTurn = 3000
  private static let printedCount = 40

  private let seconds: Int
  private let seed: UInt64
  private let leaks: Bool

  init(_ arguments: Arguments, seed: UInt64) throws {
    let minutes = try arguments.integer("--minutes", in: 1...100_000) ?? 60
    let seconds = try arguments.integer("--seconds", in: 1...100_000)
    self.init(seconds: seconds ?? minutes * 60, seed: seed, leaks: false)
  }

  /// - Parameter leaks: A planted fault: a descriptor and some memory stay behind at each turn.
  init(seconds: Int, seed: UInt64, leaks: Bool) {
    self.seconds = seconds
    self.seed = seed
    self.leaks = leaks
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: leaks)
    let folder = try TemporaryFolder(prefix: "imagecache-torture")
    let load = MixedLoad(folder: folder.url.path, findings: findings)
    let end = ContinuousClock.now + .seconds(seconds)
    var curve = SoakCurve()
    var turn: UInt64 = 0
    var leaked: [UnsafeMutableRawPointer] = []
    repeat {
      try await load.run(
        operations: leaks ? 300 : Self.operationsPerTurn, seed: seed &+ turn &* 1000)
      turn += 1
      if leaks {
        _ = dup(0)
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 8)
        memset(memory, 1, 1 << 20)
        leaked.append(memory)
      }
      // What the allocator only keeps for later would hide what somebody forgot.
      ProcessMemory.releaseFreeMemory()
      curve.append(ProcessFigures.now(), fileCount: Self.fileCount(below: folder.url.path))
    } while (ContinuousClock.now < end || curve.count < 10) && !Task.isCancelled
    findings.count("turns", Int(turn))
    if !leaks { Console.print(curve.text(rows: Self.printedCount)) }
    for problem in curve.problems { findings.report(.other, problem) }
    for memory in leaked { memory.deallocate() }
    return findings
  }

  private static func fileCount(below path: String) -> Int {
    let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return files.count { $0.contains(".imagetable") }
  }
}
