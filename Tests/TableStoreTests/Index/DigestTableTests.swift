import TestSupport
import Testing

@testable import TableStore

@Suite("A digest table", .timeLimit(.wholeRun))
struct DigestTableTests {
  /// Digests, many with a common home bucket and some even with a common tag.
  private static func digest(_ number: Int) -> TableID.Digest {
    TableID.Digest(low: UInt64(number % 37) &* 0x1_0001, high: UInt64(number))
  }

  @Test("agrees with a dictionary over random changes", arguments: [UInt64(1), 2, 3])
  func agreesWithDictionary(seed: UInt64) {
    var random = SplitMix64(state: seed)
    var table = DigestTable()
    var model: [Int: Int] = [:]
    var slots: [Int: Int] = [:]
    var nextSlot = 0
    for _ in 0..<20_000 {
      let number = Int.random(in: 0..<200, using: &random)
      if let slot = model[number] {
        let isRemoved = table.remove(slot, for: Self.digest(number))
        #expect(isRemoved)
        model[number] = nil
        slots[slot] = nil
      } else {
        table.insert(nextSlot, for: Self.digest(number))
        model[number] = nextSlot
        slots[nextSlot] = number
        nextSlot += 1
      }
      let asked = Int.random(in: 0..<200, using: &random)
      let found = table.slot(for: Self.digest(asked)) { slots[$0] == asked }
      #expect(found == model[asked])
      #expect(table.count == model.count)
    }
  }

  @Test("does not remove a slot that is not there")
  func ignoresStrangers() {
    var table = DigestTable(minimumCapacity: 100)
    table.insert(1, for: Self.digest(1))
    let removals = [table.remove(2, for: Self.digest(1)), table.remove(1, for: Self.digest(2))]
    #expect(removals == [false, false])
    #expect(table.count == 1)
  }
}
