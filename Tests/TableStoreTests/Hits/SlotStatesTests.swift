import Locking
import Synchronization
import TestSupport
import Testing

@testable import TableStore

@Suite("Slot states", .timeLimit(.wholeRun))
struct SlotStatesTests {
  private let extent = SlotExtent(width: 1, height: 1)

  /// States of slots that pretend to be mapped.
  private func makeStates(slots: Int, published count: Int = 0) throws -> SlotStates {
    let states = SlotStates(slotCount: slots)
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(slots))
    states.attach(content: UnsafeRawPointer(bitPattern: 4096), layout: layout)
    states.prepare(slots)
    for slot in 0..<count { publish(slot, on: states) }
    return states
  }

  private func publish(_ slot: Int, on states: SlotStates) {
    #expect(states.claim(slot))
    states.publish(slot, key: key(slot), extent: extent)
    link(key(slot), slot, on: states)
    states.release(slot)
  }

  private func link(_ key: TableKey, _ slot: Int, on states: SlotStates) {
    let hash = states.stored.hash(of: key.entity.digest)
    states.stored.replace(nil, with: slot, hash: hash, stamp: 1)
  }

  private func hit(_ slot: Int, on states: SlotStates) -> HitIndex.Hit? {
    hit(key(slot), on: states)
  }

  private func hit(_ key: TableKey, on states: SlotStates) -> HitIndex.Hit? {
    TableKeyView.lending(key.entity, key.version) { states.hitIndex.hit($0) }
  }

  @Test("find every image without the index, however many there are")
  func findsAll() throws {
    let count = 5000
    let states = try makeStates(slots: count, published: count)
    let stride = states.memory.pointee.contentStride
    let found = (0..<count).count { slot in
      let found = hit(slot, on: states)
      found?.lease.end()
      return found.map { $0.content == UnsafeRawPointer(bitPattern: 4096 + slot * stride) } ?? false
    }
    // Slots far down a chain are left to the index, which are next to none.
    #expect(found > count * 99 / 100)
    #expect(states.hitCount == found)
  }

  @Test("lease no slot that is claimed, withdrawn, unverified or retired")
  func leasesOpenSlotsOnly() throws {
    let states = try makeStates(slots: 4, published: 3)
    #expect(states.claim(0))
    states.withdraw(1)
    states.prepare(4)
    states.adopt(3, entity: key(3).entity.digest, version: key(3).version.digest)
    link(key(3), 3, on: states)
    let found = (0..<4).filter { hit($0, on: states) != nil }
    #expect(found == [2])
    // The hit above still has its lease.
    #expect(!states.claim(2))
    #expect(states.state(of: 2).leaseCount == 1)
    states.release(2)
    #expect(states.claim(2))
  }

  @Test("tell apart two keys with one tag")
  func comparesKeys() throws {
    let states = try makeStates(slots: 1, published: 1)
    let (kind, digest) = (TableID.Kind.uuid, key(0).entity.digest)
    let twin = TableID(kind: kind, digest: digest, bytes: nil)
    #expect(hit(TableKey(entity: twin, version: key(0).version), on: states) == nil)
    #expect(states.state(of: 0).leaseCount == 0)
    #expect(states.hitCount == 0)
  }

  @Test("are used again when their file is gone, and not before")
  func isReused() throws {
    let pool = SlotStatesPool()
    let first = pool.take(slotCount: 3)
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(3))
    first.attach(content: UnsafeRawPointer(bitPattern: 4096), layout: layout)
    first.prepare(1)
    #expect(first.claim(0))
    first.publish(0, key: key(0), extent: extent)
    link(key(0), 0, on: first)
    let second = pool.take(slotCount: 3)
    #expect(first !== second)
    first.release(0)
    hit(0, on: first)?.lease.end()
    #expect(first.hitCount == 1)
    first.detach()
    let third = pool.take(slotCount: 3)
    #expect(third === first)
    #expect(hit(0, on: third) == nil)
    #expect(third.state(of: 0).bits == 0 && third.hitCount == 0)
  }

  @Test("keep a replaced file until its last lease ends")
  func keepsRetiredFile() throws {
    let fixture = try Fixture()
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(4))
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "rows", layout: layout, system: .live)
    let core = try TableCore(opener: opener, opened: opener.open())
    let slots = try PrivateSlots(geometry: Fixture.geometry)
    var held = try (0..<3).map { entity in
      guard let buffer = slots.makeBuffer() else { throw TableError.outOfMemory(byteCount: 0) }
      let pixels = TableStoreTests.pixels(for: key(entity), byteCount: buffer.pixels.count)
      buffer.pixels.copyBytes(from: pixels)
      return try core.insert(buffer.sealed(key: key(entity), extent: extent)).entry
    }
    weak let file = core.lookup.current.withLock { $0.file }
    try core.removeAll()
    while let entry = held.popLast() {
      #expect(file != nil)
      #expect(entry.shows(key(held.count)))
    }
    #expect(file == nil)
    core.close()
  }
}

@Suite("A look that reads no slot", .timeLimit(.wholeRun))
struct FindingTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private enum Found: Equatable {
    case verified
    case unverified(isInMemory: Bool)
    case missing
  }

  private func find(_ key: TableKey, in table: Table) -> Found {
    switch table.find(key) {
    case .verified(let entry):
      #expect(entry.shows(key))
      return .verified
    case .unverified(let isInMemory): return .unverified(isInMemory: isInMemory)
    case .missing: return .missing
    }
  }

  @Test("tells images that were verified from those of an earlier session, and takes no lease")
  func tellsVerified() throws {
    let table = try fixture.open()
    for entity in 1...2 { try table.store(key(entity)) }
    #expect(find(key(1), in: table) == .verified && find(key(1, 2), in: table) == .missing)
    table.close()
    let reads = Counter()
    let reopened = try fixture.open(
      system: SystemCalls(observer: { call throws(SystemError) in
        if call.kind == .read { reads.increment() }
      }))
    let atOpening = reads.value
    // Its file was written a moment before.
    #expect(find(key(1), in: reopened) == .unverified(isInMemory: true))
    #expect(find(key(1, 2), in: reopened) == .missing && find(key(3), in: reopened) == .missing)
    // The record.
    #expect(reads.value <= atOpening + 1)
    #expect(reopened.statistics.leasedCount == 0 && reopened.statistics.hitCount == 0)
    #expect(reopened.entry(for: key(1))?.shows(key(1)) == true)
    #expect(find(key(1), in: reopened) == .verified)
    #expect(find(key(2), in: reopened) == .unverified(isInMemory: true))
    #expect(reopened.statistics.hitCount == 2)
    reopened.close()
    #expect(find(key(1), in: reopened) == .missing)
  }

  @Test("finds a damaged image where those are shown, and no stale one")
  func findsDamaged() throws {
    let table = try fixture.open(showsDamaged: true)
    try table.store(key(1).damaged)
    try table.store(key(2))
    guard case .verified(let entry) = table.find(key(1)) else {
      Issue.record("A damaged image is not found.")
      return
    }
    #expect(entry.isDamaged)
    try table.markStale(key(2).entity)
    #expect(find(key(2), in: table) == .missing)
  }

  @Test("calls each image unverified in a file that is copied from")
  func copies() throws {
    let table = try fixture.open(protection: .complete, system: LockableDevice().system)
    try table.store(key(1))
    #expect(find(key(1), in: table) == .unverified(isInMemory: false))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    #expect(find(key(1), in: table) == .unverified(isInMemory: false))
    #expect(table.statistics.leasedCount == 0)
  }

  @Test("counts no fewer hits while the file is replaced")
  func countsThroughout() async throws {
    let fixture = try Fixture()
    let table = try fixture.open()
    async let changes: Void = {
      for _ in 0..<300 {
        try table.store(key(1))
        _ = table.entry(for: key(1))
        try table.removeAll()
      }
    }()
    var former = 0
    while former < 300 {
      let count = table.statistics.hitCount
      #expect(count >= former)
      former = max(former, count)
    }
    try await changes
  }
}
