import OriginalStore
import TableStore

/// A look at a folder whose last session was interrupted: every original is compared, then one more is
/// kept.
struct OriginalInspection {
  let folder: OriginalsFolder
  let byteCount: Int
  let findings: Findings
  let context: String
  /// Damage is what is to be expected.
  var isDamaged = false

  func open(
    _ change: (inout OriginalShelf.Settings) -> Void = { _ in }
  ) async -> OriginalShelf {
    let shelf = folder.shelf(OriginalBudget(byteCount: byteCount)) { settings in
      if !isDamaged {
        settings.report = { [findings, context] event in
          guard case .damaged(let id) = event else { return }
          findings.report(.other, "\(id) is damaged, \(context)")
        }
      }
      change(&settings)
    }
    await shelf.budget.run { try? shelf.open() }
    return shelf
  }

  func checkBudget(_ moment: String) {
    let used = folder.byteCount
    guard used > byteCount else { return }
    findings.report(.other, "the folder has \(used) of \(byteCount) bytes \(moment), \(context)")
  }

  /// The version of each original that is there; 0 for wrong bytes.
  func found(on shelf: OriginalShelf) throws -> [Int: Int] {
    var found: [Int: Int] = [:]
    for number in OriginalCatalogue.numbers {
      let key = OriginalCatalogue.key(number)
      guard let kept = try shelf.read(key) else { continue }
      findings.count("originals compared")
      let version = OriginalCatalogue.version(of: kept, number)
      if version == nil { findings.report(.wrongPicture, "original \(number), \(context)") }
      found[number] = version ?? 0
      // A record may be lost, or an older file's until the folder is swept; it speaks for the file whose
      // hash it has.
      guard let version, let record = shelf.look(key), record.answered != 0,
        record.contentHash == kept.contentHash
      else { continue }
      if record.freshness != OriginalCatalogue.freshness(version) {
        findings.report(.other, "original \(number) is as fresh as another, \(context)")
      }
    }
    return found
  }

  /// Keeps one more original, before which the folder is swept: what is there is adopted or deleted, and
  /// counts. Removes it afterwards.
  ///
  /// - Parameter mayCountMore: A stranger's file that was removed counts until the next sweep.
  func keepOneMore(on shelf: OriginalShelf, mayCountMore: Bool = false) async throws {
    let extra = OriginalCatalogue.numbers.upperBound
    await shelf.keep(extra, 1)
    checkBudget("after the next original")
    if try shelf.read(OriginalCatalogue.key(extra)) == nil {
      findings.report(.lostEntry, "the next original, \(context)")
    }
    let (counted, there) = (shelf.budget.usedByteCount, folder.byteCount)
    if mayCountMore ? counted < there : counted != there {
      findings.report(.other, "\(counted) bytes count of \(there), \(context)")
    }
    try await shelf.perform { shelf throws(TableError) in
      try shelf.remove(OriginalCatalogue.key(extra))
    }
  }
}
