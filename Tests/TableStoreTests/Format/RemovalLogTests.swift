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
    #expect(RemovalLog(reading: file, nonce: Self.nonce + 1).isEmpty)
    #expect(removed.allSatisfy { read.forbids(record($0.key, drawn: $0.value)) })
    #expect(removed.allSatisfy { !read.forbids(record($0.key, drawn: 1501)) })
    // The newest are known one by one, so that images drawn after the forgotten ones may come.
    #expect(read.generation(of: .forgotten) < 1200)
    #expect(!read.forbids(record(9999, drawn: 1200)))
    #expect(read.generation(of: .all) == 0)
  }

  @Test("find a free place however often a full log is read", arguments: 0..<20 as Range<UInt64>)
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

@Suite("The times of stamps")
struct UseTimesTests {
  private let day: Int64 = 86_400

  @Test("are those of each hour, up to one that is as old as the lifetime")
  func areNoted() {
    var times = UseTimes()
    #expect(times.stamp(at: .max) == nil)
    for hour in 0..<100 {
      times.note(UInt64(1000 + hour), at: Int64(hour * 3600), lifetime: day)
      // Openings come as they like.
      times.note(UInt64(1000 + hour), at: Int64(hour * 3600 + 60), lifetime: day)
    }
    #expect(times.pairs.count == 25)
    #expect(times.stamp(at: 98 * 3600 + 5) == 1098)
    #expect(times.stamp(at: 99 * 3600 - day) == 1075)
    for hour in 0..<100_000 { times.note(.max, at: Int64(hour * 3600), lifetime: 1000 * day) }
    #expect(times.bytes(nonce: 1).count <= UseTimes.maximumByteCount)
  }

  @Test("never call a use earlier than it was, after a clock that went back or lost stamps")
  func areCautious() {
    var times = UseTimes()
    times.note(10, at: 9 * day, lifetime: day)
    times.note(20, at: 5 * day, lifetime: day)
    // The clock may stand too early now, or may have stood too late.
    #expect(times.pairs == [])
    times.note(30, at: 10 * day, lifetime: day)
    #expect(times.pairs == [])
    times = UseTimes()
    times.note(20, at: 5 * day, lifetime: day)
    // The session goes on from an earlier stamp, so its uses may have those up to 20.
    times.resume(after: 12)
    #expect(times.stamp(at: 5 * day) == 12)
  }

  @Test("are read back from their file only if all of it is right, and of the same table file")
  func areStored() {
    var times = UseTimes()
    times.note(10, at: day, lifetime: day)
    times.note(20, at: 2 * day, lifetime: day)
    let bytes = times.bytes(nonce: 7)
    #expect(UseTimes(bytes, nonce: 7) == times)
    #expect(UseTimes(bytes, nonce: 8) == nil)
    for count in bytes.indices { #expect(UseTimes(Array(bytes.prefix(count)), nonce: 7) == nil) }
    for index in bytes.indices {
      var damaged = bytes
      damaged[index] ^= 1
      #expect(UseTimes(damaged, nonce: 7) == nil)
    }
  }
}
