import CInterposer
import CommandSupport
import Foundation
import Locking
import TableStore
import TestSupport

/// Reads another process's table while that process writes, and inherits the table.
struct ProcessesMethod: CountedMethod {
  static let name = "processes"
  static let counts = (range: 1...1_000_000_000, standard: 20_000)
  static let grammar = makeGrammar(
    summary: "reads a table that another process writes, takes it over, and takes guests in",
    count: "lookups (20000)",
    discussion: """
      A child owns a table of four slots and stores twelve images in it, in random order and without
      pause. This process looks them up by copying; a copy that the writer tore must be refused. From
      time to time it stores images of its own, and the owner is killed: the next store must make
      this process the owner, with its own images brought along. Then another child stores images
      as a guest and is killed: this process takes in what the guest drew.
      """)

  private static let lookupsPerOwner = 2000

  let count: Int
  let seed: UInt64
  var plant: Plant?
  private var grantsLocks: Bool { plant == .grantedLocks }

  enum Plant {
    /// Several processes get the lock that only one may have.
    case grantedLocks
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: grantsLocks)
    var random = SplitMix64(state: seed)
    let folder = try TableFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    let ledger = try Ledger(path: TableOwner.ledgerPath(besides: folder))
    interposer_grant_locks(grantsLocks ? 1 : 0)
    defer { interposer_grant_locks(0) }
    while findings.value("lookups") < count {
      ledger.clear()
      let owner = try ChildProcess([
        ChildRole.word, "owner", folder.path, String(Int.random(in: 0...1 << 40, using: &random)),
        grantsLocks ? "1" : "0",
      ])
      let ending = owner.endingBefore(1, in: ledger)
      try share(folder, ledger, with: owner, hasEnded: ending != nil, findings, using: &random)
    }
    return findings
  }

  private func share(
    _ folder: TableFolder, _ ledger: Ledger, with owner: ChildProcess, hasEnded: Bool,
    _ findings: Findings,
    using random: inout SplitMix64
  ) throws {
    let reads = SlotReads()
    let table = try folder.open(
      slots: TableOwner.slots, geometry: TableOwner.geometry, system: reads.system)
    if !grantsLocks, table.statistics.isOwner {
      findings.report(.other, "two processes own one table")
    }
    for _ in 0..<Self.lookupsPerOwner {
      look(in: table, reads, findings, using: &random)
      if grantsLocks {
        try table.store(TableOwner.catalogue.randomImage(using: &random), in: TableOwner.catalogue)
      }
    }
    let own = TableOwner.readersOwn
    try table.store(own, in: TableOwner.catalogue)
    expect(own, in: table, findings, "beside the owner")
    if !hasEnded {
      owner.kill()
      let ending = owner.ending()
      if ending != .signal(SIGKILL) { findings.report(.crash, "the owner ended by \(ending)") }
    }
    findings.count("owners killed")
    let other = TableOwner.readersNext
    try table.store(other, in: TableOwner.catalogue)
    if !table.statistics.isOwner { findings.report(.other, "a dead process owns the table") }
    findings.count("tables taken over")
    expect(other, in: table, findings, "taken over")
    expect(own, in: table, findings, "brought along")
    if !grantsLocks { try importSlots(to: table, folder, ledger, findings, using: &random) }
    table.close()
  }

  /// Kills a guest in the midst of its work, and takes in what it drew.
  private func importSlots(
    to table: Table, _ folder: TableFolder, _ ledger: Ledger, _ findings: Findings,
    using random: inout SplitMix64
  ) throws {
    ledger.clear()
    let guest = try ChildProcess([
      ChildRole.word, "guest", folder.path, String(Int.random(in: 0...1 << 40, using: &random)),
    ])
    var ending = guest.endingBefore(3, in: ledger)
    pause(microseconds: Int.random(in: 0..<2000, using: &random))
    if ending == nil {
      guest.kill()
      ending = guest.ending()
    }
    if ending != .signal(SIGKILL), ending != .exit(ChildVerdict.done) {
      findings.report(.crash, "the guest ended by \(String(describing: ending))")
    }
    findings.count("guests killed")
    try table.flush()
    let files = try folder.fileNames
    if files.count > 1 { findings.report(.other, "the folder has \(files)") }
    // The one before the last came to its end; both are the latest used.
    let line = ledger.line(max(0, ledger.count - 2))
    if line.isDone == 1 {
      expect(ImageVersion(entity: Int(line.entity), version: 0), in: table, findings, "of a guest")
    }
    for image in TableOwner.catalogue.images {
      guard let entry = table.entry(for: TableOwner.catalogue.key(image)) else { continue }
      if !entry.shows(image) { findings.report(.wrongImage, "\(image), taken in") }
    }
  }

  private func look(
    in table: Table, _ reads: SlotReads, _ findings: Findings, using random: inout SplitMix64
  ) {
    let image = TableOwner.catalogue.randomImage(using: &random)
    let before = reads.count
    findings.count("lookups")
    guard let entry = table.entry(for: TableOwner.catalogue.key(image)) else {
      if reads.count > before { findings.count("torn copies refused") }
      return
    }
    findings.count("hits")
    if !entry.shows(image) { findings.report(.wrongImage, "\(image)") }
  }

  private func expect(
    _ image: ImageVersion, in table: Table, _ findings: Findings, _ context: String
  ) {
    guard let entry = table.entry(for: TableOwner.catalogue.key(image)) else {
      findings.report(.lostEntry, "\(image), \(context)")
      return
    }
    if !entry.shows(image) { findings.report(.wrongImage, "\(image), \(context)") }
  }
}

/// Counts the slots that a table reads by copy.
private final class SlotReads: Sendable {
  private let state = Lock(0)

  var count: Int { state.withLock { $0 } }

  var system: SystemCalls {
    SystemCalls { [state] call throws(SystemError) in
      // A read announces its offset, not its length; slots lie behind the records.
      guard call.kind == .read, call.offset >= 32 << 10 else { return }
      state.withLock { $0 += 1 }
    }
  }
}
