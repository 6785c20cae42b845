import Foundation
import TableStore

@testable import OriginalStore

let blockSize = PartialFile.blockByteCount
/// Four blocks and a part of the fifth.
let wholeByteCount = blockSize * 9 / 2

/// The first bytes of an original that is coming.
struct Coming: PartialSource {
  let number: Int
  var version = 1
  var byteCount = wholeByteCount
  var arrived: Int
  var arrival = 1
  var entity = 7
  var audience = ""

  var key: OriginalKey { OriginalStoreTests.key(number, audience: audience) }
  var whole: Data { content(number, version: version, byteCount: byteCount) }
  var facts: OriginalFacts {
    OriginalFacts(
      entity: TableID(Int64(entity)), terms: Array("version \(version)".utf8),
      stored: 1_700_000_000)
  }

  init(_ number: Int, blocks: Int, version: Int = 1, entity: Int = 7, audience: String = "") {
    (self.number, self.version, self.entity) = (number, version, entity)
    self.audience = audience
    // And some bytes of the next one.
    arrived = blocks * blockSize + 100
  }

  func block(_ number: Int) -> Data? {
    (number + 1) * blockSize <= arrived
      ? whole.subdata(in: number * blockSize..<(number + 1) * blockSize) : nil
  }

  func isVersion(of terms: [UInt8]) -> Bool { terms == facts.terms }
}

extension OriginalShelf {
  func load(_ source: Coming) -> OriginalLoad {
    begin(source.key, of: source.facts.entity)
  }

  /// Writes what has arrived.
  func write(_ source: Coming, _ load: OriginalLoad) async {
    await budget.run { while self.writeBlock(of: source, for: load) {} }
  }

  func end(_ source: Coming, _ load: OriginalLoad, keeps: Bool = true) async {
    await budget.run { self.endPartial(source.key, of: load, keeps: keeps) }
  }

  /// Leaves blocks as a load does that broke off.
  func leave(_ source: Coming) async {
    let load = load(source)
    await write(source, load)
    await end(source, load)
  }

  /// The bytes that a load which begins now finds.
  func found(_ source: Coming) async -> Data? {
    let load = load(source)
    let found = await budget.run { self.takePartial(source.key, for: load) }
    await end(source, load)
    return found?.bytes
  }

  /// How many blocks a load finds, each with its own bytes; -1 for others.
  func blockCount(_ source: Coming) async -> Int? {
    guard let found = await found(source) else { return nil }
    return found == source.whole.prefix(found.count) ? found.count / blockSize : -1
  }
}
