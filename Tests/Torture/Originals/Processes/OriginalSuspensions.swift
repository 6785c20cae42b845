import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport

/// A store that is suspended in the middle of a keep; another process keeps meanwhile, and is killed.
struct OriginalSuspensions {
  let findings: Findings
  /// A planted fault: nobody suspends.
  let forgetsSuspension: Bool

  func run(using random: inout SplitMix64) async throws {
    let folder = try OriginalsFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let hook = Lock<(kind: SystemCall.Kind, job: @Sendable () -> Void)?>(nil)
    let shelf = folder.shelf(OriginalBudget(byteCount: OriginalCatalogue.wideBudget)) {
      $0.system = SystemCalls { call throws(SystemError) in
        let kind = call.kind
        hook.withLock { $0?.kind == kind ? $0.take() : nil }?.job()
      }
    }
    await shelf.budget.run { try? shelf.open() }
    var present: [Int: Int] = [:]
    for number in 0..<4 {
      await shelf.keep(number, 1)
      present[number] = 1
    }
    let user = OriginalUser(of: shelf)
    if !forgetsSuspension {
      let kinds: [SystemCall.Kind] = [.open, .write, .rename]
      let suspension = Lock<Task<Void, Never>?>(nil)
      hook.withLock { hook in
        hook = (
          kinds[Int.random(in: 0..<3, using: &random)],
          {
            suspension.withLock { $0 = Task { await user.suspend() } }
          }
        )
      }
      await shelf.keep(4, 1)
      await suspension.withLock { $0 }?.value
      present[4] = 1
    }
    checkLock(folder)
    await shelf.keep(5, 1)
    let known = try await otherProcess(on: folder, present, using: &random)
    await user.resume()
    let context = "after a suspension"
    let inspection = OriginalInspection(
      folder: folder, byteCount: OriginalCatalogue.wideBudget, findings: findings,
      context: context)
    let found = try inspection.found(on: shelf)
    check(known, on: shelf, context)
    try await inspection.keepOneMore(on: shelf)
    check(found, on: shelf, "\(context) and a sweep")
    findings.count("suspensions")
  }

  private func check(_ versions: [Int: Int], on shelf: OriginalShelf, _ context: String) {
    for (number, version) in versions where shelf.look(OriginalCatalogue.key(number)) == nil {
      findings.report(.other, "version \(version) of \(number) is not known, \(context)")
    }
  }

  /// Another process could own the folder now.
  private func checkLock(_ folder: OriginalsFolder) {
    let file = open(folder.path + "/originals.index", O_RDWR | O_CLOEXEC)
    defer { close(file) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
      return findings.report(.other, "a suspended store keeps its lock")
    }
    flock(file, LOCK_UN)
  }

  /// Lets a child keep and remove until it is killed, and compares what it left.
  ///
  /// - Returns: The versions that have a record.
  private func otherProcess(
    on folder: OriginalsFolder, _ present: [Int: Int], using random: inout SplitMix64
  ) async throws -> [Int: Int] {
    let ledger = try Ledger(path: folder.ledgerPath)
    let child = try ChildProcess([
      ChildRole.word, "originals-mix", folder.path, "0", "0",
      String(Int.random(in: 0...1 << 40, using: &random)),
    ])
    while ledger.count < 8, child.isRunning { pause(microseconds: 100) }
    pause(microseconds: Int.random(in: 0..<4000, using: &random))
    child.kill()
    if child.ending() != .signal(SIGKILL) { findings.report(.crash, "the other process ended") }
    var model = OriginalModel(present: present, mayEvict: false)
    model.replay(ledger)
    let inspection = OriginalInspection(
      folder: folder, byteCount: OriginalCatalogue.wideBudget, findings: findings,
      context: "while suspended")
    let shelf = await inspection.open()
    let found = try inspection.found(on: shelf)
    model.judge(found, findings, "while suspended")
    // A file whose record was not written before the kill is known from the next sweep on.
    return found.filter { shelf.look(OriginalCatalogue.key($0.key)) != nil }
  }
}
