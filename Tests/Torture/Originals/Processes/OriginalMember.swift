import CInterposer
import CommandSupport
import Foundation
import Locking
import OriginalStore
import TableStore
import TestSupport

/// One of several processes on a folder of originals: it owns the folder as soon as it can, or reads.
struct OriginalMember {
  /// Stands in the ledger for an original that was kept.
  static let kept: Int32 = 1
  static let readsPerLine = 100

  private let folder: OriginalsFolder
  private let ledger: Ledger
  private var random: SplitMix64
  private let plant: OriginalProcessesMethod.Plant

  /// - Parameter numbers: The seed, which member this is, and the plant.
  init(path: String, numbers: [Int]) throws {
    folder = OriginalsFolder(path: path)
    random = SplitMix64(state: UInt64(numbers[0]))
    ledger = try Ledger(path: Self.ledgerPath(besides: folder, member: numbers[1]))
    plant = OriginalProcessesMethod.Plant(rawValue: numbers[2]) ?? .none
    interposer_grant_locks(plant == .grantedLocks ? 1 : 0)
  }

  static func ledgerPath(besides folder: OriginalsFolder, member: Int) -> String {
    folder.path + ".member-\(member)"
  }

  /// Keeps and removes without pause; each keep is a line of the ledger.
  mutating func own() async throws -> Int32 {
    let limit = OriginalCatalogue.tightBudget * (plant == .largeBudget ? 4 : 1)
    let stored = Lock(0)
    let shelf = folder.shelf(OriginalBudget(byteCount: limit)) {
      $0.report = { event in
        if case .stored = event { stored.withLock { $0 += 1 } }
      }
    }
    await shelf.budget.run { try? shelf.open() }
    // A child that is not killed in time has lost its parent.
    while !ledger.isFull {
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      let version = Int.random(in: OriginalCatalogue.versions, using: &random)
      let before = stored.withLock { $0 }
      ledger.begin(.store, entity: number, version: version)
      let other =
        plant == .swappedBytes ? OriginalCatalogue.content(number + 1, version) : nil
      await shelf.keep(number, version, content: other)
      ledger.done(evicted: stored.withLock { $0 } > before ? Self.kept : 0)
      // Removals are for owners only here: a guest's would be seen as misses, and nothing else.
      if stored.withLock({ $0 }) > 0, Int.random(in: 0..<5, using: &random) == 0 {
        try await shelf.perform { shelf throws(TableError) in
          try shelf.remove(OriginalCatalogue.key(number))
        }
      }
    }
    return ChildVerdict.done
  }

  /// Reads without pause, and notes some of the reads in the ledger.
  mutating func read() async throws -> Int32 {
    var shelf = folder.shelf(OriginalBudget(byteCount: OriginalCatalogue.tightBudget))
    var count = 0
    while !ledger.isFull {
      let number = Int.random(in: OriginalCatalogue.numbers, using: &random)
      guard let kept = try shelf.read(OriginalCatalogue.key(number)) else { continue }
      guard OriginalCatalogue.version(of: kept, number) != nil else {
        return ChildVerdict.sawWrongPicture
      }
      count += 1
      guard count.isMultiple(of: Self.readsPerLine) else { continue }
      ledger.begin(.end, entity: number)
      ledger.done()
      // With the hints of the present index.
      shelf = folder.shelf(OriginalBudget(byteCount: OriginalCatalogue.tightBudget))
      await shelf.budget.run { [shelf] in try? shelf.open() }
    }
    return ChildVerdict.done
  }
}
