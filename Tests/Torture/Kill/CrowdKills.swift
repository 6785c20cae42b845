import CommandSupport
import Foundation
import TableStore
import TestSupport

/// Kills one of several processes on a table while its file is sabotaged.
struct CrowdKills {
  private static let memberCount = 3

  private struct Member {
    let child: ChildProcess
    let ledger: Ledger
  }

  private let findings: Findings
  private let folder: TableFolder
  private let sabotage: Sabotage

  init(findings: Findings) throws {
    self.findings = findings
    folder = try TableFolder()
    try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    sabotage = try Sabotage(folder: folder)
  }

  func run(count: Int, using random: inout SplitMix64) throws {
    var members: [Member] = []
    for number in 0..<Self.memberCount { members.append(try start(number, using: &random)) }
    for round in 0..<count {
      let number = Int.random(in: 0..<members.count, using: &random)
      while members[number].ledger.count == 0, members[number].child.isRunning {
        pause(microseconds: 100)
      }
      if Int.random(in: 0..<3, using: &random) == 0 {
        findings.count(try sabotage.strike(using: &random))
      }
      pause(microseconds: Int.random(in: 0..<3000, using: &random))
      try end(members[number].child)
      try look("after kill \(round) of the crowd")
      members[number] = try start(number, using: &random)
    }
    for member in members { try end(member.child, isCounted: false) }
    try lookAtLast()
  }

  private func start(_ number: Int, using random: inout SplitMix64) throws -> Member {
    let ledger = try Ledger(path: CrowdMember.ledgerPath(besides: folder, member: number))
    ledger.clear()
    let seed = Int.random(in: 0...1 << 40, using: &random)
    let child = try ChildProcess([
      ChildRole.word, "crowd", folder.path, String(seed), String(number),
    ])
    return Member(child: child, ledger: ledger)
  }

  private func end(_ child: ChildProcess, isCounted: Bool = true) throws {
    child.kill()
    switch child.ending() {
    case .signal(SIGKILL):
      if isCounted { findings.count("kills") }
    case .exit(ChildVerdict.sawWrongImage):
      findings.report(.wrongImage, "seen by one of the crowd")
    case let ending:
      findings.report(.crash, "one of the crowd ended by \(ending)")
    }
  }

  /// Opens the table beside the others, and compares every hit.
  private func look(_ context: @autoclosure () -> String) throws {
    let table: Table
    do {
      table = try folder.open(slots: CrowdMember.slots)
    } catch {
      findings.report(.other, "the table cannot be opened, \(context()): \(error)")
      return
    }
    findings.count("openings")
    for image in CrowdMember.catalogue.images {
      guard let entry = table.entry(for: CrowdMember.catalogue.key(image)) else { continue }
      findings.count("hits")
      if !entry.shows(image) { findings.report(.wrongImage, "\(image), \(context())") }
    }
    table.close()
  }

  /// After the end of all members the next opener owns the table, and no file of theirs is left.
  private func lookAtLast() throws {
    let table = try folder.open(slots: CrowdMember.slots)
    if !table.statistics.isOwner { findings.report(.other, "a dead process owns the table") }
    table.close()
    try look("at the end of the crowd")
    let foreign = try folder.fileNames.filter { $0 != (try folder.fileName) }
    let unexpected = foreign.filter { !sabotage.isOurs($0) }
    if !unexpected.isEmpty { findings.report(.other, "the folder has \(unexpected)") }
    if !sabotage.isTargetUntouched { findings.report(.other, "a link's target was written to") }
  }
}
