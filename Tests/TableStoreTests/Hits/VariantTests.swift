import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("An image that is looked up by its entity", .timeLimit(.wholeRun))
struct VariantTests {
  let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test("is the wanted one, or says that it is not")
  func tellsVersions() throws {
    let table = try fixture.open()
    try table.store(key(1, 2))
    for isReopened in [false, true] {
      let opened = isReopened ? try fixture.open() : table
      let other = try #require(opened.variant(of: key(1, 1)))
      #expect(other.standing == .otherVersion && other.entry.shows(key(1, 2)))
      let current = try #require(opened.variant(of: key(1, 2)))
      #expect(current.standing == .current && current.entry.shows(key(1, 2)))
      #expect(opened.variant(of: key(2, 2)) == nil)
      #expect(!current.entry.isPrivate)
      if !isReopened { table.close() }
    }
  }

  @Test("is a miss where it is damaged")
  func isVerified() throws {
    try fixture.open().store(key(1))
    var bytes = try fixture.bytes()
    let last = try #require(bytes.lastIndex { $0 != 0 })
    bytes[last] ^= 1
    try fixture.replaceFile(with: bytes)
    let reopened = try fixture.open()
    #expect(reopened.variant(of: key(1)) == nil && reopened.variant(of: key(1, 2)) == nil)
    #expect(reopened.statistics.damageCount == 1 && reopened.statistics.leasedCount == 0)
  }
}

@Suite("An image that is marked stale", .timeLimit(.wholeRun))
struct StaleMarkTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open()
  }

  private func standing(of key: TableKey, in table: Table? = nil) -> TableVariant.Standing? {
    let found = (table ?? self.table).variant(of: key)
    if let found, found.standing != .otherVersion { #expect(found.entry.shows(key)) }
    return found?.standing
  }

  @Test("is read in full where this session has not, and leaves the file as it is")
  func isReadAside() throws {
    try table.store(key(1))
    table.close()
    let bytes = try fixture.bytes()
    let reopened = try fixture.open()
    try reopened.markStale(key(1).entity)
    #expect(reopened.entry(for: key(1)) == nil)
    for _ in 0..<2 { #expect(standing(of: key(1), in: reopened) == .stale) }
    #expect(try fixture.bytes() == bytes)
    let again = try fixture.reopen(reopened)
    #expect(again.entry(for: key(1))?.shows(key(1)) == true)
  }

  @Test("makes room before all others, but for an image of its own entity")
  func goesFirst() throws {
    for entity in 1...8 { try table.store(key(entity)) }
    try table.markStale(key(8).entity)
    try table.markStale(key(5).entity)
    try table.store(key(8, 2))
    #expect(standing(of: key(5)) == nil && table.contains(key(8, 2)))
    try table.store(key(9))
    // The slot of the image that was replaced.
    #expect(table.present([1, 2, 3, 4, 6, 7, 9]) == [1, 2, 3, 4, 6, 7, 9])
  }

  @Test("stays as it is while it is held")
  func staysHeld() throws {
    for entity in 1...8 { try table.store(key(entity)) }
    try table.markStale(key(8).entity)
    let held = table.variant(of: key(8))
    try table.store(key(9))
    #expect(table.present(1...9) == [2, 3, 4, 5, 6, 7, 9])
    #expect(held?.entry.shows(key(8)) == true && standing(of: key(8)) == .stale)
  }

  @Test("is removed, listed, verified, moved and emptied like others")
  func isChanged() throws {
    for entity in 1...4 {
      try table.store(key(entity))
      try table.markStale(key(entity).entity)
    }
    let listed = try table.entries()
    #expect(listed.count == 4 && table.verify().isEmpty)
    #expect(try table.remove(Array(listed.prefix(1))).count == 1)
    #expect(standing(of: key(1)) == nil)
    #expect(try table.remove(key(2).entity))
    #expect(try table.changeEntity(from: key(3).entity, to: TableID("moved")) != nil)
    let moved = TableKey(entity: TableID("moved"), version: key(3).version)
    #expect(table.entry(for: moved) == nil && table.variant(of: moved)?.standing == .stale)
    #expect(try table.setMetadata([1], of: key(4)) == nil)
    try table.removeAll()
    #expect(table.variant(of: key(4)) == nil)
    table.close()
    #expect(try fixture.open().entries().isEmpty)
  }

  @Test("stays stale while the table is suspended, and afterwards")
  func outlivesSuspension() throws {
    for entity in 1...2 { try table.store(key(entity)) }
    try table.markStale(key(1).entity)
    try table.suspend()
    #expect(!table.contains(key(1)) && table.entry(for: key(1)) == nil)
    #expect(standing(of: key(1)) == .stale && table.contains(key(2)))
    try table.markStale(key(2).entity)
    #expect(standing(of: key(2)) == .stale)
    table.resume()
    for entity in 1...2 { #expect(standing(of: key(entity)) == .stale) }
    #expect(table.present(1...2).isEmpty)
    try table.flush()
    try table.store(key(1))
    try table.suspend()
    #expect(table.present(1...2) == [1])
  }

  @Test("of another process is stale in this one only, and still when this one owns it")
  func isForeign() throws {
    for entity in 1...2 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture)
    try stranger.core.writer.withLock { try $0.markStale(key(1).entity) }
    #expect(!stranger.core.contains(key(1)) && stranger.core.entry(for: key(1)) == nil)
    #expect(stranger.core.lookup.variant(of: key(1))?.standing == .stale)
    #expect(stranger.core.storedImageState(for: key(1))?.isStale == true)
    #expect(table.present(1...2) == [1, 2] && stranger.shows(key(2)))
    table.close()
    try stranger.store(key(3), from: table)
    #expect(stranger.core.statistics.isOwner && !stranger.core.contains(key(1)))
    #expect(stranger.core.lookup.variant(of: key(1))?.standing == .stale)
    try stranger.store(key(1), from: table)
    #expect(stranger.shows(key(1)))
    stranger.core.close()
  }

  @Test("of the owner is seen by another process that stores after the mark")
  func isReplacedElsewhere() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    try stranger.core.writer.withLock { try $0.markStale(key(1).entity) }
    try table.store(key(1, 2))
    #expect(stranger.shows(key(1, 2)))
    #expect(stranger.core.lookup.variant(of: key(1, 2))?.standing == .current)
  }

  @Test("of a guest is stale where it is taken in afterwards")
  func isTakenIn() throws {
    var stranger: Stranger? = try Stranger(fixture)
    try stranger?.store(key(1), from: table)
    try stranger?.store(key(2), from: table)
    stranger?.core.close()
    stranger = nil
    try table.markStale(key(1).entity)
    try table.flush()
    #expect(table.present(1...2) == [2] && standing(of: key(1)) == .stale)
  }

  @Test("cannot be where the device is locked, or the table is closed")
  func fails() throws {
    try table.store(key(1))
    table.close()
    let plan = FaultPlan(code: EPERM, hasFileProtection: true)
    let reopened = try fixture.open(system: plan.system)
    plan.fail(after: 0, only: [.read])
    #expect(throws: TableError.self) { try reopened.markStale(key(1).entity) }
    plan.pass()
    #expect(reopened.present([1]) == [1])
    reopened.close()
    #expect(throws: TableError.closed) { try reopened.markStale(key(1).entity) }
  }
}
