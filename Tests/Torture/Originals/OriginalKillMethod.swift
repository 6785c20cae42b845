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
      the middle of one call to the system, each in turn, or as many of them as half of the kills. Then
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
    // Plants are for the random part: the script's calls need none.
    if plants == .none { try await runScripts(findings, using: &random) }
    for isTight in [true, false] {
      let left = (count - findings.value("kills")) / (isTight ? 2 : 1)
      try await runMixes(max(1, left), isTight: isTight, findings, using: &random)
    }
    return findings
  }

  // MARK: Each call

  private func runScripts(_ findings: Findings, using random: inout SplitMix64) async throws {
    var points: [(call: Int, isMidway: Bool)] = []
    let callCount = try callCount()
    for call in 0..<callCount { points += [(call, false), (call, true)] }
    findings.count("kill points", points.count)
    if points.count > count / 2 {
      points = Array(points.shuffled(using: &random).prefix(count / 2))
    }
    for (call, isMidway) in points {
      let folder = try OriginalsFolder()
      try makeParent(of: folder)
      let ending = try script(folder, call, isMidway)
      let context = "killed \(isMidway ? "in" : "before") call \(call)"
      guard ending == .signal(SIGKILL) else {
        findings.report(.crash, "the child ended by \(ending), \(context)")
        continue
      }
      findings.count("kills")
      var model = OriginalModel(mayEvict: true)
      model.replay(try Ledger(path: folder.ledgerPath))
      _ = try await check(folder, model, isTight: true, findings, context)
    }
  }

  /// How many calls the script makes where it is let live.
  private func callCount() throws -> Int {
    let folder = try OriginalsFolder()
    try makeParent(of: folder)
    let ending = try script(folder, .max, false)
    let ledger = try Ledger(path: folder.ledgerPath)
    guard ending == .exit(ChildVerdict.done), ledger.count > 0 else {
      throw CommandFailure("The script ended by \(ending).")
    }
    return Int(ledger.line(ledger.count - 1).entity)
  }

  private func script(
    _ folder: OriginalsFolder, _ call: Int, _ isMidway: Bool
  ) throws -> ChildProcess.Ending {
    try ChildProcess([
      ChildRole.word, "originals-script", folder.path, "0", "1", String(call), isMidway ? "1" : "0",
    ]).ending()
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
    let byteCount = isTight ? OriginalCatalogue.tightBudget : OriginalCatalogue.wideBudget
    func checkBudget(_ moment: String) {
      let used = folder.byteCount
      guard used > byteCount else { return }
      findings.report(.other, "the folder has \(used) of \(byteCount) bytes \(moment), \(context)")
    }
    checkBudget("after the kill")
    let budget = OriginalBudget(byteCount: byteCount)
    let shelf = folder.shelf(budget) {
      $0.report = { event in
        guard case .damaged(let id) = event, !model.isSabotaged else { return }
        findings.report(.other, "\(id) is damaged, \(context)")
      }
    }
    await budget.run { try? shelf.open() }
    var found: [Int: Int] = [:]
    for number in OriginalCatalogue.numbers {
      guard let kept = try shelf.read(OriginalCatalogue.key(number)) else { continue }
      findings.count("originals read")
      let version = OriginalCatalogue.version(of: kept, number)
      if version == nil { findings.report(.wrongPicture, "original \(number), \(context)") }
      found[number] = version ?? 0
    }
    model.judge(found, findings, context)
    // Owns, sweeps, and keeps: what the kill left is adopted or deleted, and counts.
    let extra = OriginalCatalogue.numbers.upperBound
    await shelf.keep(extra, 1)
    checkBudget("after the next original")
    if try shelf.read(OriginalCatalogue.key(extra)) == nil {
      findings.report(.lostEntry, "the original kept after the kill, \(context)")
    }
    // A stranger that was removed counts until the next sweep.
    let (counted, there) = (budget.usedByteCount, folder.byteCount)
    if model.isSabotaged ? counted < there : counted != there {
      findings.report(
        .other, "\(counted) bytes count of \(there), \(context)")
    }
    try await shelf.perform { shelf throws(TableError) in
      try shelf.remove(OriginalCatalogue.key(extra))
    }
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
