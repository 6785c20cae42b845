import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A record that is read when its entity is asked for", .timeLimit(.wholeRun))
struct RecordReadingTests {
  let fixture: Fixture
  let plan = FaultPlan()

  init() throws { fixture = try Fixture() }

  /// A full table of an earlier session.
  private func reopened(count: Int = 8) throws -> Table {
    let table = try fixture.open(slots: count)
    for entity in 1...count { try table.store(key(entity)) }
    let reopened = try fixture.reopen(table, slots: count, system: plan.system)
    #expect(reopened.statistics.unverifiedCount == count)
    return reopened
  }

  enum Use: CaseIterable { case look, store, remove }

  @Test("that is unreadable is a damaged image, replaced and removed", arguments: Use.allCases)
  func isUnreadable(use: Use) throws {
    var table = try reopened()
    plan.fail(after: 0, only: [.read])
    switch use {
    case .look: #expect(!table.contains(key(1)))
    case .store: try table.store(key(1, 2))
    case .remove:
      _ = try table.remove(key(1).entity)
      #expect(try !table.remove(key(9).entity))
    }
    plan.pass()
    if use == .look { #expect(table.statistics.damageCount == 1) }
    for turn in 1...2 {
      #expect(table.present(1...8) == Array(2...8))
      #expect(table.entry(for: key(1)) == nil)
      #expect((table.entry(for: key(1, 2))?.shows(key(1, 2)) == true) == (use == .store))
      if turn == 1 { table = try fixture.reopen(table) }
    }
  }

  @Test("is not read for an eviction")
  func evictsUnasked() throws {
    let table = try reopened(count: 130)
    plan.fail(after: 0, only: [.read])
    try table.store(key(131))
    #expect(plan.failureCount == 0)
    plan.pass()
    #expect(table.present(1...131) == Array(2...131))
    #expect(table.statistics.damageCount == 0)
  }

  @Test("is lost when it is gone", arguments: [false, true])
  func isLost(isCut: Bool) throws {
    let table = try reopened()
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    if isCut {
      let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.filePath()))
      try file.truncate(atOffset: UInt64(layout.slotsOffset))
      try file.close()
    } else {
      try overwriteRecord(2, layout)
    }
    let found = (1...8).filter { table.entry(for: key($0)) != nil }
    #expect(found == (isCut ? [] : [1, 2, 4, 5, 6, 7, 8]))
    #expect(table.statistics.damageCount == 8 - found.count)
    try table.store(key(9))
    #expect(table.present(1...9) == (isCut ? [9] : [1, 2, 4, 5, 6, 7, 8, 9]))
  }

  @Test("is found, and no other, in memory that another file has used")
  func isFoundOnUsedMemory() throws {
    let table = try fixture.open(slots: 200)
    for turn in 1...3 {
      for entity in 1...150 { try table.store(key(entity, turn)) }
      for entity in 1...150 { #expect(table.entry(for: key(entity, turn)) != nil) }
      // The file is let go, and opened again on slot states that had its images, or others.
      try table.suspend()
      table.resume()
      #expect(table.statistics.isOwner)
      #expect(table.statistics.unverifiedCount == 150)
      for entity in 1...150 {
        #expect(table.entry(for: key(entity, turn - 1)) == nil)
        #expect(table.entry(for: key(entity, turn))?.shows(key(entity, turn)) == true)
      }
      try table.removeAll()
      #expect(table.present(1...150) == [])
    }
  }

  @Test("is forgotten with its file")
  func isForgotten() throws {
    let table = try reopened(count: 70)
    // The second new file gets the memory of the first.
    for _ in 0..<2 { try table.removeAll() }
    #expect(table.statistics.unverifiedCount == 0)
    for entity in 1...71 { try table.store(key(entity)) }
    #expect(table.present(1...71) == Array(2...71))
  }

  @Test("leaves its slot to others when it is gone at the next opening")
  func isGone() throws {
    var table = try reopened()
    let held = try #require(table.entry(for: key(1)))
    table.close()
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    try overwriteRecord(3, layout)
    table = try fixture.open(slots: 8)
    #expect(table.statistics.leasedCount == 0)
    #expect(table.statistics.unverifiedCount == 7)
    try table.store(key(9))
    #expect(table.present(1...9) == [1, 2, 3, 5, 6, 7, 8, 9])
    #expect(held.shows(key(1)))
  }

  /// Zeros the record of a slot, past the table.
  private func overwriteRecord(_ slot: Int, _ layout: TableLayout) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: fixture.filePath()))
    try file.seek(toOffset: UInt64(layout.recordOffset(slot)))
    try file.write(contentsOf: Data(count: TableLayout.recordByteCount))
    try file.close()
  }

  @Test("is read at the opening where a crash left two of one entity, or the opening fails")
  func readsBothOfTwo() throws {
    var table = try fixture.open(system: plan.system)
    try table.store(key(1, 1))
    // Ends, like a killed process, before the older record is erased.
    plan.fail(after: 3, only: [.write])
    try table.store(key(1, 2))
    table.close()
    // The header, all records, and the first of the two once more.
    plan.fail(after: 2, count: 1, only: [.read])
    #expect(throws: TableError.self) { try fixture.open(system: plan.system) }
    #expect(plan.failureCount == 1)
    plan.pass()
    table = try fixture.open(system: plan.system)
    #expect(table.entry(for: key(1, 2))?.shows(key(1, 2)) == true)
    #expect(table.entry(for: key(1, 1)) == nil)
  }
}
