import CInterposer
import CommandSupport
import Foundation
import OriginalStore
import TestSupport

/// Kills the owner of a folder of originals again and again while other processes read.
struct OriginalProcessesMethod: TortureMethod {
  static let name = "originals-processes"
  static let grammar = makeGrammar(
    summary: "kills owners of a folder of originals while other processes read",
    count: "owners to kill (50)",
    discussion: """
      A child owns a folder and keeps, replaces and removes without pause. Two others read by name alone
      and compare every byte; one of them is killed now and then. A second owner starts before the first
      is killed: it must keep nothing until then, and keep something afterwards. Between the two this
      process counts the folder's bytes. In between a store of this process is suspended in the middle of
      a keep: it must have no lock then, and know afterwards what another process kept.
      """)

  /// Faults that a run is to find.
  enum Plant: Int {
    case none
    /// The lock that only one process may have is granted to all.
    case grantedLocks
    /// The owner has a larger budget than it may have.
    case largeBudget
    /// Files get another's bytes.
    case swappedBytes
    /// Nobody suspends the store that is to be suspended.
    case noSuspension
  }

  private static let readerCount = 2
  private let count: Int
  private let seed: UInt64
  private let plant: Plant

  init(_ arguments: Arguments, seed: UInt64) throws {
    self.init(
      count: try arguments.integer("--count", in: 1...1_000_000) ?? 50, seed: seed, plant: .none)
  }

  init(count: Int, seed: UInt64, plant: Plant) {
    (self.count, self.seed, self.plant) = (count, seed, plant)
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != .none)
    var random = SplitMix64(state: seed)
    let folder = try OriginalsFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    var readers = try (0..<Self.readerCount).map { try start("reader", $0, folder, &random) }
    var owner = try start("owner", 2, folder, &random)
    _ = waitForSteps(3, of: owner)
    let suspensions = OriginalSuspensions(
      findings: findings, forgetsSuspension: plant == .noSuspension)
    for turn in 0..<count {
      if turn.isMultiple(of: 5) { try await suspensions.run(using: &random) }
      let heir = try start("owner", turn.isMultiple(of: 2) ? 3 : 2, folder, &random)
      // It has tried several times when this returns.
      if !waitForSteps(8, of: heir) { findings.report(.crash, "the second owner ended") }
      if heir.kept > 0 { findings.report(.other, "two processes own one folder, turn \(turn)") }
      pause(microseconds: Int.random(in: 0..<4000, using: &random))
      // Nobody writes while the folder is counted.
      heir.child.halt()
      end(owner, findings)
      findings.count("owners killed")
      if folder.byteCount > OriginalCatalogue.tightBudget {
        findings.report(.other, "the folder exceeds its budget, turn \(turn)")
      }
      heir.child.go()
      if plant == .none {
        while heir.kept == 0, heir.isRunning { pause(microseconds: 100) }
        if heir.kept > 0 { findings.count("folders taken over") }
      }
      owner = heir
      guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
      let number = Int.random(in: 0..<readers.count, using: &random)
      findings.count("reads", readers[number].reads)
      end(readers[number], findings)
      readers[number] = try start("reader", number, folder, &random)
    }
    for member in readers {
      _ = waitForSteps(1, of: member)
      findings.count("reads", member.reads)
      end(member, findings)
    }
    end(owner, findings)
    return findings
  }

  // MARK: Children

  private struct Member {
    let child: ChildProcess
    let ledger: Ledger

    /// How many originals it kept.
    var kept: Int { (0..<ledger.count).count { ledger.line($0).evicted == OriginalMember.kept } }
    var reads: Int { ledger.count * OriginalMember.readsPerLine }
    var isRunning: Bool { child.isRunning }
  }

  private func start(
    _ role: String, _ number: Int, _ folder: OriginalsFolder, _ random: inout SplitMix64
  ) throws -> Member {
    let ledger = try Ledger(path: OriginalMember.ledgerPath(besides: folder, member: number))
    ledger.clear()
    let child = try ChildProcess([
      ChildRole.word, "originals-\(role)", folder.path,
      String(Int.random(in: 0...1 << 40, using: &random)), String(number), String(plant.rawValue),
    ])
    return Member(child: child, ledger: ledger)
  }

  private func waitForSteps(_ count: Int, of member: Member) -> Bool {
    while member.ledger.count < count {
      guard member.isRunning else { return false }
      pause(microseconds: 100)
    }
    return true
  }

  private func end(_ member: Member, _ findings: Findings) {
    member.child.kill()
    switch member.child.ending() {
    case .signal(SIGKILL), .exit(ChildVerdict.done): break
    case .exit(ChildVerdict.sawWrongPicture):
      findings.report(.wrongPicture, "seen by a reader")
    case let ending: findings.report(.crash, "a child ended by \(ending)")
    }
  }
}
