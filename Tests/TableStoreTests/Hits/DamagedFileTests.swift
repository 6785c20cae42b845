import Testing

@testable import TableStore

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
