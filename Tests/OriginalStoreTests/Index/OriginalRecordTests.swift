import OriginalStore
import Testing

@Suite("A record of an original", .timeLimit(.minutes(1)))
struct OriginalRecordTests {
  @Test("takes 72 bytes, which leaves 24 of the 96 for order and look-up")
  func size() {
    #expect(MemoryLayout<OriginalRecord>.stride == 72)
  }
}
