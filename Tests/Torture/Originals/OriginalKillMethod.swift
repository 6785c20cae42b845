import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// Kills processes that change stores of originals, and checks the folders afterwards.
struct OriginalKillMethod: CountedMethod {
  static let name = "originals-kill"
  static let counts = (range: 2...1_000_000, standard: 200)
  static let grammar = makeGrammar(
    summary: "kills processes that keep, replace, evict, continue and remove originals",
    count: "processes to kill (200)",
    discussion: """
      A child keeps, replaces, evicts and removes originals, has downloads break off and go on, flushes and
      opens in random order, and is killed at a random moment; half of the children have room for all
      originals, so that none may be missing. In between bodies are changed, cut, swapped and replaced by links
      and pipes, files without rows are added, the folder is deleted, or the database is overwritten. After
      each kill the folder must not exceed its limit, before and after the next original is kept, and the
      database must be whole. Every original, and each beginning of one, is compared with what its
      number says, and the originals with the child's ledger.
      """)

  let count: Int
  let seed: UInt64
  var plant: OriginalWorker.Plant?

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    var random = SplitMix64(state: seed)
    for isTight in [true, false] {
      try await run(max(1, count / 2), isTight: isTight, findings, using: &random)
    }
    return findings
  }

  private func run(
    _ kills: Int, isTight: Bool, _ findings: Findings, using random: inout SplitMix64
  ) async throws {
    let folder = try OriginalsFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    let ledger = try Ledger(path: folder.ledgerPath)
    let limit = isTight ? OriginalCatalogue.tightLimit : OriginalCatalogue.wideLimit
    var model = OriginalModel(mayEvict: isTight)
    for _ in 0..<kills {
      ledger.clear()
      let childSeed = Int.random(in: 0...1 << 40, using: &random)
      let child = try ChildProcess([
        ChildRole.word, "originals", folder.path, String(plant?.rawValue ?? 0), String(limit),
        String(childSeed), "0",
      ])
      // Its start would be most of its life; and only a longer one fills the folder.
      let ending = child.endingBefore(plant == .large ? 60 : 3, in: ledger)
      pause(microseconds: Int.random(in: 0..<30_000, using: &random))
      child.kill()
      let context = "a child with seed \(childSeed)"
      switch ending ?? child.ending() {
      case .signal(SIGKILL): findings.count("kills")
      case .exit(ChildVerdict.done): break
      case .exit(ChildVerdict.sawWrongImage): findings.report(.wrongImage, "seen by \(context)")
      case let other: findings.report(.crash, "\(context) ended by \(other)")
      }
      findings.count("steps done", ledger.count)
      model.replay(ledger)
      let found = try await check(folder, model, limit, findings, context)
      model = OriginalModel(present: found, mayEvict: isTight)
      if Int.random(in: 0..<3, using: &random) == 0 {
        model = try await strike(folder, found, isTight: isTight, findings, using: &random)
      }
    }
  }

  /// - Returns: The version of each original that is there.
  private func check(
    _ folder: OriginalsFolder, _ model: OriginalModel, _ limit: Int, _ findings: Findings,
    _ context: String
  ) async throws -> [Int: Int] {
    folder.checkLimit(limit, findings, "after the kill of \(context)")
    let program = try await OriginalProgram(folder, byteLimit: limit)
    var found = try await program.versions()
    findings.count("originals compared", found.count)
    model.judge(found, findings, context)
    try await program.checkNext(findings, context)
    try await program.store.flush()
    folder.checkLimit(limit, findings, "after the next original, \(context)")
    try await program.checkBeginning(findings, context)
    // What was there for the next one may have gone, and the large one was asked about.
    for (number, version) in try await program.versions() where found[number] != version {
      findings.report(.undead, "version \(version) of \(number) after a look, \(context)")
    }
    found = try await program.versions()
    return found
  }

  /// Attacks of others between two sessions; whatever they leave has to be found or missed, and nothing else.
  private func strike(
    _ folder: OriginalsFolder, _ found: [Int: Int], isTight: Bool, _ findings: Findings,
    using random: inout SplitMix64
  ) async throws -> OriginalModel {
    let kind = Int.random(in: 0..<8, using: &random)
    guard kind < 6 else {
      if kind == 7, let handle = FileHandle(forUpdatingAtPath: folder.database) {
        // A store says so, and deletes nothing: that is its user's business.
        try handle.write(contentsOf: Data(repeating: 7, count: 4096))
        try handle.close()
        let store = OriginalStore(directory: folder.url)
        findings.count("databases broken")
        if (try? await store.open()) != nil {
          findings.report(.other, "a broken database was opened")
        }
      }
      try FileManager.default.removeItem(atPath: folder.path)
      findings.count("folders deleted")
      return OriginalModel(mayEvict: isTight)
    }
    guard let file = folder.bodies.randomElement(using: &random),
      var bytes = FileManager.default.contents(atPath: file), !bytes.isEmpty
    else { return OriginalModel(present: found, mayEvict: isTight) }
    let url = URL(filePath: file)
    let other = folder.bodies.randomElement(using: &random) ?? file
    switch kind {
    case 0:
      bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1
      try bytes.write(to: url)
    case 1: try bytes.dropLast().write(to: url)
    case 2:
      unlink(file)
      symlink(other, file)
    case 3:
      unlink(file)
      mkfifo(file, 0o600)
    case 4: try FileManager.default.contents(atPath: other)?.write(to: url)
    default:
      try bytes.write(to: URL(filePath: folder.path + "/bodies/0123456789abcdef-0123456789abcdef"))
    }
    findings.count("bodies damaged")
    let program = try await OriginalProgram(folder, byteLimit: OriginalCatalogue.wideLimit)
    let left = try await program.versions()
    for (number, version) in left where version != found[number] {
      findings.report(.wrongImage, "original \(number) after an attack")
    }
    return OriginalModel(present: left, mayEvict: isTight)
  }
}
