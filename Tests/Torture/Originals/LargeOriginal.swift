import Foundation
import OriginalStore
import TableStore

/// The first blocks of an original that is still coming; its bytes follow from number and version.
struct LargeOriginal: PartialSource {
  static let numbers = 0..<2
  static let byteCount = PartialFile.blockByteCount * 5 / 2
  /// Room for all of them beside the others: each takes less than a quarter, and so do all partials.
  static let budget = 8 << 20
  /// The blocks that are whole before the last byte is there.
  static let blockCount = byteCount / PartialFile.blockByteCount

  let number: Int
  let version: Int
  /// How many blocks have arrived.
  var arrived: Int
  let stored: Int64
  /// A planted fault: these blocks are of another version.
  var comesFromVersion: Int?

  init(_ number: Int, _ version: Int, arrived: Int = blockCount, on shelf: OriginalShelf) {
    (self.number, self.version, self.arrived) = (number, version, arrived)
    stored = shelf.now / 1_000_000
  }

  static func key(_ number: Int) -> OriginalKey {
    OriginalKey(TableID("https://example.com/large/\(number)"), audience: "")
  }

  static func content(_ number: Int, _ version: Int) -> Data {
    guard numbers.contains(number), OriginalCatalogue.versions.contains(version) else {
      return Data()
    }
    return contents[number][version - OriginalCatalogue.versions.lowerBound]
  }

  /// Noise with a number in each piece, so that no two sectors are equal.
  private static let contents = numbers.map { number in
    OriginalCatalogue.versions.map { version in
      var bytes = Data(capacity: byteCount + 512)
      var place: UInt64 = 0
      while bytes.count < byteCount {
        withUnsafeBytes(of: place) { bytes.append(contentsOf: $0) }
        bytes.append(OriginalCatalogue.content(number + 2, version).prefix(504))
        place += 1
      }
      return bytes.prefix(byteCount)
    }
  }

  var key: OriginalKey { Self.key(number) }
  var arrival: Int { 1 }
  var byteCount: Int { Self.byteCount }
  var whole: Data { Self.content(number, comesFromVersion ?? version) }
  var facts: OriginalFacts {
    OriginalFacts(
      entity: TableID(Int64(number)), width: Int32(version), terms: Array("v\(version)".utf8),
      stored: stored)
  }

  func block(_ number: Int) -> Data? {
    let size = PartialFile.blockByteCount
    return number < arrived ? whole.subdata(in: number * size..<(number + 1) * size) : nil
  }

  func isVersion(of terms: [UInt8]) -> Bool { terms == facts.terms }

  /// The version of which these are the first bytes, and whether they are right.
  static func version(
    of bytes: Data, _ facts: OriginalFacts, _ number: Int
  ) -> (version: Int, isRight: Bool) {
    let version = Int(facts.width)
    let whole = content(number, version)
    let isRight =
      !whole.isEmpty && bytes == whole.prefix(bytes.count)
      && facts.terms == Array("v\(version)".utf8)
    return (version, isRight)
  }
}

extension OriginalShelf {
  func load(_ source: LargeOriginal) -> OriginalLoad {
    begin(source.key, of: source.facts.entity)
  }

  /// Writes the blocks that have arrived.
  func write(_ source: LargeOriginal, for load: OriginalLoad) async {
    await budget.run { while self.writeBlock(of: source, for: load) {} }
  }

  /// Keeps the whole original.
  func finish(_ source: LargeOriginal, for load: OriginalLoad) async {
    let use = PartialUse(load, arrival: source.arrival)
    let isHeld = hold(
      source.whole, source.key, source.facts, RecordedFreshness(), for: load, from: use,
      if: { true })
    if isHeld { await budget.run { self.write(source.key) } }
    await end(source, load, keeps: false)
  }

  func end(_ source: LargeOriginal, _ load: OriginalLoad, keeps: Bool) async {
    await budget.run { self.endPartial(source.key, of: load, keeps: keeps) }
  }

  /// Leaves blocks as a load does that breaks off.
  func leave(_ source: LargeOriginal) async {
    let load = load(source)
    await write(source, for: load)
    await end(source, load, keeps: true)
  }

  /// The first bytes of a large original that a load would find now.
  func takePartial(_ number: Int) async -> (bytes: Data, facts: OriginalFacts)? {
    let source = LargeOriginal(number, 1, on: self)
    let load = load(source)
    let found = await budget.run { self.takePartial(source.key, for: load) }
    await end(source, load, keeps: true)
    return found
  }
}
