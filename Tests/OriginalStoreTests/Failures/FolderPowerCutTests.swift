import Foundation
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A folder of originals after a power cut", .timeLimit(.minutes(10)))
struct FolderPowerCutTests {
  /// The folder as it was after each change.
  private struct History {
    private(set) var moments: [[String: [UInt8]]] = []

    mutating func note(_ originals: Originals) throws {
      let files = try originals.names.map { name in
        let bytes = try originals.bytes(name)
        // Equal contents share their memory.
        return (name, moments.last?[name] == bytes ? moments.last?[name] ?? bytes : bytes)
      }
      moments.append(Dictionary(uniqueKeysWithValues: files))
    }

    /// The folder as a device may hold it: a name is missing or leads to any of its files, and each
    /// sector of a file has what was written, or zeros, or what another version or another file had
    /// written to it, since sectors of deleted files are used again.
    func remains(sectorByteCount: Int, using random: inout SplitMix64) -> [String: [UInt8]] {
      var remains: [String: [UInt8]] = [:]
      let now = moments.randomElement(using: &random) ?? [:]
      for name in Set(moments.flatMap(\.keys)).sorted()
      where Int.random(in: 0..<8, using: &random) > 0 {
        let isPast = Int.random(in: 0..<3, using: &random) == 0
        let moment = isPast ? moments.randomElement(using: &random) : now
        guard var bytes = moment?[name] else { continue }
        let isTorn = Int.random(in: 0..<3, using: &random) == 0
        for _ in 0..<(isTorn ? Int.random(in: 1...40, using: &random) : 0) where !bytes.isEmpty {
          let start =
            Int.random(in: 0..<bytes.count, using: &random) / sectorByteCount * sectorByteCount
          let range = start..<min(bytes.count, start + sectorByteCount)
          let other = otherFile(than: name, using: &random)
          let isZero = Int.random(in: 0..<3, using: &random) == 0
          for index in range { bytes[index] = !isZero && index < other.count ? other[index] : 0 }
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
          bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        }
        remains[name] = bytes
      }
      return remains
    }

    /// Another version of a file, or any file.
    private func otherFile(than name: String, using random: inout SplitMix64) -> [UInt8] {
      let moment = moments.randomElement(using: &random) ?? [:]
      if Bool.random(using: &random), let version = moment[name] { return version }
      return moment.keys.sorted().randomElement(using: &random).flatMap { moment[$0] } ?? []
    }
  }

  /// Keeps, replaces, removes, continues and finishes, and notes the folder after each change.
  private func live(_ originals: Originals) throws -> History {
    var history = History()
    let folder = try originals.open()
    let index = try #require(try folder.ownIndex())
    try history.note(originals)
    for version in [1, 3, 5] {
      for number in 1...3 {
        try folder.keep(number, version, byteCount: 9000)
        try history.note(originals)
        try index.write(record(number, version), at: number)
        try history.note(originals)
      }
      let partial = try folder.beginPartial(originalKey(4), facts(4, version))
      try history.note(originals)
      for number in 0..<3 {
        try partial.append(block(4, version, number), at: number)
        try history.note(originals)
      }
      if version == 3 {
        _ = try partial.finish(
          content(4, 3, byteCount: longByteCount), blockCount: 3, facts(4, 3))
        try history.note(originals)
      }
    }
    return history
  }

  @Test(
    "has right originals or none, whichever sectors and names reached the device",
    arguments: [(512, UInt64(1)), (4096, 2), (512, 3), (4096, 4)])
  func survivesMixtures(sectorByteCount: Int, seed: UInt64) throws {
    let originals = try Originals()
    let history = try live(originals)
    var random = SplitMix64(state: seed)
    var (wholeCount, damagedCount, blockCount, recordCount) = (0, 0, 0, 0)
    for _ in 0..<40 {
      let left = try Originals()
      _ = try left.open()
      for (name, bytes) in history.remains(sectorByteCount: sectorByteCount, using: &random) {
        try left.put(bytes, name)
      }
      let folder = try left.open()
      for (number, byteCount) in [(1, 9000), (2, 9000), (3, 9000), (4, longByteCount)] {
        let version = try folder.version(number, byteCount: byteCount)
        #expect([1, 3, 5, nil].contains(version))
        wholeCount += version == nil ? 0 : 1
        damagedCount += try folder.isDamaged(number) ? 1 : 0
      }
      if let partial = try folder.openPartial(originalKey(4)) {
        blockCount += partial.blockCount
        let version = Int(partial.facts.width)
        let whole = content(4, version, byteCount: longByteCount)
        #expect(partial.facts == facts(4, version))
        #expect(partial.content == whole.prefix(partial.content.count))
      }
      let index = try #require(try folder.ownIndex())
      recordCount += index.records.count
      for (place, found) in index.records {
        #expect([1, 3, 5].map { record(place, $0) }.contains(found))
      }
      _ = try folder.sweep()
      try folder.keep(1, 7)
      #expect(try folder.version(1) == 7)
    }
    // Without any of these the cuts would prove nothing.
    #expect(wholeCount > 20)
    #expect(damagedCount > 5)
    #expect(blockCount > 0)
    #expect(recordCount > 20)
  }

  @Test("loses a removal only until the folder was synchronised, whose names go to the device")
  func synchronizesNames() throws {
    let originals = try Originals()
    let plan = FaultPlan()
    let folder = try originals.open(plan.system)
    plan.pass()
    try folder.synchronize()
    #expect(plan.calls == [.synchronize])
  }
}
