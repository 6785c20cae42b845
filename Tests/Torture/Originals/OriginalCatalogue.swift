import CommandSupport
import Foundation
import OriginalStore
import TableStore
import TestSupport

/// Originals whose bytes follow from their number and version, so that a wrong one cannot look right.
enum OriginalCatalogue {
  static let numbers = 0..<12
  static let versions = 1...4
  /// Room for some of the originals, of which the largest takes less than a quarter.
  static let tightBudget = 160_000
  /// Room for all of them.
  static let wideBudget = 1 << 20

  static func key(_ number: Int) -> OriginalKey {
    OriginalKey(
      TableID("https://example.com/\(number)"), audience: number.isMultiple(of: 3) ? "alice" : "")
  }

  static func entity(of number: Int) -> TableID { TableID(Int64(number % 4)) }

  static func facts(_ number: Int, _ version: Int, stored: Int64) -> OriginalFacts {
    OriginalFacts(
      entity: entity(of: number), width: Int32(version), terms: Array("v\(version)".utf8),
      stored: stored)
  }

  /// The word of the server that comes with a version.
  static func freshness(_ version: Int) -> RecordedFreshness {
    RecordedFreshness(answered: UInt32(version), freshFor: 60)
  }

  static func byteCount(_ number: Int, _ version: Int) -> Int {
    (number * 7919 + version * 10_473) % 30_000 + 1
  }

  static func content(_ number: Int, _ version: Int) -> Data {
    guard versions.contains(version) else { return Data() }
    return contents[number][version - versions.lowerBound]
  }

  /// Of one number more than there are to be kept, twice.
  private static let contents = (0...numbers.upperBound + 1).map { number in
    versions.map { made(number, $0) }
  }

  private static func made(_ number: Int, _ version: Int) -> Data {
    var random = SplitMix64(state: UInt64(number) << 32 | UInt64(version))
    let words = (byteCount(number, version) + 7) / 8
    let drawn = (0..<words).map { _ in random.next() }
    return drawn.withUnsafeBytes { Data($0) }.prefix(byteCount(number, version))
  }

  /// The version of what was read under a number; `nil` for what was never kept there.
  static func version(of kept: KeptContent, _ number: Int) -> Int? {
    let version = Int(kept.facts.width)
    let facts = facts(number, version, stored: kept.facts.stored)
    return versions.contains(version) && kept.facts == facts
      && kept.bytes == content(number, version) ? version : nil
  }
}

/// A folder of originals, and what its files take.
struct OriginalsFolder: Sendable {
  let path: String
  /// Absent in a child, which must not remove the folder.
  private let temporary: TemporaryFolder?

  init() throws {
    let temporary = try TemporaryFolder(prefix: "imagecache-torture")
    self.temporary = temporary
    path = temporary.url.path + "/originals"
  }

  init(path: String) { (self.path, temporary) = (path, nil) }

  func shelf(
    _ budget: OriginalBudget, _ change: (inout OriginalShelf.Settings) -> Void = { _ in }
  ) -> OriginalShelf {
    var settings = OriginalShelf.Settings(path: path)
    settings.freeByteCount = { _ in nil }
    change(&settings)
    return OriginalShelf(settings, budget: budget)
  }

  /// As a budget counts them. While another process writes, files may count that were never there at
  /// once.
  var byteCount: Int {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else { return 0 }
    return names.reduce(0) { sum, name in
      var status = stat()
      guard lstat(path + "/" + name, &status) == 0 else { return sum }
      return sum + (Int(status.st_size) + 4095) & ~4095
    }
  }

  var ledgerPath: String { path + ".ledger" }
}

extension OriginalShelf {
  /// Keeps an original, and waits until its file is there or it was given up.
  func keep(_ number: Int, _ version: Int, content: Data? = nil) async {
    let (key, bytes) = (
      OriginalCatalogue.key(number), content ?? OriginalCatalogue.content(number, version)
    )
    let facts = OriginalCatalogue.facts(number, version, stored: now / 1_000_000)
    guard hold(bytes, key, facts, OriginalCatalogue.freshness(version), if: { true }) else {
      return
    }
    await budget.run { self.write(key) }
  }

  /// Runs a removal or the like on the lane.
  func perform(
    _ job: @escaping @Sendable (OriginalShelf) throws(TableError) -> Void
  ) async throws {
    try await budget.run { Result { () throws(TableError) in try job(self) } }.get()
  }
}
