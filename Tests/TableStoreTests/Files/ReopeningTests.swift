import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A reopened table", .timeLimit(.wholeRun))
struct ReopeningTests {
  let fixture: Fixture
  init() throws { fixture = try Fixture() }

  @Test("goes on in the order of use", arguments: [false, true])
  func keepsOrder(byFlush: Bool) throws {
    var table = try fixture.open(slots: 5)
    for entity in 1...5 { try table.store(key(entity)) }
    for entity in [2, 1] { #expect(table.entry(for: key(entity)) != nil) }
    if byFlush { try table.flush() }
    table = try fixture.reopen(table, slots: 5)
    var gone: [Int] = []
    for entity in 6...10 {
      let evicted = (1...5).filter { !table.contains(key($0)) }
      try table.store(key(entity))
      gone += (1...5).filter { !table.contains(key($0)) && !evicted.contains($0) }
    }
    #expect(gone == [3, 4, 5, 2, 1])
  }

  @Test("goes on in the order of use with any time on its file", arguments: [0, 2_147_483_648])
  func ignoresClocks(time: Double) throws {
    var table = try fixture.open(slots: 3)
    for entity in 1...3 { try table.store(key(entity)) }
    #expect(table.entry(for: key(1)) != nil)
    table.close()
    // The clock of its file is the only one near a table.
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: fixture.filePath())
    table = try fixture.open(slots: 3)
    try table.store(key(4))
    try table.store(key(5))
    #expect(table.present(1...5) == [1, 4, 5])
  }

  @Test("finds the newest images after its capacity changed", arguments: [3, 8, 100])
  func keepsNewest(slots: Int) throws {
    var table = try fixture.open(slots: 8)
    for entity in 1...8 { try table.store(key(entity)) }
    #expect(table.entry(for: key(1)) != nil)
    table = try fixture.reopen(table, slots: slots)
    let expected = slots == 3 ? [1, 7, 8] : Array(1...8)
    #expect(table.present(1...8) == expected)
    for entity in expected { #expect(table.entry(for: key(entity))?.shows(key(entity)) == true) }
    try table.store(key(9))
    #expect(table.entry(for: key(9))?.shows(key(9)) == true)
    #expect(table.statistics.liveCount == min(slots, 9))
  }

  @Test("leaves damaged images behind when its capacity changes")
  func copiesIntactOnly() throws {
    var table = try fixture.open(slots: 4)
    for entity in 1...3 { try table.store(key(entity)) }
    table.close()
    var bytes = try fixture.bytes()
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(4))
    bytes[layout.slotOffset(1) + 100] ^= 1
    try fixture.replaceFile(with: bytes)
    table = try fixture.open(slots: 6)
    #expect(table.present(1...3) == [1, 3])
  }

  @Test("loses at most one image to one failed read when its capacity changes", arguments: 0..<8)
  func survivesFailedRead(after: Int) throws {
    let plan = FaultPlan()
    var table = try fixture.open(slots: 4, system: plan.system)
    for entity in 1...3 { try table.store(key(entity)) }
    table.close()
    plan.fail(after: after, count: 1, only: [.read])
    // Opening is refused for now, or succeeds.
    (try? fixture.open(slots: 6, system: plan.system))?.close()
    plan.pass()
    table = try fixture.open(slots: 6, system: plan.system)
    #expect(table.present(1...3).count >= 2)
  }

  @Test(
    "is empty after its geometry changed",
    arguments: [
      TableGeometry(width: 15, height: 4, rowByteCount: 64, pixelFormat: 7),
      TableGeometry(width: 16, height: 4, rowByteCount: 128, pixelFormat: 7),
      TableGeometry(width: 16, height: 4, rowByteCount: 64, pixelFormat: 8),
    ])
  func dropsOtherGeometry(geometry: TableGeometry) throws {
    var table = try fixture.open()
    let entry = try table.store(key(1))
    table = try fixture.reopen(table, geometry: geometry)
    #expect(table.statistics.isOwner)
    #expect(table.entry(for: key(1)) == nil)
    try table.store(key(2))
    #expect(table.entry(for: key(2))?.shows(key(2)) == true)
    #expect(entry.shows(key(1)))
  }

  @Test(
    "is owned again, or changes its capacity, while earlier images are leased", arguments: [2, 1])
  func reopensWhileLeased(slots: Int) throws {
    var table = try fixture.open(slots: 2)
    let removed = try table.store(key(2))
    #expect(try table.remove(key(2).entity))
    let held = try table.store(key(1))
    table = try fixture.reopen(table, slots: slots)
    #expect(table.statistics.isOwner)
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    // The earlier leases are on pages of their own.
    for entity in 3...4 { try table.store(key(entity)) }
    #expect(table.present(1...4) == Array(Array(3...4).suffix(slots)))
    #expect(held.shows(key(1)))
    #expect(removed.shows(key(2)))
  }

  @Test("gives its file up when closed, under leases too, full or not", arguments: [true, false])
  func unlocksClosedFile(hasRoom: Bool) throws {
    let plan = FaultPlan()
    let closed = try fixture.open(system: plan.system)
    var held: TableEntry? = try closed.store(key(1))
    if !hasRoom { plan.fail(after: 0, only: [.open]) }
    closed.close()
    plan.pass()
    let descriptor = FileDescriptor(open(try fixture.filePath(), O_RDWR))
    if !hasRoom { #expect(try !SystemCalls.live.lock(descriptor.value)) }
    if hasRoom { #expect(try SystemCalls.live.lock(descriptor.value)) }
    #expect(held?.shows(key(1)) == true)
    held = nil
    #expect(try SystemCalls.live.lock(descriptor.value))
  }

  @Test("takes no more of the disk than its images need")
  func growsWithUse() throws {
    let table = try fixture.open(slots: 100_000)
    try table.store(key(1))
    let attributes = try FileManager.default.attributesOfItem(atPath: fixture.filePath())
    let size = try #require(attributes[.size] as? Int)
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(100_000))
    #expect(size == layout.slotOffset(0) + layout.contentByteCount)
    #expect(table.statistics.diskByteCount < 64_000)
  }

  @Test("is private to its user")
  func isPrivate() throws {
    try fixture.open().store(key(1))
    let manager = FileManager.default
    let file = try manager.attributesOfItem(atPath: fixture.filePath())[.posixPermissions] as? Int
    let folder = try manager.attributesOfItem(atPath: fixture.path)[.posixPermissions] as? Int
    #expect(file == 0o600)
    #expect(folder == 0o700)
  }
}
