import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("Giving a table's image to another entity", .timeLimit(.wholeRun))
struct RenamingTests {
  let fixture: Fixture
  let table: Table
  private let new = TableID("new")

  init() throws {
    fixture = try Fixture()
    table = try fixture.open(slots: 3)
  }

  /// The key under which the image of `key(1)` is found afterwards.
  private var newKey: TableKey { TableKey(entity: new, version: key(1).version) }

  @Test("makes a version that was the entity's id the other's id")
  func followsVersion() throws {
    let old = TableKey(entity: TableID("a"), version: TableID("a"))
    try table.store(old)
    _ = try table.changeEntity(from: old.entity, to: new)
    #expect(table.entry(for: TableKey(entity: new, version: new))?.shows(old) == true)
  }

  @Test("finds a version of which the file has the hash only, whole at its first hit")
  func keepsHashedVersion() throws {
    let long = TableID(String(repeating: "v", count: 900))
    let old = TableKey(entity: TableID("a"), version: long)
    let moved = TableKey(entity: new, version: long)
    try table.store(old)
    #expect(try table.changeEntity(from: old.entity, to: new)?.entry.shows(old) == true)
    #expect(table.statistics.unverifiedCount == 1 && table.statistics.leasedCount == 0)
    let other = TableKey(entity: new, version: TableID(String(repeating: "w", count: 900)))
    #expect(table.entry(for: other) == nil)
    #expect(table.entry(for: moved)?.shows(old) == true)
    #expect(table.statistics.unverifiedCount == 0)
    _ = try table.changeEntity(from: new, to: old.entity)
    table.close()
    #expect(try fixture.open(slots: 3).entry(for: old)?.shows(old) == true)
  }

  @Test("never makes a verified image of a damaged one", arguments: [false, true])
  func verifiesAnew(isReopened: Bool) throws {
    let told = Lock<[TableID?]>([])
    let entry = try table.store(key(1))
    let place = try #require(try fixture.bytes().firstRange(of: entry.withPixels { Array($0) }))
    if isReopened { table.close() }
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.filePath()))
    try file.seek(toOffset: UInt64(place.lowerBound + 5))
    try file.write(contentsOf: [entry.withPixels { $0[5] } ^ 1])
    let damaged = try fixture.open(slots: 3) { notice in
      if case .damage(let id) = notice { told.withLock { $0.append(id) } }
    }
    #expect(try damaged.changeEntity(from: key(1).entity, to: new) == nil)
    #expect(!damaged.contains(new) && !damaged.contains(key(1).entity))
    #expect(told.withLock { $0 } == [key(1).entity])
  }

  @Test("lets another image make room in a full table, and fails where all are leased")
  func needsRoom() throws {
    // The oldest, which would make room for its own copy.
    for entity in 1...3 { try table.store(key(entity)) }
    let eviction = try table.changeEntity(from: key(1).entity, to: new)?.eviction
    #expect(eviction == Eviction(entity: key(2).entity))
    #expect(table.entry(for: newKey)?.shows(key(1)) == true)
    try table.store(key(4))
    #expect(table.present(1...4) == [3, 4] && table.contains(newKey))
    let held = [key(3), key(4), newKey].map { table.entry(for: $0) }
    #expect(throws: TableError.allSlotsLeased) {
      try table.changeEntity(from: new, to: key(1).entity)
    }
    #expect(table.contains(newKey))
    withExtendedLifetime(held) {}
  }

  @Test("leaves the image where it is when the copy cannot be written")
  func survivesFullDisk() throws {
    let plan = FaultPlan(code: ENOSPC)
    let table = try fixture.open("other", system: plan.system)
    try table.store(key(1))
    for write in 0..<3 {
      plan.fail(after: write, count: 1, only: [.write])
      #expect(throws: TableError.self) { try table.changeEntity(from: key(1).entity, to: new) }
      #expect(table.entry(for: key(1))?.shows(key(1)) == true)
      #expect(!table.contains(new))
      plan.pass()
      try table.store(key(3 + write))
    }
  }

  @Test("counts for a second opener, and for everybody once that owns the file")
  func changesForeign() throws {
    try table.store(key(1), metadata: [7])
    let replaced = TableKey(entity: new, version: key(9).version)
    try table.store(replaced)
    let stranger = try Stranger(fixture, slots: 3)
    let change = { (old: TableID, new: TableID) in
      try stranger.core.writer.withLock { try $0.changeEntity(from: old, to: new) }
    }
    #expect(try change(key(1).entity, new)?.entry.metadata == [7])
    #expect(stranger.core.entry(for: newKey)?.shows(key(1)) == true)
    #expect(stranger.core.entry(for: key(1)) == nil)
    #expect(stranger.core.entry(for: replaced) == nil)
    #expect(table.present(1...1) == [1] && table.contains(replaced))
    // Of the second opener's own, with a version that its private file has the hash of.
    let long = TableKey(entity: TableID("l"), version: TableID(String(repeating: "v", count: 900)))
    try stranger.store(long, from: table)
    _ = try change(long.entity, TableID("m"))
    table.close()
    stranger.core.close()
    let reopened = try fixture.open(slots: 3)
    #expect(reopened.entry(for: newKey)?.shows(key(1)) == true)
    #expect(!reopened.contains(key(1).entity) && reopened.statistics.liveCount == 2)
    let moved = TableKey(entity: TableID("m"), version: long.version)
    #expect(reopened.entry(for: moved)?.shows(long) == true)
  }

  @Test("fails when the device is locked meanwhile, and does not say that there is no image")
  func isProtected() throws {
    let device = LockableDevice()
    let table = try fixture.open("secret", slots: 3, protection: .complete, system: device.system)
    try table.store(key(1))
    var wasRefused = false
    for call in 0..<40 where table.contains(key(1).entity) {
      device.lock(beforeCall: device.callCount + call, forCalls: .max / 2)
      do {
        #expect(try table.changeEntity(from: key(1).entity, to: new) != nil, "call \(call)")
      } catch {
        #expect(error == .protectedDataUnavailable(name: "secret"), "call \(call)")
        wasRefused = true
      }
      device.unlock()
    }
    #expect(wasRefused)
    #expect(table.entry(for: newKey)?.shows(key(1)) == true)
  }
}
