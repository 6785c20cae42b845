import CommandSupport
import Foundation
import TestSupport

/// Works for a long time, and checks that no figure grows.
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
      each turn the bytes in blocks that were taken and not freed, private memory, open descriptors,
      mappings and the files in the folder are counted, and forty of these samples are printed. The
      first fifth is warm-up. Afterwards descriptors and mappings must not rise above what the
      warm-up had, by more than a few that come and go. The median of the bytes in use must not rise
      by more than libdispatch keeps for each thread, 72 KiB, and 128 KiB besides; that of private
      memory, which allocators enlarge as they please, must stay within a sixth and 4 MiB of its
      start. No temporary file may stay behind.
      """)

  private static let operationsPerTurn = 3000
  private static let printedCount = 40

  /// Planted faults: leaks at each turn.
  struct Leak {
    /// In blocks, each of them written to.
    var byteCount: Int
    var hasDescriptor = false
    /// The turns to do, without a time limit; so many that the leak shows.
    var turnCount = 100
  }

  private let seconds: Int
  private let seed: UInt64
  private let leak: Leak?

  init(_ arguments: Arguments, seed: UInt64) throws {
    let minutes = try arguments.integer("--minutes", in: 1...100_000) ?? 60
    let seconds = try arguments.integer("--seconds", in: 1...100_000)
    self.seconds = seconds ?? minutes * 60
    self.seed = seed
    leak = nil
  }

  init(planting leak: Leak, seed: UInt64) {
    seconds = 0
    self.seed = seed
    self.leak = leak
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: leak != nil)
    let folder = try TemporaryFolder(prefix: "imagecache-torture")
    let load = MixedLoad(folder: folder.url.path, findings: findings)
    let end = ContinuousClock.now + .seconds(seconds)
    var curve = SoakCurve()
    var leaked: [UnsafeMutableRawPointer] = []
    defer { for memory in leaked { memory.deallocate() } }
    repeat {
      try await load.run(
        operations: leak == nil ? Self.operationsPerTurn : 300,
        seed: seed &+ UInt64(curve.turnCount) &* 1000)
      if let leak { leaked.append(Self.leave(leak)) }
      // Freed memory that the allocator keeps would hide a leak.
      ProcessMemory.releaseFreeMemory()
      curve.append(ProcessFigures.now(), fileCount: Self.fileCount(below: folder.url.path))
    } while (ContinuousClock.now < end || curve.turnCount < leak?.turnCount ?? 10)
      && !Task.isCancelled
    findings.count("turns", curve.turnCount)
    if leak == nil { Console.print(curve.text(rows: Self.printedCount)) }
    for problem in curve.problems { findings.report(.other, problem) }
    return findings
  }

  private static func leave(_ leak: Leak) -> UnsafeMutableRawPointer {
    if leak.hasDescriptor { _ = dup(0) }
    let memory = UnsafeMutableRawPointer.allocate(byteCount: leak.byteCount, alignment: 8)
    memset(memory, 1, leak.byteCount)
    return memory
  }

  private static func fileCount(below path: String) -> Int {
    let files = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
    return files.count { $0.contains(".imagetable") }
  }
}
