import OriginalStore
import Testing

@Suite("A record of an original", .timeLimit(.minutes(8)))
struct OriginalRecordTests {
  @Test("takes 72 bytes, which leaves 24 of the 96 for order and look-up")
  func size() {
    #expect(MemoryLayout<OriginalRecord>.stride == 72)
  }

  @Test("keeps both graces beside the flags, down to three digits")
  func graces() {
    var record = OriginalRecord(
      key: OriginalDigest(low: 0, high: 0), entity: 0, audience: 0, contentHash: 0, byteCount: 0,
      flags: [.placeholder, .mustRevalidate])
    let numbers = (0...31).flatMap { [1 << $0, (1 << $0) &- 1, 511 << $0] as [UInt32] }
    for seconds in numbers {
      record.staleWhileRevalidate = seconds
      record.staleIfError = ~seconds
      for (given, kept) in [
        (seconds, record.staleWhileRevalidate), (~seconds, record.staleIfError),
      ] {
        let expected = Double(min(given, 511 << 15))
        #expect(Double(kept) <= expected)
        #expect(Double(kept) >= expected * (1 - 1.0 / 256))
      }
      #expect(record.flags.isSuperset(of: [.placeholder, .mustRevalidate]))
      #expect(record.flags.isDisjoint(with: [.partial, .outgrown]))
    }
  }
}
