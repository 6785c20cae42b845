import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

/// What a process that draws beside the owner suspends, renames or removes, until the owner has it.
@Suite("A guest", .timeLimit(.wholeRun))
struct GuestHandoverTests {
  let fixture: Fixture
  let table: Table
  private let opening = NSObject()

  init() throws {
    fixture = try Fixture()
    table = try fixture.open()
  }

  @Test("goes on with its guest file after it was suspended, and flushed in vain")
  func keepsItsFile() throws {
    do {
      let stranger = try Stranger(fixture)
      try stranger.store(key(1), from: table)
      try stranger.core.suspend(ObjectIdentifier(opening))
      try stranger.store(key(2), from: table)
      #expect(throws: TableError.inUse) { try stranger.core.flush() }
      stranger.core.resume(ObjectIdentifier(opening))
      try stranger.store(key(3), from: table)
    }
    // As after a kill: the owner finds what a file with a name has.
    try table.flush()
    #expect(table.present(1...3) == [1, 2, 3])
  }

  @Test("tells in a flush that a removal of its suspension waits, whatever the owner's file has")
  func tellsOfRemovals() throws {
    let stranger = try Stranger(fixture)
    try stranger.store(key(1), from: table)
    try stranger.core.suspend(ObjectIdentifier(opening))
    _ = try stranger.core.remove(key(1).entity)
    #expect(throws: TableError.inUse) { try stranger.core.flush() }
  }

  @Test("finds an image under its new id after the owner took it in, and when it owns the table")
  func keepsRenamed() throws {
    let (new, stranger) = (TableID("new"), try Stranger(fixture))
    let renamed = TableKey(entity: new, version: key(1).version)
    try stranger.store(key(1), from: table)
    _ = try stranger.core.writer.withLock {
      try $0.changeEntity(from: key(1).entity, to: new)
    }
    try stranger.core.suspend(ObjectIdentifier(opening))
    try table.flush()
    #expect(table.entry(for: renamed)?.shows(key(1)) == true)
    #expect(stranger.core.entry(for: renamed)?.shows(key(1)) == true)
    table.close()
    stranger.core.resume(ObjectIdentifier(opening))
    #expect(stranger.core.entry(for: renamed)?.shows(key(1)) == true)
  }

  @Test("loses no file to an opening that does not know the table")
  func survivesOthersFormats() throws {
    do {
      let stranger = try Stranger(fixture)
      try stranger.store(key(1), from: table)
    }
    _ = try TableDirectory(path: fixture.path).removeTables(except: [])
    try table.flush()
    #expect(table.present(1...1) == [1])
  }

  @Test("keeps its images when it removed more than a file remembers")
  func keepsImagesBesideRemovals() throws {
    do {
      let stranger = try Stranger(fixture)
      try stranger.store(key(1), from: table)
      for entity in 1000..<1600 { _ = try stranger.core.remove(key(entity).entity) }
    }
    try table.flush()
    #expect(table.present(1...1) == [1])
  }

  @Test("keeps its images though the owner removed as many, and though the power goes")
  func bringsImagesToTheDeviceFirst() throws {
    table.close()
    let plan = FaultPlan()
    let table = try fixture.open(system: plan.system)
    do {
      let stranger = try Stranger(fixture)
      try stranger.store(key(1), from: table)
      for entity in 1000..<1600 { _ = try stranger.core.remove(key(entity).entity) }
    }
    for entity in 2000..<2100 { _ = try table.remove(key(entity).entity) }
    plan.pass()
    try table.flush()
    #expect(table.present(1...1) == [1])
    // A log that forgets removals forbids the image where it came from.
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    let steps = zip(plan.calls, plan.offsets)
    let contents = steps.map { $0 == .write && $1 >= layout.slotOffset(0) }
    let log = RemovalLog.offset..<TableLayout.recordsOffset
    let logs = steps.map { $0 == .write && log.contains($1) }
    let lastContent = try #require(contents.lastIndex(of: true))
    let firstLog = try #require(logs.firstIndex(of: true))
    try #require(lastContent < firstLog)
    #expect(plan.calls[lastContent..<firstLog].contains(.synchronize))
  }
}
