import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A guest file", .timeLimit(.wholeRun))
struct GuestFileTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open()
  }

  /// Stores images as a process that is killed afterwards: it closes nothing, and its locks end.
  private func leave(_ keys: [TableKey], slots: Int = 8) throws {
    let stranger = try Stranger(fixture, slots: slots)
    for key in keys { try stranger.store(key, from: table) }
  }

  /// The keys that the table shows, each compared in full.
  private func shown(_ keys: [TableKey], in table: Table? = nil) -> [TableKey] {
    let table = table ?? self.table
    return keys.filter { key in
      guard let entry = table.entry(for: key) else { return false }
      #expect(entry.shows(key))
      return true
    }
  }

  // MARK: Taking in

  @Test("is taken in by the next process that opens the table, and deleted")
  func isTakenInByOpening() throws {
    try table.store(key(1))
    try leave([key(2), key(3)])
    try leave([key(4)])
    let reopened = try fixture.reopen(table)
    #expect(shown((1...4).map { key($0) }, in: reopened) == (1...4).map { key($0) })
    reopened.close()
    #expect(try fixture.fileCount == 1)
    let again = try fixture.open()
    #expect(shown((1...4).map { key($0) }, in: again).count == 4)
  }

  @Test("is taken in by the owner's flush and by its close", arguments: [false, true])
  func isTakenInByFlushing(isClosing: Bool) throws {
    try leave([key(2)])
    if isClosing {
      table.close()
      #expect(try fixture.fileCount == 1)
      #expect(shown([key(2)], in: try fixture.open()) == [key(2)])
    } else {
      try table.flush()
      #expect(shown([key(2)]) == [key(2)])
      #expect(try fixture.fileCount == 1)
    }
  }

  @Test("is taken in by another guest that becomes the owner")
  func isTakenInByTakingOver() throws {
    let stranger = try Stranger(fixture)
    try stranger.store(key(1), from: table)
    try leave([key(2)])
    let sealed = try table.sealed(key(3))
    table.close()
    _ = try stranger.core.insert(sealed)
    #expect(stranger.core.statistics.isOwner)
    #expect((1...3).allSatisfy { stranger.shows(key($0)) })
    try stranger.core.flush()
    #expect(try fixture.fileCount == 1)
  }

  @Test("stays with its process, mapped, while that lives")
  func staysWithItsProcess() throws {
    let stranger = try Stranger(fixture)
    try stranger.store(key(1), from: table)
    try table.flush()
    #expect(!table.contains(key(1)))
    #expect(stranger.shows(key(1)))
    #expect(stranger.core.entry(for: key(1))?.isPrivate == false)
    #expect(try fixture.fileCount == 2)
  }

  @Test("is gone with a process that stored nothing")
  func leavesNothing() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    #expect(stranger.shows(key(1)))
    stranger.core.close()
    #expect(try fixture.fileCount == 1)
  }

  @Test("has its images come as the latest used, in the order of their use")
  func comesLast() throws {
    for entity in 1...8 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture)
    for entity in 11...13 { try stranger.store(key(entity), from: table) }
    #expect(stranger.shows(key(11)))
    stranger.core.close()
    try table.flush()
    #expect(table.present(1...13) == Array(4...8) + Array(11...13))
    // The next three evict the rest of the owner's first, and then the guest's in its order.
    for entity in 21...26 { try table.store(key(entity)) }
    #expect(table.present(11...13) == [11, 13])
  }

  @Test("is taken in though its capacity is another one, and deleted if its geometry is")
  func ignoresOtherLayouts() throws {
    try leave([key(1)], slots: 3)
    try table.flush()
    #expect(table.present([1]) == [1])
    let name = TableDirectory.guestNames(for: try TableDirectory.fileName(for: "rows"))[0]
    let other = TableGeometry(width: 8, height: 4, rowByteCount: 64, pixelFormat: 7)
    try fixture.open("other", geometry: other).close()
    try FileManager.default.moveItem(
      atPath: fixture.filePath("other"), toPath: fixture.path + "/" + name)
    try table.flush()
    #expect(try fixture.fileCount == 1)
  }

  // MARK: The later change counts

  @Test(
    "brings back no image that was removed since, but one drawn later",
    arguments: [false, true])
  func respectsRemovals(isAll: Bool) throws {
    let stranger = try Stranger(fixture)
    for entity in 1...2 { try stranger.store(key(entity), from: table) }
    if isAll { try table.removeAll() } else { _ = try table.remove(key(1).entity) }
    try stranger.store(key(3), from: table)
    try leave([key(1, 2)])
    stranger.core.close()
    table.close()
    // Another session: the file remembers.
    let reopened = try fixture.open()
    #expect(reopened.present(1...3) == (isAll ? [3] : [2, 3]))
    #expect(shown([key(1, 2)], in: reopened) == [key(1, 2)])
  }

  @Test("replaces earlier versions only")
  func ordersVersions() throws {
    try table.store(key(1, 1))
    let stranger = try Stranger(fixture)
    try stranger.store(key(1, 2), from: table)
    try stranger.store(key(2, 1), from: table)
    try table.store(key(2, 2))
    stranger.core.close()
    try table.flush()
    let keys = [key(1, 1), key(1, 2), key(2, 1), key(2, 2)]
    #expect(shown(keys) == [key(1, 2), key(2, 2)])
  }

  @Test("of two the later image counts, whichever is taken in first", arguments: [0, 1])
  func ordersGuests(first: Int) throws {
    var strangers: [Stranger?] = [try Stranger(fixture), try Stranger(fixture)]
    try strangers[0]?.store(key(1, 1), from: table)
    try strangers[1]?.store(key(1, 2), from: table)
    for index in [first, 1 - first] {
      strangers[index] = nil
      try table.flush()
    }
    #expect(shown([key(1, 1), key(1, 2)]) == [key(1, 2)])
  }

  @Test("brings its process's removals along", arguments: [false, true])
  func bringsRemovals(isAll: Bool) throws {
    for entity in 1...2 { try table.store(key(entity)) }
    do {
      let stranger = try Stranger(fixture)
      if isAll {
        try stranger.core.removeAll()
      } else {
        #expect(try stranger.core.remove(key(1).entity))
      }
      try stranger.store(key(3), from: table)
    }
    try table.store(key(4))
    #expect(table.present(1...4) == [1, 2, 4])
    try table.flush()
    #expect(table.present(1...4) == (isAll ? [3, 4] : [2, 3, 4]))
    table.close()
    #expect(try fixture.open().present(1...4) == (isAll ? [3, 4] : [2, 3, 4]))
  }

  @Test("is no way back for an image that another guest removed")
  func hidesTakenIn() throws {
    var third: Stranger? = try Stranger(fixture)
    try third?.store(key(1), from: table)
    let stranger = try Stranger(fixture)
    #expect(try !stranger.core.remove(key(1).entity))
    third = nil
    try table.flush()
    #expect(table.present([1]) == [1])
    #expect(!stranger.shows(key(1)))
    stranger.core.close()
    try table.flush()
    #expect(table.present([1]) == [])
  }

  @Test("hands removals on, so that they hold against a third process's earlier images")
  func handsRemovalsOn() throws {
    var third: Stranger? = try Stranger(fixture)
    try third?.store(key(1), from: table)
    do {
      let stranger = try Stranger(fixture)
      #expect(try !stranger.core.remove(key(1).entity))
    }
    try table.flush()
    third = nil
    try table.flush()
    #expect(table.present([1]) == [])
  }

  @Test("respects removals through a new capacity and a mended file", arguments: [false, true])
  func keepsRemovalsInCopies(isCut: Bool) throws {
    for entity in 1...4 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture)
    try stranger.store(key(5), from: table)
    _ = try table.remove(key(5).entity)
    if isCut {
      let size = try fixture.bytes().count
      try #require(truncate(fixture.filePath(), off_t(size - 100)) == 0)
      try table.store(key(6))
      table.close()
    } else {
      table.close()
      try fixture.open(slots: 9).close()
    }
    stranger.core.close()
    #expect(try fixture.open(slots: isCut ? 8 : 9).present([5]) == [])
  }

  // MARK: Names

  @Test("has one of eight names; a ninth guest's images are lost unless it becomes the owner")
  func isBounded() throws {
    let strangers = try (0..<9).map { _ in try Stranger(fixture) }
    #expect(try fixture.fileCount == 9)
    for (number, stranger) in strangers.enumerated() {
      try stranger.store(key(number), from: table)
    }
    try strangers[7].core.flush()
    #expect(throws: TableError.inUse) { try strangers[8].core.flush() }
    for stranger in strangers { stranger.core.close() }
    try table.flush()
    #expect(table.present(0...8) == Array(0...7))
  }

  @Test("that was left is used again when there are no more names, without what was removed since")
  func isAdopted() throws {
    for number in 0..<8 { try leave([key(number)]) }
    _ = try table.remove(key(0).entity)
    try table.store(key(1, 2))
    let strangers = try (0..<8).map { _ in try Stranger(fixture) }
    #expect(strangers.map { !$0.shows(key(0)) }.allSatisfy { $0 })
    #expect(strangers.count { $0.shows(key(1)) } == 0)
    #expect(strangers.allSatisfy { $0.shows(key(1, 2)) })
    #expect((2...7).allSatisfy { number in strangers.count { $0.shows(key(number)) } == 1 })
    for stranger in strangers { stranger.core.close() }
    try table.flush()
    #expect(table.present(0...7) == Array(2...7))
    #expect(shown([key(1, 2)]) == [key(1, 2)])
  }

  @Test("goes with its table when that is not listed any more")
  func isRemovedWithItsTable() throws {
    try leave([key(1)])
    table.close()
    let directory = try TableDirectory(path: fixture.path)
    try leaveGuest(of: "other")
    #expect(try fixture.fileCount == 3)
    #expect(try directory.removeTables(except: ["rows"]) == 1)
    #expect(try fixture.fileCount == 1)
  }

  /// Leaves a table with a guest file beside it.
  private func leaveGuest(of name: String) throws {
    let owner = try fixture.open(name)
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: name,
      layout: TableLayout(geometry: Fixture.geometry, capacity: .slots(8)), system: .live)
    let guest = try TableCore(opener: opener, opened: opener.open())
    _ = try guest.insert(owner.sealed(key(1)))
    withExtendedLifetime(guest) { owner.close() }
  }

  // MARK: Failures

  @Test("stays until what it had is on the disk and the device", arguments: [true, false])
  func survivesFailures(isFull: Bool) throws {
    table.close()
    let plan = FaultPlan(code: isFull ? ENOSPC : EIO)
    let table = try fixture.open(system: plan.system)
    let stranger = try Stranger(fixture)
    for entity in 1...3 { try stranger.store(key(entity), from: table) }
    stranger.core.close()
    plan.fail(after: isFull ? 3 : 0, only: [isFull ? .write : .synchronize])
    if isFull {
      try? table.flush()
    } else {
      #expect(throws: TableError.self) { try table.flush() }
    }
    #expect(plan.failureCount > 0)
    plan.pass()
    #expect(try fixture.fileCount == 2)
    try table.flush()
    #expect(shown((1...3).map { key($0) }, in: table).count == 3)
    #expect(try fixture.fileCount == 1)
  }

  @Test("is not taken into a table file that has lost its name")
  func avoidsLostFiles() throws {
    try leave([key(1)])
    try FileManager.default.removeItem(atPath: fixture.filePath())
    try table.flush()
    #expect(try fixture.fileCount == 1)
    let stranger = try Stranger(fixture)
    #expect(stranger.core.statistics.isOwner)
    #expect(stranger.shows(key(1)))
    stranger.core.close()
  }

  // MARK: Suspension and forks

  @Test("is let go by a suspension, and taken back or taken in", arguments: [false, true])
  func isLetGo(isTakenIn: Bool) throws {
    let stranger = try Stranger(fixture)
    let opening = NSObject()
    for entity in [1, 3] { try stranger.store(key(entity), from: table) }
    let held = try #require(stranger.core.entry(for: key(1)))
    try stranger.core.suspend(ObjectIdentifier(opening))
    try stranger.store(key(2), from: table)
    // In a file that the process let go: a miss, which must not come back.
    #expect(try stranger.core.remove(key(3).entity) == false)
    if isTakenIn {
      try table.flush()
      #expect(table.present(1...3) == [1, 3])
    }
    stranger.core.resume(ObjectIdentifier(opening))
    #expect((1...3).filter { stranger.shows(key($0)) } == [1, 2])
    #expect(held.shows(key(1)))
    stranger.core.close()
    try table.flush()
    #expect(table.present(1...3) == [1, 2])
  }

  @Test("is taken in from a child of fork(2), too")
  func isTakenFromChildren() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try Fixture()
      let table = try fixture.open()
      try table.store(key(1))
      let sealed = try (2...3).map { try table.sealed(key($0)) }
      let code = exitCodeOfFork {
        for image in sealed { _ = try table.insert(image) }
        return table.statistics.isOwner ? 1 : 7
      }
      guard code == 7, table.present(1...3) == [1] else { exit(3) }
      try table.flush()
      exit(table.present(1...3) == [1, 2, 3] ? 7 : 4)
    }
  }
}

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
