import Foundation
import OriginalStore
import TableStore
import TestSupport

/// A download whose process was killed: what is there of it is compared, damaged, and continued.
struct KilledPartial {
  let folder: OriginalsFolder
  let findings: Findings
  let context: String

  /// What had returned, and what was under way.
  private struct Expectation {
    var version = 1
    var blockCount = 0
    var isWhole = false
    /// A removal, or the whole original, was under way.
    var mayBeGone = false
    var mayBeWhole = false

    init(_ ledger: Ledger) {
      for index in 0..<ledger.count {
        let line = ledger.line(index)
        let step = Ledger.Step(rawValue: line.step)
        switch (step, line.isDone == 1) {
        case (.adopt, true): (version, blockCount) = (Int(line.entity), Int(line.version))
        case (.adopt, false): version = Int(line.entity)
        case (.store, true): (isWhole, blockCount) = (true, 0)
        case (.store, false): (mayBeWhole, mayBeGone) = (true, true)
        case (.remove, true): (isWhole, blockCount) = (false, 0)
        case (.remove, false): mayBeGone = true
        default: break
        }
      }
    }
  }

  func check(_ ledger: Ledger, using random: inout SplitMix64) async throws {
    let expectation = Expectation(ledger)
    let inspection = OriginalInspection(
      folder: folder, byteCount: LargeOriginal.budget, findings: findings, context: context,
      isDamaged: false)
    let shelf = await inspection.open()
    let isThere = try checkWhole(on: shelf)
    if expectation.isWhole, !isThere, !expectation.mayBeGone {
      findings.report(.lostEntry, "the whole original, \(context)")
    }
    if isThere, !expectation.isWhole, !expectation.mayBeWhole {
      findings.report(.undead, "the whole original, \(context)")
    }
    let count = await checkBlocks(on: shelf, expectation.version)
    if count < expectation.blockCount, !expectation.mayBeGone || expectation.mayBeWhole && !isThere
    {
      findings.report(.lostEntry, "\(count) of \(expectation.blockCount) blocks, \(context)")
    }
    if count > 0 { try await damage(count, expectation.version, using: &random) }
    try await finish(on: shelf, expectation.version)
    try await inspection.keepOneMore(on: shelf)
  }

  private func checkWhole(on shelf: OriginalShelf) throws -> Bool {
    guard let kept = try shelf.read(LargeOriginal.key(0)) else { return false }
    findings.count("large originals compared")
    let (_, isRight) = LargeOriginal.version(of: kept.bytes, kept.facts, 0)
    if !isRight || kept.bytes.count != LargeOriginal.byteCount {
      findings.report(.wrongPicture, "the whole original, \(context)")
    }
    return true
  }

  /// How many blocks a load would find now.
  private func checkBlocks(on shelf: OriginalShelf, _ version: Int) async -> Int {
    guard let found = await shelf.takePartial(0) else { return 0 }
    let count = found.bytes.count / PartialFile.blockByteCount
    findings.count("blocks compared", count)
    let (foundVersion, isRight) = LargeOriginal.version(of: found.bytes, found.facts, 0)
    if !isRight { findings.report(.wrongPicture, "\(count) blocks, \(context)") }
    if foundVersion != version { findings.report(.undead, "\(count) blocks, \(context)") }
    return count
  }

  /// Changes a byte on disk: the blocks before it count, and no other.
  private func damage(
    _ count: Int, _ version: Int, using random: inout SplitMix64
  ) async throws {
    let path = folder.path + "/" + LargeOriginal.key(0).digest.fileName + ".part"
    guard var bytes = FileManager.default.contents(atPath: path) else { return }
    let place = Int.random(in: 0..<count * PartialFile.blockByteCount, using: &random)
    bytes[place] ^= 1 << UInt8(place % 8)
    try bytes.write(to: URL(fileURLWithPath: path))
    let shelf = await OriginalInspection(
      folder: folder, byteCount: LargeOriginal.budget, findings: findings, context: context
    ).open()
    let left = await checkBlocks(on: shelf, version)
    if left != place / PartialFile.blockByteCount {
      findings.report(.other, "\(left) blocks before a changed byte \(place), \(context)")
    }
    findings.count("blocks changed")
  }

  /// Downloads what is missing.
  private func finish(on shelf: OriginalShelf, _ version: Int) async throws {
    let source = LargeOriginal(0, version, on: shelf)
    let load = shelf.load(source)
    _ = await shelf.budget.run { shelf.takePartial(source.key, for: load) }
    await shelf.write(source, for: load)
    await shelf.finish(source, for: load)
    if try shelf.read(source.key)?.bytes != source.whole {
      findings.report(.wrongPicture, "the continued original, \(context)")
    }
  }
}
