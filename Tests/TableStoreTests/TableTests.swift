import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A table", .timeLimit(.wholeRun))
struct TableTests {
  let fixture: Fixture
  private let plan = FaultPlan()

  init() throws { fixture = try Fixture() }

  @Test(
    "takes ids of every kind and length",
    arguments: [
      TableID(""), TableID(Int64(7)), TableID(UInt64.max), TableID(uuid: (1, 2)),
      TableID(String(repeating: "long", count: 5000)),
    ])
  func takesAllIDs(id: TableID) throws {
    var table = try fixture.open()
    for version in [id, TableID("v")] {
      let key = TableKey(entity: id, version: version)
      try table.store(key)
      #expect(table.entry(for: key)?.shows(key) == true)
      table = try fixture.reopen(table)
      #expect(table.entry(for: key)?.shows(key) == true)
      #expect(table.entry(for: key)?.shows(key) == true)
    }
  }

  @Test("makes no system call for a hit, a miss and a question")
  func hitsWithoutCalls() throws {
    let table = try fixture.open(system: plan.system)
    try table.store(key(1))
    plan.pass()
    for _ in 0..<10 {
      #expect(table.entry(for: key(1))?.shows(key(1)) == true)
      #expect(table.entry(for: key(2)) == nil)
      #expect(table.contains(key(1)))
    }
    #expect(plan.calls.isEmpty)
  }

  @Test("reads the record of an earlier session's image once, and then the image")
  func verifiesOnce() throws {
    try fixture.open().store(key(1))
    let table = try fixture.open(system: plan.system)
    plan.pass()
    for _ in 0..<2 { #expect(table.contains(key(1))) }
    #expect(plan.calls == [.read])
    for _ in 0..<2 { #expect(table.entry(for: key(1))?.shows(key(1)) == true) }
    #expect(plan.calls == [.read, .read])
  }

  @Test("writes a zero record, the content, the record, and then zeros over the older record")
  func storesInOrder() throws {
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    let table = try fixture.open(system: plan.system)
    // The first change looks for an index file of before.
    _ = try table.remove(key(9).entity)
    plan.pass()
    try table.store(key(1))
    #expect(plan.calls == [.status, .write, .write, .write])
    let (record, slot) = (layout.recordOffset(0), layout.slotOffset(0))
    #expect(plan.offsets.dropFirst() == [record, slot, record])
    plan.pass()
    try table.store(key(1, 2))
    #expect(plan.calls == [.status, .write, .write, .write, .write])
    let (newRecord, newSlot) = (layout.recordOffset(1), layout.slotOffset(1))
    #expect(plan.offsets.dropFirst() == [newRecord, newSlot, newRecord, record])
  }

  @Test("keeps a leased image through replacement, removal, emptying and closing")
  func keepsLeasedImages() throws {
    var table = try fixture.open(slots: 4)
    let replaced = try table.store(key(1, 1))
    let removed = try table.store(key(2))
    let emptied = try table.store(key(3))
    try table.store(key(1, 2))
    #expect(try table.remove(key(2).entity))
    for entity in 10..<30 { _ = try? table.store(key(entity)) }
    try table.removeAll()
    for entity in 30..<50 { try table.store(key(entity)) }
    table = try fixture.reopen(table, slots: 4)
    for entity in 50..<70 { try table.store(key(entity)) }
    #expect(replaced.shows(key(1, 1)))
    #expect(removed.shows(key(2)))
    #expect(emptied.shows(key(3)))
  }

  @Test("refuses a store when every slot is leased, and leaves the image in private memory")
  func refusesWhenAllLeased() throws {
    let table = try fixture.open(slots: 2)
    let entries = [try table.store(key(1)), try table.store(key(2))]
    let sealed = try table.sealed(key(3))
    #expect(throws: TableError.allSlotsLeased) { try table.insert(sealed) }
    let entry = TableEntry(keepingPrivate: sealed)
    #expect(entry.isPrivate)
    #expect(entry.shows(key(3)))
    #expect(!table.contains(key(3)))
    for (entry, entity) in zip(entries, 1...) { #expect(entry.shows(key(entity))) }
  }

  @Test("stores again as soon as one lease ends")
  func reusesReleasedSlots() throws {
    let table = try fixture.open(slots: 1)
    var entry: TableEntry? = try table.store(key(1))
    #expect(throws: TableError.allSlotsLeased) { try table.store(key(2)) }
    #expect(entry?.shows(key(1)) == true)
    entry = nil
    #expect(try table.store(key(2)).shows(key(2)))
    #expect(table.statistics.evictionCount == 1)
  }

  @Test("makes buffers at an address that suits every processor")
  func alignsBuffers() throws {
    let table = try fixture.open()
    for entity in 1..<10 { try table.store(key(entity)) }
    guard let buffer = table.makeBuffer() else {
      Issue.record("There is no memory for a buffer.")
      return
    }
    #expect(Int(bitPattern: buffer.pixels.baseAddress) % 64 == 0)
  }

  @Test("counts an image as used for as long as it is leased")
  func countsLeasesAsUse() throws {
    let table = try fixture.open(slots: 3)
    var held: TableEntry? = try table.store(key(1))
    for entity in 2...3 { try table.store(key(entity)) }
    #expect(held?.shows(key(1)) == true)
    held = nil
    try table.store(key(4))
    #expect(table.present(1...4) == [1, 3, 4])
  }

  @Test("misses and refuses everything once closed")
  func refusesAfterClosing() throws {
    let table = try fixture.open()
    try table.store(key(1))
    let sealed = try table.sealed(key(2))
    table.close()
    table.close()
    #expect(table.entry(for: key(1)) == nil)
    #expect(!table.contains(key(1)))
    #expect(throws: TableError.closed) { try table.insert(sealed) }
    #expect(throws: TableError.closed) { try table.remove(key(1).entity) }
    #expect(throws: TableError.closed) { try table.removeAll() }
    #expect(throws: TableError.closed) { try table.flush() }
  }

  @Test("refuses a second opening that asks for another capacity or protection")
  func refusesOtherCapacity() throws {
    let first = try fixture.open(slots: 8, protection: .untilFirstUnlock)
    let error = TableError.openOtherwise(slotCount: 8, .untilFirstUnlock)
    #expect(throws: error) { try fixture.open(slots: 3, protection: .untilFirstUnlock) }
    #expect(throws: error) { try fixture.open(slots: 8) }
    // A refused opening needs no closing.
    first.close()
    #expect(try fixture.open(slots: 3).statistics.slotCount == 3)
  }

  @Test("reports damage to each opening until it is closed, and counts it")
  func tellsOfDamage() throws {
    var table = try fixture.open()
    for entity in 1...4 { try table.store(key(entity)) }
    table.close()
    var bytes = try fixture.bytes()
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    for slot in 0..<3 { bytes[layout.slotOffset(slot)] ^= 1 }
    try fixture.replaceFile(with: bytes)
    let told = Lock<[[String]]>([[], []])
    let listen = { (number: Int) in
      { @Sendable (notice: TableNotice) in
        guard case .damage(let entity) = notice else { return }
        told.withLock { $0[number].append(entity.map { "\($0)" } ?? "unknown") }
      }
    }
    table = try fixture.open(onNotice: listen(0))
    let second = try fixture.open(onNotice: listen(1))
    #expect(table.entry(for: key(1)) == nil)
    #expect(table.entry(for: key(1)) == nil)
    #expect(second.entry(for: key(4)) != nil)
    #expect(told.withLock { $0 } == [["entity 1"], ["entity 1"]])
    second.close()
    for entity in 2...3 { #expect(table.entry(for: key(entity)) == nil) }
    #expect(told.withLock { $0 } == [["entity 1", "entity 2", "entity 3"], ["entity 1"]])
    try table.removeAll()
    #expect(table.statistics.damageCount == 3)
  }

  @Test("gives an opening with another geometry a private table, for good")
  func separatesGeometries() throws {
    let other = TableGeometry(width: 8, height: 8, rowByteCount: 64, pixelFormat: 7)
    let first = try fixture.open()
    try first.store(key(1))
    let second = try fixture.open(geometry: other)
    try second.store(key(2))
    #expect(second.entry(for: key(2))?.shows(key(2)) == true)
    #expect(second.entry(for: key(1)) == nil)
    #expect(first.entry(for: key(1))?.shows(key(1)) == true)
    #expect(throws: TableError.foreignSlot) { try first.insert(second.sealed(key(3))) }
    first.close()
    try second.store(key(3))
    #expect(!second.statistics.isOwner)
    #expect(try fixture.open().present(1...3) == [1])
  }
}
