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
        guard case .proven(let slot, _) = index.lease(key(used)) else {
          Issue.record("Entity \(used) is not there.")
          return
        }
        states.release(slot)
        order.append(used)
      }
      let evicted = try store(entity, in: &index)
      #expect(evicted == key(order.removeFirst()).entity)
      order.append(entity)
    }
  }

  @Test("takes the newer of two records for one entity")
  func takesNewerRecord() {
    for (first, second) in [(UInt64(1), UInt64(2)), (2, 1)] {
      var index = TableIndex(slotCount: 4, states: SlotStates(slotCount: 4))
      index.adopt(record(1, 1, Int(first)), in: 0)
      // Which of the two is newer is known when both have been read.
      #expect(index.unreadSlot(for: key(1).entity.digest) == 0)
      index.learn(record(1, 1, Int(first)), in: 0)
      index.adopt(record(1, 2, Int(second)), in: 2)
      index.finishAdopting()
      index.learn(record(1, 2, Int(second)), in: 2)
      #expect(index.liveCount == 1)
      #expect(index.takeRecordsToErase() == [first > second ? 2 : 0])
      #expect(index.contains(key(1, first > second ? 1 : 2)))
    }
  }

  @Test("does not claim a slot with a lease of an earlier opening")
  func respectsOldLeases() throws {
    let states = SlotStates(slotCount: 2)
    states.prepare(2)
    states.lease(1)
    var index = TableIndex(slotCount: 2, states: states)
    index.finishAdopting()
    let slots = (0..<2).map { _ in index.claimSlot(for: TableID("a").digest).claim?.slot }
    #expect(slots == [0, nil])
    states.release(1)
    let freed = index.claimSlot(for: TableID("b").digest).claim?.slot
    #expect(freed == 1)
  }

  @Test("does not set its clock by forged stamps")
  func survivesForgedRecency() throws {
    var forged = record(1, 1, 1)
    forged.recency = .max
    let states = SlotStates(slotCount: 2)
    var index = TableIndex(slotCount: 2, states: states)
    index.adopt(forged, in: 0)
    index.finishAdopting()
    index.learn(forged, in: 0)
    try store(2, in: &index)
    let evicted = try store(3, in: &index)
    #expect(evicted == nil)
    #expect(!index.contains(key(1)))
    #expect(index.contains(key(2)))
  }

  @Test("loses a picture whose record has become another's when it is read")
  func refusesChangedRecords() {
    let states = SlotStates(slotCount: 200)
    var index = TableIndex(slotCount: 200, states: states)
    for slot in 0..<150 { index.adopt(record(slot, 1, slot + 1), in: slot) }
    index.finishAdopting()
    // A record of another entity, one that is in another slot already, and one that is unreadable.
    index.learn(record(300, 1, 500), in: 70, of: key(70).entity.digest)
    index.learn(record(4, 1, 500), in: 4, of: key(4).entity.digest)
    index.learn(record(4, 1, 501), in: 5, of: key(5).entity.digest)
    index.learn(nil, in: 149, of: key(149).entity.digest)
    #expect(index.liveCount == 147)
    #expect(index.damageCount == 3)
    #expect(index.takeRecordsToErase() == [70, 5, 149])
    #expect(Array(states.readSlots) == [4, 5, 70, 149])
    for slot in 0..<150 { index.learn(record(slot, 1, slot + 1), in: slot) }
    #expect(index.loseUnread() == [])
    #expect(index.pictureSlots == (0..<149).filter { ![5, 70].contains($0) })
    for slot in index.pictureSlots { #expect(index.contains(key(slot))) }
    #expect(!index.contains(key(300)))
  }

  @Test("claims a slot once that was lost while the file was opened")
  func freesLostSlotsOnce() throws {
    var index = TableIndex(slotCount: 3, states: SlotStates(slotCount: 3))
    index.adopt(record(1, 1, 1), in: 0)
    index.learn(nil, in: 0, of: key(1).entity.digest)
    index.adopt(record(1, 1, 2), in: 2)
    index.finishAdopting()
    index.learn(record(1, 1, 2), in: 2)
    for entity in 4..<6 { try store(entity, in: &index) }
    let claim = index.claimSlot(for: key(6).entity.digest).claim
    #expect(claim?.slot == 2)
    #expect(claim?.eviction != nil)
  }

  @Test("asks for the records before it chooses a picture to evict")
  func readsBeforeEvicting() throws {
    let states = SlotStates(slotCount: 3)
    var index = TableIndex(slotCount: 3, states: states)
    for slot in 0..<2 { index.adopt(record(slot, 1, 2 - slot), in: slot) }
    index.finishAdopting()
    try store(7, in: &index)
    guard case .unread = index.claimSlot(for: key(8).entity.digest) else {
      Issue.record("A slot was chosen by an order that is not known.")
      return
    }
    index.learn(record(1, 1, 1), in: 1)
    // The record of another slot's picture is not the adopted one.
    index.learn(record(5, 1, 9), in: 0)
    #expect(index.unreadCount == 1)
    #expect(index.loseUnread() == [0])
    #expect(index.liveCount == 2)
    #expect(try store(8, in: &index) == nil)
    let claim = index.claimSlot(for: key(9).entity.digest).claim
    #expect(claim?.slot == 1)
  }

  @Test("keeps two entities with one digest from showing each other's picture")
  func comparesInFull() throws {
    let digest = TableID.Digest(low: 1, high: 2)
    func twin(_ text: String) -> TableKey {
      TableKey(
        entity: TableID(kind: .string, digest: digest, bytes: TableID(text).bytes),
        version: TableID("s"))
    }
    var index = TableIndex(slotCount: 4, states: SlotStates(slotCount: 4))
    let claim = index.claimSlot(for: twin("a").entity.digest).claim
    let slot = try #require(claim).slot
    _ = index.publish(
      slot,
      record: SlotRecord(
        entity: digest, version: TableID("s").digest, generation: 1, slotHash: 0, recency: 0),
      key: twin("a"), extent: SlotExtent(width: 1, height: 1))
    #expect(index.contains(twin("a")))
    #expect(!index.contains(twin("b")))
    guard case .missing = index.lease(twin("b")) else {
      Issue.record("The other's picture was found.")
      return
    }
    let removed = index.remove(twin("b").entity)
    #expect(removed == nil)
    #expect(index.contains(twin("a")))
  }

  // MARK: Helpers

  private func record(_ entity: Int, _ version: Int, _ generation: Int) -> SlotRecord {
    SlotRecord(
      entity: key(entity).entity.digest, version: key(entity, version).version.digest,
      generation: UInt64(generation), slotHash: 0, recency: UInt64(generation))
  }

  /// Stores a picture, releases it, and returns the evicted entity.
  @discardableResult
  private func store(_ entity: Int, in index: inout TableIndex) throws -> TableID? {
    let claimed = index.claimSlot(for: key(entity).entity.digest).claim
    let claim = try #require(claimed)
    _ = index.publish(
      claim.slot, record: record(entity, 1, entity + 1), key: key(entity),
      extent: SlotExtent(width: 1, height: 1))
    index.states.release(claim.slot)
    return claim.eviction?.entity
  }
}
