import CInterposer
import CommandSupport
import Foundation
import TableStore
import TestSupport

/// Kills processes that change a table, and checks the table afterwards.
struct KillMethod: TortureMethod {
  static let name = "kill"
  static let grammar = makeGrammar(
    summary: "kills processes at every system call and at random moments",
    count: "processes to kill (300)",
    discussion: """
      Three parts. A child stores, replaces, evicts, removes, renames, empties, flushes and opens in a fixed
      order and dies before, within or after one system call, each in turn; that takes a third of the
      kills, or as many as there are calls. A child does all that in random order and is killed at a random moment. Three
      children do so at once on one table, while its file is deleted, renamed, or replaced by
      garbage, by a link, by a pipe, by a copy of itself. After each kill the table is opened, in the
      first two parts with its index file or without, as after a start of the system, and
      every image compared with what its key says. In the first two parts the children keep a
      ledger, so that an acknowledged image that is missing, or a removed one that is back, is
      seen too.
      """)

  private let count: Int
  private let seed: UInt64

  init(_ arguments: Arguments, seed: UInt64) throws {
    count = try arguments.integer("--count", in: 1...1_000_000) ?? 300
    self.seed = seed
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed)
    var random = SplitMix64(state: seed)
    let script = ScriptedKills(findings: findings, plants: .none)
    try script.run(upTo: count / 3, using: &random)
    let single = try RandomKills(findings: findings)
    let singleCount = (count - findings.value("kills")) / 2
    try single.run(count: singleCount, using: &random)
    let crowd = try CrowdKills(findings: findings)
    try crowd.run(count: max(1, count - findings.value("kills")), using: &random)
    return findings
  }
}

/// Faults that a run is to find.
struct KillPlants: OptionSet {
  let rawValue: Int
  static let none: KillPlants = []
  /// The record is written before the content it names.
  static let reversedWrites = KillPlants(rawValue: 1)
  /// Content is not checked before it is shown.
  static let deafProof = KillPlants(rawValue: 2)
  /// The next owner does not know what the dead one had in hand.
  static let forgottenClaims = KillPlants(rawValue: 4)
}

/// Kills at each system call in turn.
struct ScriptedKills {
  let findings: Findings
  let plants: KillPlants

  /// Goes over all calls, or over as many of them, evenly spread, as the limit allows.
  func run(upTo limit: Int, using random: inout SplitMix64) throws {
    guard interposer_is_available() != 0 else {
      Console.note("kill: calls cannot be stood before here, so that none is died in.")
      return
    }
    let proof = plants.contains(.deafProof) ? try DeafProof(KillScript.catalogue) : nil
    // The count of calls is known when the script comes to its end.
    var points: [(call: Int, part: interposer_part)] = []
    for part in [interposer_before, interposer_inside, interposer_after] {
      let calls = try callCount(part)
      points += (0..<calls).map { ($0, part) }
    }
    findings.count("kill points", points.count)
    if limit < points.count {
      points.shuffle(using: &random)
      points = Array(points.prefix(limit))
    }
    for (call, part) in points { try kill(at: call, part, proof, using: &random) }
  }

  /// Finds the count of the script's calls, or of its writes, by bisection.
  private func callCount(_ part: interposer_part) throws -> Int {
    var (low, high) = (0, 4096)
    while low < high {
      let middle = (low + high) / 2
      let folder = try prepared()
      if try runScript(in: folder, middle, part) == .exit(ChildVerdict.done) {
        high = middle
      } else {
        low = middle + 1
      }
    }
    return low
  }

  private func prepared() throws -> TableFolder {
    let folder = try TableFolder()
    let table = try folder.open(slots: KillScript.slots)
    for entity in 0..<KillScript.slots {
      try table.store(ImageVersion(entity: entity, version: 0), in: KillScript.catalogue)
    }
    table.close()
    return folder
  }

  private func runScript(
    in folder: TableFolder, _ call: Int, _ part: interposer_part
  ) throws -> ChildProcess.Ending {
    let isReversed = plants.contains(.reversedWrites) ? "1" : "0"
    return try ChildProcess([
      ChildRole.word, "script", folder.path, String(call), String(part.rawValue), isReversed,
    ]).ending()
  }

  private func kill(
    at call: Int, _ part: interposer_part, _ proof: DeafProof?, using random: inout SplitMix64
  ) throws {
    let folder = try prepared()
    let ending = try runScript(in: folder, call, part)
    let context = "killed at call \(call), part \(part.rawValue)"
    guard ending == .signal(SIGKILL) else {
      findings.report(.crash, "the child ended by \(ending), \(context)")
      return
    }
    findings.count("kills")
    let before = Dictionary(uniqueKeysWithValues: (0..<KillScript.slots).map { ($0, 0) })
    var model = KillModel(present: before, slots: KillScript.slots)
    model.replay(try Ledger(path: KillScript.ledgerPath(besides: folder)))
    if plants.contains(.forgottenClaims) {
      try folder.forgetClaims()
    } else if Bool.random(using: &random) {
      try folder.removeIndex()
    }
    _ = try Aftermath(folder: folder, catalogue: KillScript.catalogue, findings: findings)
      .check(model, proof, context)
  }
}

/// Kills at random moments, again and again on the same table.
struct RandomKills {
  let findings: Findings
  private let folder: TableFolder
  private let ledger: Ledger

  init(findings: Findings) throws {
    self.findings = findings
    folder = try TableFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    ledger = try Ledger(path: KillScript.ledgerPath(besides: folder))
  }

  func run(count: Int, using random: inout SplitMix64) throws {
    var model = KillModel(slots: KillMix.capacities[0])
    let aftermath = Aftermath(folder: folder, catalogue: KillMix.catalogue, findings: findings)
    for _ in 0..<count {
      ledger.clear()
      let seed = Int.random(in: 0...1 << 40, using: &random)
      let child = try ChildProcess([ChildRole.word, "mix", folder.path, String(seed)])
      // The child is killed after it has begun to work, since its start would be most of its life.
      let ending = child.endingBefore(2, in: ledger)
      pause(microseconds: Int.random(in: 0..<4000, using: &random))
      child.kill()
      let last = ending ?? child.ending()
      let context = "a child with seed \(seed)"
      switch last {
      case .signal(SIGKILL): findings.count("kills")
      case .exit(ChildVerdict.sawWrongImage): findings.report(.wrongImage, "seen by \(context)")
      case .exit(ChildVerdict.done): break
      default: findings.report(.crash, "\(context) ended by \(last)")
      }
      findings.count("steps done", ledger.count)
      model.replay(ledger)
      if Bool.random(using: &random) { try folder.removeIndex() }
      let found = try aftermath.check(model, nil, context)
      model = model.next(found: found)
    }
  }
}

/// Opens a table after its process was killed.
struct Aftermath {
  let folder: TableFolder
  let catalogue: Catalogue
  let findings: Findings

  /// Compares every image, and returns the version of each entity that is there.
  func check(
    _ model: KillModel, _ proof: DeafProof?, _ context: @autoclosure () -> String
  ) throws -> [Int: Int] {
    let table: Table
    do {
      table = try folder.open(slots: model.slots)
    } catch {
      findings.report(.other, "the table cannot be opened, \(context()): \(error)")
      return [:]
    }
    findings.count("openings")
    if !table.statistics.isOwner { findings.report(.other, "somebody owns it, \(context())") }
    // A kill keeps whole calls, so that no record names content that is not there. Asked before any
    // hit, which would take a damaged image out.
    if proof == nil, try folder.isDamaged {
      findings.report(.other, "a record names other content, \(context())")
    }
    var found: [Int: Int] = [:]
    for image in catalogue.images {
      let key = catalogue.key(image)
      let answer = proof.map { $0.answering(image) { table.entry(for: key) } }
      guard let entry = answer ?? table.entry(for: key) else { continue }
      findings.count("hits")
      guard entry.shows(image) else {
        findings.report(.wrongImage, "\(image), \(context())")
        continue
      }
      if let other = found.updateValue(image.version, forKey: image.entity) {
        findings.report(.undead, "version \(other) besides \(image), \(context())")
      }
    }
    model.judge(found, findings, context())
    table.close()
    if proof == nil, findings.value("openings") % 2 == 0 {
      try readRecords(model.slots, found, context())
    }
    let names = try folder.fileNames
    if names != [try folder.fileName] {
      findings.report(.other, "the folder has \(names), \(context())")
    }
    return found
  }

  /// Opens the table as after a start of the system, which finds the same by the records as by the index.
  private func readRecords(_ slots: Int, _ found: [Int: Int], _ context: String) throws {
    let other = SystemCalls(observer: nil, bootID: BootID(naming: "another start"))
    let table = try folder.open(slots: slots, system: other)
    findings.count("openings by records")
    for image in catalogue.images {
      let entry = table.entry(for: catalogue.key(image))
      if entry?.shows(image) == false {
        findings.report(.wrongImage, "\(image), by the records, \(context)")
      }
      let wasFound = found[image.entity] == image.version
      guard (entry != nil) != wasFound else { continue }
      findings.report(wasFound ? .lostEntry : .undead, "\(image), by the records, \(context)")
    }
    table.close()
  }
}
