import CommandSupport
import Foundation
import OriginalStore
import TableStore
import TestSupport

/// Kills processes that change a store of originals, and checks the folder afterwards.
struct OriginalKillMethod: TortureMethod {
  static let name = "originals-kill"
  static let grammar = makeGrammar(
    summary: "kills processes that keep, replace, evict and remove originals",
    count: "processes to kill (200)",
    discussion: """
      A child keeps, replaces, evicts, removes, sweeps and opens in a fixed order, and dies before or in
      the middle of one call to the system, each in turn, or as many of them as a third of the kills; a
      sixth for another child, whose downloads break off, go on and are finished. What is there of a
      download is compared, a byte of it is changed, and a load continues what is proven. Then
      children do so in random order on one folder, and are killed at random moments; half of them have
      room for all originals, so that none may be missing. In between the index is cut or replaced by
      garbage, a link, a pipe; so are originals; or the folder is deleted. After each kill the folder must not exceed the
      budget, before and after the next original is kept. Every original that is found is compared with
      what its key and version say, and with the child's ledger.
      """)

  private let count: Int
  private let seed: UInt64
  private let plants: OriginalWorker.Plants

  init(_ arguments: Arguments, seed: UInt64) throws {
    self.init(
      count: try arguments.integer("--count", in: 2...1_000_000) ?? 200, seed: seed, plants: .none)
  }

  init(count: Int, seed: UInt64, plants: OriginalWorker.Plants) {
    (self.count, self.seed, self.plants) = (count, seed, plants)
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plants != .none)
    var random = SplitMix64(state: seed)
    // Of the scripts only the second takes plants, and is the whole of such a run.
    if plants.contains(.partials) { return try await runPlanted(findings, using: &random) }
    if plants == .none { try await runScripts(findings, using: &random) }
    for isTight in [true, false] {
      let left = (count - findings.value("kills")) / (isTight ? 2 : 1)
      try await runMixes(max(1, left), isTight: isTight, findings, using: &random)
    }
    return findings
  }

  // MARK: Each call

  private func runScripts(_ findings: Findings, using random: inout SplitMix64) async throws {
    for (role, share) in [("originals-script", 3), ("originals-partials", 6)] {
      var points: [(call: Int, isMidway: Bool)] = []
      for call in 0..<(try callCount(role)) { points += [(call, false), (call, true)] }
      findings.count("kill points", points.count)
      if points.count > count / share {
        points = Array(points.shuffled(using: &random).prefix(max(1, count / share)))
      }
      for (call, isMidway) in points {
        let folder = try OriginalsFolder()
        try makeParent(of: folder)
        let ending = try script(role, folder, call, isMidway)
        let context = "killed \(isMidway ? "in" : "before") call \(call) of \(role)"
        guard ending == .signal(SIGKILL) else {
          findings.report(.crash, "the child ended by \(ending), \(context)")
          continue
        }
        findings.count("kills")
        let ledger = try Ledger(path: folder.ledgerPath)
        if role == "originals-script" {
          var model = OriginalModel(mayEvict: true)
          model.replay(ledger)
          _ = try await check(folder, model, isTight: true, findings, context)
        } else {
          let partial = KilledPartial(folder: folder, findings: findings, context: context)
          try await partial.check(ledger, using: &random)
        }
      }
    }
  }

  /// How many calls a script makes where it is let live.
  private func callCount(_ role: String) throws -> Int {
    let folder = try OriginalsFolder()
    try makeParent(of: folder)
    let ending = try script(role, folder, .max, false)
    let ledger = try Ledger(path: folder.ledgerPath)
    guard ending == .exit(ChildVerdict.done), ledger.count > 0 else {
      throw CommandFailure("The script ended by \(ending).")
    }
    return Int(ledger.line(ledger.count - 1).entity)
  }

  private func script(
    _ role: String, _ folder: OriginalsFolder, _ call: Int, _ isMidway: Bool
  ) throws -> ChildProcess.Ending {
    try ChildProcess([
      ChildRole.word, role, folder.path, String(plants.rawValue), "1", String(call),
      isMidway ? "1" : "0",
    ]).ending()
  }

  /// The script of partials with its plant, until the end or the plant's own.
  private func runPlanted(
    _ findings: Findings, using random: inout SplitMix64
  ) async throws -> Findings {
    for _ in 0..<count {
      let folder = try OriginalsFolder()
      try makeParent(of: folder)
      _ = try script("originals-partials", folder, 30, false)
      findings.count("kills")
      let partial = KilledPartial(folder: folder, findings: findings, context: "a plant")
      try await partial.check(try Ledger(path: folder.ledgerPath), using: &random)
    }
    return findings
  }

  // MARK: Random moments

  private func runMixes(
    _ kills: Int, isTight: Bool, _ findings: Findings, using random: inout SplitMix64
  ) async throws {
    let folder = try OriginalsFolder()
    try makeParent(of: folder)
    let ledger = try Ledger(path: folder.ledgerPath)
    let sabotage = try OriginalSabotage(folder: folder)
    var model = OriginalModel(mayEvict: isTight)
    // Only a longer life fills the folder.
    let leastSteps = plants.contains(.large) ? 60 : 3
    for _ in 0..<kills {
      ledger.clear()
      let seed = Int.random(in: 0...1 << 40, using: &random)
      let child = try ChildProcess([
        ChildRole.word, "originals-mix", folder.path, String(plants.rawValue), isTight ? "1" : "0",
        String(seed),
      ])
      // Its start would be most of its life.
      var ending: ChildProcess.Ending?
      while ledger.count < leastSteps, ending == nil {
        pause(microseconds: 100)
        ending = child.endingIfAny()
      }
      pause(microseconds: Int.random(in: 0..<8000, using: &random))
      child.kill()
      let last = ending ?? child.ending()
      let context = "a child with seed \(seed)"
      switch last {
      case .signal(SIGKILL): findings.count("kills")
      case .exit(ChildVerdict.done): break
      case .exit(ChildVerdict.sawWrongPicture): findings.report(.wrongPicture, "seen by \(context)")
      default: findings.report(.crash, "\(context) ended by \(last)")
      }
      findings.count("steps done", ledger.count)
      model.replay(ledger)
      let found = try await check(folder, model, isTight: isTight, findings, context)
      model = OriginalModel(present: found, mayEvict: isTight)
      guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
      let strike = sabotage.strike(using: &random)
      findings.count(strike.name)
      model.lose(strike.loss)
    }
    if !sabotage.isTargetUntouched { findings.report(.other, "a link's target was written to") }
  }

  private func makeParent(of folder: OriginalsFolder) throws {
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
  }

  // MARK: Afterwards

  /// Compares every original, and returns the version of each that is there.
  private func check(
    _ folder: OriginalsFolder, _ model: OriginalModel, isTight: Bool, _ findings: Findings,
    _ context: String
  ) async throws -> [Int: Int] {
    let inspection = OriginalInspection(
      folder: folder,
      byteCount: isTight ? OriginalCatalogue.tightBudget : OriginalCatalogue.wideBudget,
      findings: findings, context: context, isDamaged: model.isSabotaged)
    inspection.checkBudget("after the kill")
    let shelf = await inspection.open()
    var found = try inspection.found(on: shelf)
    model.judge(found, findings, context)
    try await inspection.keepOneMore(on: shelf, mayCountMore: model.isSabotaged)
    for number in found.keys where try shelf.read(OriginalCatalogue.key(number)) == nil {
      // Room was made for the extra one.
      if isTight {
        found[number] = nil
      } else {
        findings.report(.lostEntry, "\(number) at the sweep")
      }
    }
    return found
  }
}
