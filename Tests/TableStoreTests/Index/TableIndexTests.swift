import TestSupport
import Testing

@testable import TableStore

@Suite("A table index", .timeLimit(.wholeRun))
struct TableIndexTests {
  @Test("evicts in the exact order of use, far beyond one selection")
  func evictsInOrder() throws {
    let count = 1000
    let states = SlotStates(slotCount: count)
    var index = TableIndex(slotCount: count, states: states)
    var random = SplitMix64(state: 9)
    var order = Array(0..<count)
    for entity in order { try store(entity, in: &index) }
    for entity in count..<(count + 3000) {
      // Uses in between, of which many fall into the current selection.
      for _ in 0..<3 {
        let used = order.remove(at: Int.random(in: 0..<min(200, order.count), using: &random))
        guard let found = index.lease(key(used), isExact: true), found.known != nil else {
          Issue.record("Entity \(used) is not there.")
          return
        }
        states.release(found.slot)
        order.append(used)
      }
      let evicted = try store(entity, in: &index)
      #expect(evicted == key(order.removeFirst()).entity)
      order.append(entity)
    }
  }

  @Test("of many slots evicts the oldest of a window, and finds the only one without a lease")
  func evictsByWindows() throws {
    let count = 2500
    var index = TableIndex(slotCount: count, states: SlotStates(slotCount: count))
    for entity in 0..<count { try store(entity, in: &index) }
    let evicted = try (count..<count + 200).map { try store($0, in: &index) }
    // The oldest of each window; one window begins where the last one ended.
    var (order, start) = (Array(0..<count), 0)
    let expected = (count..<count + 200).map { entity in
      let slots = (start..<start + 1024).map { $0 % count }
      let oldest = slots.min { order[$0] < order[$1] } ?? 0
      start = (start + 1024) % count
      defer { order[oldest] = entity }
      return key(order[oldest]).entity
    }
    #expect(evicted == expected)
    var leased: [Int] = []
    for slot in 0..<count where slot != 1500 {
      index.states.lease(slot, isHit: false)
      leased.append(slot)
    }
    let claim = index.claimSlot(for: key(9000).entity.digest)
    #expect(claim?.slot == 1500)
    #expect(index.claimSlot(for: key(9001).entity.digest) == nil)
    for slot in leased { index.states.release(slot) }
  }

  @Test("takes the newer of two records for one entity")
  func takesNewerRecord() throws {
    for (first, second) in [(1, 2), (2, 1)] {
      let file = IndexedFile()
      file.write(record(1, 1, first), to: 0)
      file.write(record(1, 2, second), to: 2)
      var index = TableIndex(
        slotCount: 4, states: SlotStates(slotCount: 4), readRecord: file.source)
      try index.adopt(file.records, reading: file.source)
      #expect(index.liveCount == 1 && index.recordsToErase == [first > second ? 2 : 0])
      #expect(index.contains(key(1, first > second ? 1 : 2)))
    }
  }

  @Test("does not set its clock by forged stamps")
  func survivesForgedRecency() throws {
    var forged = record(1, 1, 1)
    forged.recency = .max
    let states = SlotStates(slotCount: 2)
    var index = TableIndex(slotCount: 2, states: states)
    try index.adopt([(0, forged)])
    index.addRecord(forged, in: 0)
    try store(2, in: &index)
    let evicted = try store(3, in: &index)
    #expect(evicted == nil)
    #expect(!index.contains(key(1)))
    #expect(index.contains(key(2)))
  }

  @Test("loses an image whose record has become another's when it is read")
  func refusesChangedRecords() throws {
    let file = IndexedFile()
    var index = TableIndex(
      slotCount: 200, states: SlotStates(slotCount: 200), readRecord: file.source)
    for slot in 0..<150 { file.write(record(slot, 1, slot + 1), to: slot) }
    try index.adopt(file.records)
    // Records of another entity, one that is in another slot already, and one that is not whole.
    file.write(record(300, 1, 500), to: 70)
    file.write(record(4, 1, 501), to: 5)
    file.write(nil, to: 149)
    var lostCount = 0
    for entity in [70, 4, 5, 149, 300] {
      lostCount += try index.readRecords(of: key(entity).entity.digest)
    }
    #expect(lostCount == 3)
    #expect(index.liveCount == 147)
    #expect(index.damageCount == 3)
    #expect(index.recordsToErase == [5, 70, 149])
    for (slot, record) in file.records { index.addRecord(record, in: slot) }
    let rest = (0..<149).filter { ![5, 70].contains($0) }
    #expect((0..<200).filter(index.hasImage) == rest)
    for slot in rest { #expect(index.contains(key(slot))) }
    #expect(!index.contains(key(300)))
  }

  @Test("claims a slot once that was lost while the file was opened")
  func freesLostSlotsOnce() throws {
    var index = TableIndex(slotCount: 3, states: SlotStates(slotCount: 3))
    try index.adopt([(0, record(1, 1, 1)), (2, record(1, 1, 2))])
    for entity in 4..<6 { try store(entity, in: &index) }
    let claim = index.claimSlot(for: key(6).entity.digest)
    #expect(claim?.slot == 2)
    #expect(claim?.eviction != nil)
  }

  @Test("takes a record for zeros only where this session has erased it")
  func erasesItself() throws {
    let states = SlotStates(slotCount: 2)
    // As an index file may say of a slot that has a record.
    states.stored.usedCount = 1
    var index = TableIndex(continuing: states) { _ in nil }
    for isErased in [false, true] {
      let claimed = index.claimSlot(for: key(1).entity.digest)
      let claim = try #require(claimed)
      #expect(claim.slot == 0 && claim.isErased == isErased)
      index.unclaim(0)
      #expect(index.recordsToErase == [0])
      index.noteErased(0)
      #expect(index.recordsToErase.isEmpty)
    }
  }

  @Test("keeps two entities with one digest from showing each other's image")
  func comparesInFull() throws {
    let digest = TableID.Digest(low: 1, high: 2)
    func twin(_ text: String) -> TableKey {
      TableKey(
        entity: TableID(kind: .string, digest: digest, bytes: TableID(text).bytes),
        version: TableID("s"))
    }
    var index = TableIndex(slotCount: 4, states: SlotStates(slotCount: 4))
    let claim = index.claimSlot(for: twin("a").entity.digest)
    let slot = try #require(claim).slot
    _ = index.publish(
      slot,
      record: SlotRecord(
        entity: digest, version: TableID("s").digest, generation: 1, slotHash: 0, recency: 0),
      key: twin("a"), extent: SlotExtent(width: 1, height: 1))
    #expect(index.contains(twin("a")))
    #expect(!index.contains(twin("b")))
    for isExact in [false, true] {
      #expect((index.lease(twin("b"), isExact: isExact) == nil) as Bool)
    }
  }

  private func record(_ entity: Int, _ version: Int, _ generation: Int) -> SlotRecord {
    SlotRecord(
      entity: key(entity).entity.digest, version: key(entity, version).version.digest,
      generation: UInt64(generation), slotHash: 0, recency: UInt64(generation))
  }

  /// Stores an image, releases it, and returns the evicted entity.
  @discardableResult
  private func store(_ entity: Int, in index: inout TableIndex) throws -> TableID? {
    let claimed = index.claimSlot(for: key(entity).entity.digest)
    let claim = try #require(claimed)
    _ = index.publish(
      claim.slot, record: record(entity, 1, entity + 1), key: key(entity),
      extent: SlotExtent(width: 1, height: 1))
    index.states.release(claim.slot)
    return claim.eviction?.entity
  }
}
