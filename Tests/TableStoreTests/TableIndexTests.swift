import Testing

@testable import TableStore

@Suite("A table index", .timeLimit(.minutes(5)))
struct TableIndexTests {
  /// What an index must do, told as plainly as possible: all slots in one list.
  private struct Model {
    struct Slot {
      var entity: Int
      var version: Int
      var isLive = true
      var leases = 0
      var lastUse: Int
    }
    let capacity: Int
    var slots: [Int: Slot] = [:]
    var now = 0

    func live(_ entity: Int) -> Int? {
      slots.first { $0.value.isLive && $0.value.entity == entity }?.key
    }

    /// The pictures of which one has to make room, `[nil]` when there is room, nothing when there
    /// is none to be made. They are several when their leases ended between the same two events.
    func victims(for entity: Int) -> [Int?] {
      let taken = slots.values.count { $0.isLive || $0.leases > 0 }
      if taken < capacity { return [nil] }
      let own = live(entity)
      let evictable = slots.filter { $0.value.isLive && $0.value.leases == 0 && $0.key != own }
      if let oldest = evictable.values.map(\.lastUse).min() {
        return evictable.filter { $0.value.lastUse == oldest }.map(\.key)
      }
      if let own, slots[own]?.leases == 0 { return [own] }
      return []
    }

    mutating func hit(_ slot: Int) {
      now += 1
      slots[slot]?.lastUse = now
      slots[slot]?.leases += 1
    }

    mutating func release(_ slot: Int) {
      slots[slot]?.lastUse = now
      slots[slot]?.leases -= 1
    }
  }

  @Test(
    "agrees with a plain model over random stores, hits, releases and removals",
    arguments: [(UInt64(1), 1), (2, 2), (3, 5), (4, 12), (5, 16)])
  func agreesWithModel(seed: UInt64, capacity: Int) throws {
    var random = SeededGenerator(seed: seed)
    let board = SlotBoard(slotCount: capacity, clockGrain: 0)
    var index = TableIndex(slotCount: capacity, board: board)
    var model = Model(capacity: capacity)
    /// Leases in hand: the slot of the index, and of the model.
    var leases: [(slot: Int, modelled: Int)] = []
    var nextModelled = 0
    for step in 0..<6_000 {
      let entity = Int.random(in: 0..<(capacity * 2), using: &random)
      let version = Int.random(in: 0..<2, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        model.now += 1
        let expected = model.victims(for: entity)
        let reservation = index.reserve(for: key(entity).entity)
        #expect((reservation == nil) == expected.isEmpty, "step \(step)")
        guard let reservation else { continue }
        let victim = expected.first { victim in
          let evicted = victim.flatMap { model.slots[$0] }.map { key($0.entity).entity }
          return evicted == reservation.eviction?.entity
        }
        let expectedVictim = try #require(victim, "step \(step)")
        if let expectedVictim { model.slots[expectedVictim] = nil }
        if Int.random(in: 0..<8, using: &random) == 0 {
          index.abandon(reservation.slot)
          continue
        }
        let older = index.publish(
          reservation.slot, record: record(entity, version, step + 1), key: key(entity, version),
          extent: SlotExtent(width: 1, height: 1))
        let modelledOlder = model.live(entity)
        #expect((older == nil) == (modelledOlder == nil))
        if let modelledOlder { model.slots[modelledOlder]?.isLive = false }
        model.slots[nextModelled] = .init(entity: entity, version: version, lastUse: 0)
        model.hit(nextModelled)
        leases.append((reservation.slot, nextModelled))
        nextModelled += 1
      case 4..<7:
        let modelled = model.live(entity).flatMap { model.slots[$0]?.version == version ? $0 : nil }
        #expect(index.contains(key(entity, version)) == (modelled != nil))
        switch index.lease(key(entity, version)) {
        case .missing: #expect(modelled == nil, "step \(step)")
        case .unproven: Issue.record("Nothing here comes from a file.")
        case .proven(let slot, _):
          let modelled = try #require(modelled, "step \(step)")
          model.hit(modelled)
          leases.append((slot, modelled))
        }
      case 7..<9:
        guard let picked = leases.indices.randomElement(using: &random) else { continue }
        let lease = leases.remove(at: picked)
        board.release(lease.slot)
        model.release(lease.modelled)
      default:
        let modelled = model.live(entity)
        let removed = index.remove(key(entity).entity)
        #expect((removed == nil) == (modelled == nil))
        if let modelled { model.slots[modelled]?.isLive = false }
      }
      model.slots = model.slots.filter { $0.value.isLive || $0.value.leases > 0 }
      #expect(index.liveCount == model.slots.values.count { $0.isLive })
      #expect(index.leasedCount == model.slots.values.count { $0.leases > 0 })
    }
  }

  @Test("evicts in the exact order of use, far beyond one selection")
  func evictsInOrder() throws {
    let count = 1000
    let board = SlotBoard(slotCount: count)
    var index = TableIndex(slotCount: count, board: board)
    var random = SeededGenerator(seed: 9)
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
        board.release(slot)
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
      var index = TableIndex(slotCount: 4, board: SlotBoard(slotCount: 4))
      index.adopt(record(1, 1, Int(first)), in: 0)
      index.adopt(record(1, 2, Int(second)), in: 2)
      index.finishAdopting()
      #expect(index.liveCount == 1)
      #expect(index.contains(key(1, first > second ? 1 : 2)))
    }
  }

  @Test("does not give out a slot that is leased from before")
  func respectsOldLeases() throws {
    let board = SlotBoard(slotCount: 2)
    board.prepare(2)
    board.lease(1)
    var index = TableIndex(slotCount: 2, board: board)
    index.finishAdopting()
    let slots = (0..<2).map { _ in index.reserve(for: TableID("a"))?.slot }
    #expect(slots == [0, nil])
    board.release(1)
    let freed = index.reserve(for: TableID("b"))?.slot
    #expect(freed == 1)
  }

  @Test("holds its clock against stamps that nobody could have made")
  func survivesForgedRecency() throws {
    var forged = record(1, 1, 1)
    forged.recency = .max
    let board = SlotBoard(slotCount: 2)
    var index = TableIndex(slotCount: 2, board: board)
    index.adopt(forged, in: 0)
    index.finishAdopting()
    try store(2, in: &index)
    let evicted = try store(3, in: &index)
    #expect(evicted == nil)
    #expect(!index.contains(key(1)))
    #expect(index.contains(key(2)))
  }

  @Test("keeps two entities with one digest from showing each other's picture")
  func comparesInFull() throws {
    let digest = TableID.Digest(low: 1, high: 2)
    func twin(_ text: String) -> TableKey {
      TableKey(
        entity: TableID(kind: .string, digest: digest, bytes: TableID(text).bytes),
        source: TableID("s"))
    }
    var index = TableIndex(slotCount: 4, board: SlotBoard(slotCount: 4))
    let reservation = index.reserve(for: twin("a").entity)
    let slot = try #require(reservation).slot
    _ = index.publish(
      slot,
      record: SlotRecord(
        entity: digest, source: TableID("s").digest, generation: 1, slotHash: 0, recency: 0),
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
      entity: key(entity).entity.digest, source: key(entity, version).source.digest,
      generation: UInt64(generation), slotHash: 0, recency: UInt64(generation))
  }

  /// Stores a picture, releases it, and returns who was evicted.
  @discardableResult
  private func store(_ entity: Int, in index: inout TableIndex) throws -> TableID? {
    let reserved = index.reserve(for: key(entity).entity)
    let reservation = try #require(reserved)
    _ = index.publish(
      reservation.slot, record: record(entity, 1, entity + 1), key: key(entity),
      extent: SlotExtent(width: 1, height: 1))
    index.board.release(reservation.slot)
    return reservation.eviction?.entity
  }
}
