import TestSupport
import Testing

@testable import TableStore

@Suite("The removals in a table file", .timeLimit(.wholeRun))
struct RemovalLogTests {
  private static let nonce: UInt64 = 77

  private func record(_ entity: Int, drawn generation: UInt64) -> SlotRecord {
    SlotRecord(
      entity: key(entity).entity.digest, version: key(entity).version.digest,
      generation: generation, slotHash: 0, recency: 0)
  }

  private func removal(_ entity: Int, at generation: UInt64) -> RemovalLog.Entry {
    RemovalLog.Entry(subject: .entity(key(entity).entity.digest), generation: generation)
  }

  /// Notes a removal, and calls `check` with the file's bytes after each write, whole and torn.
  private func note(
    _ entry: RemovalLog.Entry, in log: inout RemovalLog, over file: inout [UInt8],
    check: ([UInt8]) -> Void = { _ in }
  ) {
    for place in log.note(entry) {
      let (bytes, offset) = log.bytes(of: place)
      for count in [4, 17, 20, 28, bytes.count] {
        file.replaceSubrange(
          offset - RemovalLog.offset..<offset - RemovalLog.offset + count, with: bytes[..<count])
        check(file)
      }
    }
  }

  @Test("forbid what was drawn before them, and nothing later or else")
  func forbidsEarlier() {
    var log = RemovalLog(nonce: Self.nonce)
    _ = log.note(removal(1, at: 10))
    #expect(log.forbids(record(1, drawn: 10)) && !log.forbids(record(1, drawn: 11)))
    #expect(!log.forbids(record(2, drawn: 1)))
    _ = log.note(RemovalLog.Entry(subject: .all, generation: 20))
    #expect(log.forbids(record(2, drawn: 20)) && !log.forbids(record(1, drawn: 21)))
  }

  @Test("are read as they were written, in the file of one nonce only")
  func readsBack() {
    var log = RemovalLog(nonce: Self.nonce)
    for number in 1...9 { _ = log.note(removal(number % 4, at: UInt64(number))) }
    _ = log.note(RemovalLog.Entry(subject: .all, generation: 3))
    let read = RemovalLog(reading: log.bytes, nonce: Self.nonce)
    #expect(read.entries == log.entries)
    #expect(log.bytes.count == RemovalLog.byteCount)
    #expect(RemovalLog(reading: log.bytes, nonce: Self.nonce + 1).isEmpty)
  }

  @Test("lose none of the earlier ones to a torn write, however many there are")
  func survivesTornWrites() {
    var log = RemovalLog(nonce: Self.nonce)
    var file = log.bytes
    var removed: [Int: UInt64] = [:]
    // More entities than there is room for, some of them again and again.
    for number in 1...1500 {
      let entity = number % 3 == 0 ? number % 7 : number
      let known = removed
      note(removal(entity, at: UInt64(number)), in: &log, over: &file) { bytes in
        guard number % 50 < 2 else { return }
        let read = RemovalLog(reading: bytes, nonce: Self.nonce)
        #expect(known.allSatisfy { read.forbids(record($0.key, drawn: $0.value)) }, "\(number)")
      }
      removed[entity] = UInt64(number)
    }
    let read = RemovalLog(reading: file, nonce: Self.nonce)
    #expect(removed.allSatisfy { read.forbids(record($0.key, drawn: $0.value)) })
    // The newest are known one by one, so that images drawn after the forgotten ones may come.
    #expect(read.generation(of: .forgotten) < 1200)
    #expect(!read.forbids(record(9999, drawn: 1200)))
    #expect(read.generation(of: .all) == 0)
  }

  @Test(
    "find a free place however often a full log is read again",
    arguments: 0..<20 as Range<UInt64>)
  func staysUsable(seed: UInt64) {
    var numbers = SplitMix64(state: seed)
    var log = RemovalLog(nonce: Self.nonce)
    var file = log.bytes
    var removed: [Int: UInt64] = [:]
    for number in 1...1200 {
      let isKnown = UInt64.random(in: 0..<10, using: &numbers) == 0
      let entity = isKnown ? removed.keys.min() ?? number : number
      note(removal(entity, at: UInt64(number)), in: &log, over: &file)
      removed[entity] = UInt64(number)
      if number % 97 == 0 {
        note(RemovalLog.Entry(subject: .all, generation: UInt64(number / 2)), in: &log, over: &file)
      }
      if number % 13 == 0 { log = RemovalLog(reading: file, nonce: Self.nonce) }
      #expect(log.entries.count <= 494)
    }
    #expect(removed.allSatisfy { log.forbids(record($0.key, drawn: $0.value)) })
  }
}
