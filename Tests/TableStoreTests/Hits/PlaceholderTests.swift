import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

/// The key under which the placeholder of a key's version is stored.
private func placeholder(_ entity: Int, _ version: Int = 1) -> TableKey {
  TableKey(entity: key(entity).entity, version: key(entity, version).version.placeholder)
}

@Suite("A placeholder in a table", .timeLimit(.wholeRun))
struct PlaceholderTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open()
  }

  private func insert(_ key: TableKey, into table: Table? = nil) throws -> Bool {
    let table = table ?? self.table
    return try table.insertPlaceholder(table.sealed(key)) != nil
  }

  private func standing(_ key: TableKey, in table: Table? = nil) -> TableVariant.Standing? {
    (table ?? self.table).variant(of: key)?.standing
  }

  @Test("moves to another entity, whose placeholder it becomes, unless that has a real image")
  func moves() throws {
    let (old, new) = (TableID("old"), TableID("new"))
    #expect(try insert(TableKey(entity: old, version: old.placeholder)))
    #expect(try table.changeEntity(from: old, to: new) != nil)
    #expect(standing(TableKey(entity: new, version: new.placeholder)) == .current)
    try table.store(key(1))
    #expect(try table.changeEntity(from: new, to: key(1).entity) == nil)
    #expect(table.present([1]) == [1] && table.statistics.liveCount == 1)
    #expect(try insert(placeholder(2)))
    #expect(try table.changeEntity(from: key(1).entity, to: key(2).entity) != nil)
    #expect(standing(TableKey(entity: key(2).entity, version: key(1).version)) == .current)
  }

  @Test("of a second process replaces no real image of the owner, neither now nor later")
  func yieldsToOwner() throws {
    try table.store(key(1))
    do {
      let stranger = try Stranger(fixture)
      let insert = { (key: TableKey) in
        try stranger.core.writer.withLock { try $0.insertPlaceholder(table.sealed(key)) } != nil
      }
      #expect(try !insert(placeholder(1)))
      #expect(try insert(placeholder(2)) && insert(placeholder(3)))
      try table.store(key(2))
    }
    try table.flush()
    #expect(table.present(1...3) == [1, 2] && standing(key(3)) == .placeholder)
  }

  @Test("of one of two other processes gives way to the real image of the other, whoever was first")
  func yieldsAmongGuests() throws {
    do {
      let strangers = try (0..<2).map { _ in try Stranger(fixture) }
      for (first, second) in [(0, 1), (1, 0)] {
        try strangers[first].store(key(first), from: table)
        let isStored = try strangers[second].core.writer.withLock {
          try $0.insertPlaceholder(table.sealed(placeholder(first))) != nil
        }
        #expect(isStored)
      }
    }
    try table.flush()
    #expect(table.present(0...1) == [0, 1] && table.statistics.liveCount == 2)
  }

  @Test("of the owner gives way to the real image that a second process stored before it")
  func yieldsToGuest() throws {
    do {
      let stranger = try Stranger(fixture)
      for entity in 1...3 { try stranger.store(key(entity), from: table) }
      for entity in 1...3 { #expect(try insert(placeholder(entity))) }
      #expect(try table.remove(key(3).entity))
    }
    try table.flush()
    #expect(table.present(1...3) == [1, 2] && table.statistics.liveCount == 2)
    let reopened = try fixture.reopen(table)
    #expect(reopened.present(1...3) == [1, 2] && reopened.verify().isEmpty)
  }
}

@Suite("An image of a damaged file in a table", .timeLimit(.wholeRun))
struct DamagedFileTests {
  let fixture: Fixture
  /// Two openings of one table, of different minds.
  let showing: Table
  let refusing: Table

  init() throws {
    fixture = try Fixture()
    showing = try fixture.open(showsDamaged: true)
    refusing = try fixture.open()
  }

  private func misses(_ key: TableKey, in table: Table) -> Bool {
    table.entry(for: key) == nil && !table.contains(key) && table.variant(of: key) == nil
      && table.storedImageState(for: key) == nil
  }

  private func finds(_ key: TableKey, in table: Table) -> Bool {
    table.entry(for: key)?.isDamaged == true && table.contains(key)
      && table.variant(of: key)?.standing == .current && table.storedImageState(for: key) != nil
  }

  @Test("is missed by a second process that does not ask for it")
  func isMissedElsewhere() throws {
    try showing.store(key(1).damaged)
    let stranger = try Stranger(fixture)
    #expect(stranger.core.entry(for: key(1)) == nil)
    #expect(stranger.core.entry(for: key(1).damaged)?.isDamaged == true)
  }

  @Test("keeps its mark under other metadata and another id")
  func keepsMark() throws {
    let own = TableKey(entity: key(1).entity, version: key(1).entity)
    try showing.store(own.damaged)
    #expect(try refusing.setMetadata([7], of: own) == nil)
    #expect(try showing.setMetadata([7], of: own)?.entry.metadata == [7])
    _ = try refusing.changeEntity(from: own.entity, to: key(2).entity)
    let moved = TableKey(entity: key(2).entity, version: key(2).entity)
    #expect(finds(moved, in: showing) && misses(moved, in: refusing))
    #expect(showing.entry(for: moved)?.metadata == [7] && !showing.contains(own))
  }

  @Test("is a placeholder where the whole one would be")
  func isPlaceholder() throws {
    let version = key(1).version
    #expect(version.damaged.placeholder == version.placeholder.damaged)
    #expect(version.placeholder.damaged.isPlaceholder && version.placeholder.damaged.isDamaged)
    #expect(!version.damaged.isPlaceholder && !version.placeholder.isDamaged)
    let placeholder = TableKey(entity: key(1).entity, version: version.placeholder)
    #expect(try showing.insertPlaceholder(showing.sealed(placeholder.damaged)) != nil)
    #expect(finds(placeholder, in: showing) && misses(placeholder, in: refusing))
    #expect(showing.variant(of: key(1))?.standing == .placeholder)
    try showing.store(key(1).damaged)
    #expect(try showing.insertPlaceholder(showing.sealed(placeholder.damaged)) == nil)
    #expect(finds(key(1), in: showing))
    _ = try showing.changeEntity(from: key(1).entity, to: key(2).entity)
    #expect(try showing.insertPlaceholder(showing.sealed(placeholder.damaged)) != nil)
    showing.close()
    refusing.close()
    #expect(finds(placeholder, in: try fixture.open(showsDamaged: true)))
  }
}
