import Testing

@testable import TableStore

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
