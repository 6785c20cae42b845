import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A table whose system calls fail", .timeLimit(.wholeRun))
struct FaultTests {
  let fixture: Fixture
  let plan = FaultPlan()

  init() throws { fixture = try Fixture() }

  /// Uses a table as a program does, ignores errors, and checks each image.
  private func workload(_ fixture: Fixture, _ system: SystemCalls) {
    guard let table = try? fixture.open(slots: 4, system: system) else { return }
    for step in 0..<3 {
      for entity in 0..<6 {
        let sealed = try? table.sealed(key(entity, step))
        guard let sealed else { continue }
        let entry = (try? table.insert(sealed).entry) ?? TableEntry(keepingPrivate: sealed)
        #expect(entry.shows(key(entity, step)))
      }
      check(table, versions: 0...step)
      _ = try? table.remove(key(step).entity)
      #expect(!table.contains(key(step, step)))
      // Keys show which pixels they belong to, so the image comes back under its own.
      let (there, away) = (key(5, step), TableID("away"))
      _ = try? table.changeEntity(from: there.entity, to: away)
      let moved = table.entry(for: TableKey(entity: away, version: there.version))
      #expect(moved?.shows(there) != false)
      _ = try? table.changeEntity(from: away, to: there.entity)
    }
    _ = table.verify()
    try? table.flush()
    try? table.removeAll()
    if let sealed = try? table.sealed(key(7)) { _ = try? table.insert(sealed) }
    table.close()
  }

  private func check(_ table: Table, versions: ClosedRange<Int>) {
    for entity in 0..<8 {
      for version in versions {
        if let entry = table.entry(for: key(entity, version)) {
          #expect(entry.shows(key(entity, version)))
        }
      }
    }
  }

  /// Opens the table without faults, which must always work.
  private func checkAfterwards(_ fixture: Fixture) throws {
    let table = try fixture.open(slots: 4)
    #expect(table.statistics.isOwner)
    check(table, versions: 0...3)
    #expect(table.verify().isEmpty)
    try table.store(key(1, 9))
    #expect(table.entry(for: key(1, 9))?.shows(key(1, 9)) == true)
    table.close()
    #expect(try fixture.fileCount == 1)
  }

  @Test("shows no wrong image and opens again when calls fail", arguments: [1, 2, 3, Int.max])
  func survivesEveryFault(count: Int) throws {
    var failing = 0
    while true {
      let fixture = try Fixture()
      let plan = FaultPlan()
      plan.fail(after: failing, count: count)
      workload(fixture, plan.system)
      if plan.failureCount == 0 { break }
      try checkAfterwards(fixture)
      failing += Sanitizer.sweepStep
    }
    // Fewer would mean that the faults did not reach the stores.
    #expect(failing > 60)
  }

  @Test("reports a full disk as such, keeps the older image and stores again later")
  func reportsFullDisk() throws {
    let plan = FaultPlan(code: ENOSPC)
    let table = try fixture.open(system: plan.system)
    try table.store(key(1, 1))
    for write in 0..<3 {
      plan.fail(after: write, count: 1, only: [.write])
      let full = TableError.diskFull(
        SystemError(call: .write, code: ENOSPC), path: try fixture.filePath())
      #expect(throws: full) {
        try table.store(key(1, 2))
      }
      #expect(table.entry(for: key(1, 1))?.shows(key(1, 1)) == true)
      #expect(!table.contains(key(1, 2)))
      plan.pass()
      // Takes the slot, so that the next round gets one whose record is not known to be zeros.
      try table.store(key(3 + write))
    }
    try table.store(key(1, 2))
    #expect(table.entry(for: key(1, 2))?.shows(key(1, 2)) == true)
  }

  @Test("erases the record of an evicted image before its slot is written to")
  func erasesEvicted() throws {
    let table = try fixture.open(slots: 1, system: plan.system)
    for entity in 1...3 {
      let before = plan.calls.count { $0 == .write }
      try table.store(key(entity))
      #expect(plan.calls.count { $0 == .write } - before == 3)
    }
  }

  @Test("keeps an image stored where erasing had failed before", arguments: 1...3, 0...2)
  func keepsWhatFollowsFailures(count: Int, after: Int) throws {
    let table = try fixture.open(system: plan.system)
    plan.fail(after: after, count: count, only: [.write])
    _ = try? table.store(key(1))
    plan.pass()
    try table.store(key(1))
    try table.store(key(3))
    // Writes the zeros that are still due.
    _ = try table.remove(key(2).entity)
    let file = try #require(table.core.writer.withLock { $0.ownedFile })
    // The records that a new owner would find after a kill.
    let found = try file.slotReader.records().map(\.record.entity)
    #expect(Set(found) == [key(1).entity.digest, key(3).entity.digest])
    #expect(found.count == 2)
  }

  @Test("erases a slot whose erasure failed before it writes to the slot")
  func erasesBeforeWriting() throws {
    let table = try fixture.open(slots: 2, system: plan.system)
    for version in 1...2 { try table.store(key(1, version)) }
    // Content and record of the third are written; erasing the second fails.
    plan.fail(after: 2, count: 1, only: [.write])
    try table.store(key(1, 3))
    plan.pass()
    let before = plan.calls.count { $0 == .write }
    try table.store(key(1, 4))
    #expect(plan.calls.count { $0 == .write } - before == 4)
    #expect(table.entry(for: key(1, 4))?.shows(key(1, 4)) == true)
  }

  @Test("stops trying after three failures in a row, and tries again some stores later")
  func backsOff() throws {
    let table = try fixture.open(system: plan.system)
    plan.fail(after: 0, only: [.write])
    for _ in 0..<3 { #expect(throws: TableError.self) { try table.store(key(1)) } }
    plan.pass()
    var refusals = 0
    while !table.contains(key(1)) {
      do {
        try table.store(key(1))
      } catch TableError.paused(let left) {
        refusals += 1
        #expect(left == 16 - refusals)
      }
    }
    #expect(refusals == 16)
    #expect(plan.calls.count { $0 == .write } == 3)
  }

  @Test("does not bring back a removed image whose record could not be erased at first")
  func erasesLater() throws {
    var table = try fixture.open(system: plan.system)
    try table.store(key(1))
    try table.store(key(2))
    plan.fail(after: 0, only: [.write])
    #expect(throws: TableError.self) { try table.remove(key(1).entity) }
    #expect(!table.contains(key(1)))
    plan.pass()
    try table.flush()
    table = try fixture.reopen(table)
    #expect(table.present(1...2) == [2])
  }

  @Test("removes older versions too, whose records could not be erased when they were replaced")
  func erasesOlderVersions() throws {
    var table = try fixture.open(system: plan.system)
    try table.store(key(1, 1))
    plan.fail(after: 3, count: 1, only: [.write])
    try table.store(key(1, 2))
    plan.pass()
    #expect(try table.remove(key(1).entity))
    table = try fixture.reopen(table)
    #expect(!table.contains(key(1, 1)))
    #expect(!table.contains(key(1, 2)))
  }

  @Test("does not bring back a removed image that could not be read at its removal")
  func removesUnreadable() throws {
    try fixture.open().store(key(1))
    var table = try fixture.open(system: plan.system)
    plan.fail(after: 0, only: [.read])
    #expect(table.entry(for: key(1)) == nil)
    _ = try table.remove(key(1).entity)
    table.close()
    plan.pass()
    table = try fixture.open()
    #expect(!table.contains(key(1)))
    // A slot that was used again meanwhile has another image, which stays.
    try table.store(key(2))
    table = try fixture.reopen(table, slots: 8, system: plan.system)
    plan.fail(after: 0, only: [.read])
    #expect(table.entry(for: key(2)) == nil)
    plan.pass()
    for entity in 3..<11 { try table.store(key(entity)) }
    _ = try table.remove(key(2).entity)
    table = try fixture.reopen(table)
    #expect(table.present(1..<11) == Array(3..<11))
  }

  @Test("gives the reason when its folder takes no files", arguments: [EACCES, EROFS, EPERM])
  func refusesClosedFolders(code: Int32) throws {
    let plan = FaultPlan(code: code, hasFileProtection: false)
    plan.fail(after: 0, only: [.open])
    let refusal = TableError.system(
      SystemError(call: .open, code: code), path: try fixture.filePath())
    #expect(throws: refusal) { try fixture.open(system: plan.system) }
    #expect(
      refusal.description
        == "Cannot open \(try fixture.filePath()): \(String(cString: strerror(code))).")
    plan.pass()
    try fixture.open(system: plan.system).store(key(1))
  }

  @Test("removes nothing when the new file cannot be made")
  func keepsAllWhenEmptyingFails() throws {
    for call in [SystemCall.Kind.open, .write, .rename] {
      let plan = FaultPlan()
      let table = try fixture.open(system: plan.system)
      try table.store(key(1))
      plan.fail(after: 0, only: [call])
      #expect(throws: TableError.self) { try table.removeAll() }
      #expect(table.entry(for: key(1))?.shows(key(1)) == true)
      plan.pass()
      try table.removeAll()
      #expect(!table.contains(key(1)))
    }
  }

  @Test("reads by copying where the file cannot be mapped")
  func worksUnmapped() throws {
    plan.fail(after: 0, only: [.map])
    var table = try fixture.open(slots: 3, system: plan.system)
    for _ in 0..<2 {
      for entity in 1...5 {
        #expect(try table.store(key(entity), metadata: [UInt8(entity)]).shows(key(entity)))
      }
      let entry = try #require(table.entry(for: key(5)))
      #expect(entry.isPrivate)
      #expect(entry.shows(key(5)))
      #expect(entry.metadata == [5])
      #expect(table.entry(for: key(5))?.shows(key(5)) == true)
      #expect(table.statistics.leasedCount == 0)
      #expect(table.statistics.mappedByteCount == 0)
      table = try fixture.reopen(table, slots: 3, system: plan.system)
      #expect(table.entry(for: key(4))?.shows(key(4)) == true)
    }
  }
}
