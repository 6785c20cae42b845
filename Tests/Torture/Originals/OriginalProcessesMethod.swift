import CommandSupport
import FastImageCache
import Foundation
import TestSupport

/// Kills processes that share a folder of originals, each as good as the other.
struct OriginalProcessesMethod: CountedMethod {
  static let name = "originals-processes"
  static let counts = (range: 1...1_000_000, standard: 50)
  static let grammar = makeGrammar(
    summary: "kills processes that share a folder of originals",
    count: "processes to kill (50)",
    discussion: """
      Three children keep, replace, evict, continue, read and remove originals in one folder without pause, and compare
      every byte. One after the other is killed at a random moment, and another one begins. Now and then all are
      halted: the folder may not exceed its limit. Each child must go on while others come and go.
      """)

  private static let memberCount = 3
  let count: Int
  let seed: UInt64
  var plant: OriginalWorker.Plant?

  private struct Member {
    let child: ChildProcess
    let ledger: Ledger
  }

  func run() async throws -> Findings {
    let findings = Findings(Self.name, seed: seed, isQuiet: plant != nil)
    var random = SplitMix64(state: seed)
    let folder = try OriginalsFolder()
    try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    var members = try (1...Self.memberCount).map { try start($0, folder, using: &random) }
    for turn in 0..<count {
      let index = Int.random(in: 0..<members.count, using: &random)
      for (number, member) in members.enumerated() where !goesOn(member) {
        findings.report(.crash, "member \(number) does nothing, turn \(turn)")
      }
      pause(microseconds: Int.random(in: 0..<10_000, using: &random))
      if turn.isMultiple(of: 3) {
        for member in members { member.child.halt() }
        pause(microseconds: 1000)
        folder.checkLimit(OriginalCatalogue.tightLimit, findings, "turn \(turn)")
        for member in members { member.child.go() }
      }
      end(members[index], findings)
      findings.count("processes killed")
      members[index] = try start(index + 1, folder, using: &random)
    }
    for member in members { end(member, findings) }
    let program = try await OriginalProgram(folder, byteLimit: OriginalCatalogue.tightLimit)
    for (number, version) in try await program.versions() where version == 0 {
      findings.report(.wrongImage, "original \(number)")
    }
    return findings
  }

  private func start(
    _ number: Int, _ folder: OriginalsFolder, using random: inout SplitMix64
  ) throws -> Member {
    let ledger = try Ledger(path: OriginalWorker.ledgerPath(folder, member: number))
    ledger.clear()
    let child = try ChildProcess([
      ChildRole.word, "originals", folder.path, String(plant?.rawValue ?? 0),
      String(OriginalCatalogue.tightLimit), String(Int.random(in: 0...1 << 40, using: &random)),
      String(number),
    ])
    return Member(child: child, ledger: ledger)
  }

  /// Whether it makes a few steps more.
  private func goesOn(_ member: Member) -> Bool {
    let steps = min(member.ledger.count + 3, Ledger.capacity)
    while member.ledger.count < steps {
      guard member.child.isRunning else { return false }
      pause(microseconds: 100)
    }
    return true
  }

  private func end(_ member: Member, _ findings: Findings) {
    member.child.kill()
    findings.count("steps done", member.ledger.count)
    switch member.child.ending() {
    case .signal(SIGKILL), .exit(ChildVerdict.done): break
    case .exit(ChildVerdict.sawWrongImage): findings.report(.wrongImage, "seen by a child")
    case let ending: findings.report(.crash, "a child ended by \(ending)")
    }
  }
}
