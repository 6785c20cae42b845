import CMappedFiles
import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A table whose file is cut while it is open", .timeLimit(.wholeRun))
struct TruncationTests {
  let fixture: Fixture
  let layout: TableLayout

  init() throws {
    fixture = try Fixture()
    layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
  }

  /// A table with the images 1...5 in its first slots.
  private func filled() throws -> Table {
    let table = try fixture.open()
    for entity in 1...5 { try table.store(key(entity)) }
    return table
  }

  private func cut(to byteCount: Int) throws {
    try #require(truncate(try fixture.filePath(), off_t(byteCount)) == 0)
  }

  @Test("misses the lost images, and keeps the others and later ones")
  func mends() throws {
    let table = try filled()
    try cut(to: layout.slotOffset(2))
    try table.store(key(6))
    #expect(table.present(1...6) == [1, 2, 6])
    for entity in [1, 2, 6] { #expect(table.entry(for: key(entity))?.shows(key(entity)) == true) }
    #expect(table.statistics.isOwner)
    let reopened = try fixture.reopen(table)
    #expect(reopened.present(1...6) == [1, 2, 6])
    #expect(reopened.verify().isEmpty)
  }

  @Test("begins anew when nothing is left, an empty one too")
  func beginsAnew() throws {
    let table = try filled()
    try cut(to: 0)
    try table.store(key(6))
    #expect(table.present(1...6) == [6])
    try table.removeAll()
    try cut(to: 100)
    try table.store(key(7))
    table.close()
    #expect(try fixture.open().entry(for: key(7))?.shows(key(7)) == true)
  }

  @Test("leaves out a removed image whose record could not be erased", arguments: [false, true])
  func forgetsRemoved(isMended: Bool) throws {
    let plan = FaultPlan()
    let table = try fixture.open(system: plan.system)
    for entity in 1...5 { try table.store(key(entity)) }
    let sealed = try table.sealed(key(6))
    plan.fail(after: 0, only: [.write])
    #expect(throws: TableError.self) { try table.remove(key(1).entity) }
    plan.pass()
    try cut(to: layout.slotOffset(4))
    if !isMended { plan.fail(after: 0, only: [.rename]) }
    _ = try table.insert(sealed)
    #expect(table.statistics.isOwner == isMended)
    #expect(table.present(1...6) == [2, 3, 4, 6])
    #expect(table.entry(for: key(1)) == nil)
  }

  @Test("misses, at their first hit, images of an earlier session that are lost")
  func missesUnverified() throws {
    try filled().close()
    let table = try fixture.open()
    try cut(to: layout.slotOffset(2))
    #expect((1...5).filter { table.entry(for: key($0)) != nil } == [1, 2])
  }

  @Test("keeps leased images in the part that is left, without the lock of the old file")
  func keepsLeases() throws {
    let table = try filled()
    let held = try #require(table.entry(for: key(1)))
    let descriptor = FileDescriptor(open(try fixture.filePath(), O_RDWR))
    try cut(to: layout.slotOffset(2))
    for entity in 11...30 { try table.store(key(entity)) }
    #expect(held.shows(key(1)))
    #expect(try SystemCalls.live.lock(descriptor.value))
  }

  @Test("stores nothing where a hole would show, when no new file can be made")
  func givesUpOwning() throws {
    let plan = FaultPlan()
    let table = try fixture.open(system: plan.system)
    for entity in 1...5 { try table.store(key(entity)) }
    let sealed = try table.sealed(key(6))
    try cut(to: layout.slotOffset(2))
    plan.fail(after: 0, only: [.rename])
    _ = try table.insert(sealed)
    #expect(plan.failureCount > 0)
    #expect(table.entry(for: key(6))?.shows(key(6)) == true)
    for entity in 1...5 {
      if let entry = table.entry(for: key(entity)) { #expect(entry.shows(key(entity))) }
    }
    #expect(try fixture.bytes().count == layout.slotOffset(2))
  }

  @Test("is not mended in the place of another file that has taken its name")
  func leavesOtherFiles() throws {
    let table = try filled()
    let descriptor = FileDescriptor(open(try fixture.filePath(), O_RDWR))
    try FileManager.default.removeItem(atPath: fixture.filePath())
    let other = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "rows", layout: layout, system: .live)
    let owner = try TableCore(opener: other, opened: other.open())
    _ = try owner.insert(table.sealed(key(9)))
    try #require(ftruncate(descriptor.value, 1000) == 0)
    try table.store(key(6))
    #expect(!table.statistics.isOwner)
    #expect(table.entry(for: key(6))?.shows(key(6)) == true)
    #expect(table.entry(for: key(9))?.shows(key(9)) == true)
    #expect(owner.statistics.isOwner)
  }

  @Test("still ends the process that reads a lost page without a guard")
  func faults() async {
    await #expect(processExitsWith: .failure) {
      let (table, held, path) = try FaultGuardTests.tableOnDisplay()
      try #require(truncate(path, 0) == 0)
      let isSame = held.shows(key(1))
      withExtendedLifetime(table) { exit(isSame ? 1 : 0) }
    }
  }
}

@Suite("The fault guard", .timeLimit(.wholeRun))
struct FaultGuardTests {
  /// A table with one leased image, and the path of its file.
  fileprivate static func tableOnDisplay() throws -> (Table, TableEntry, String) {
    let path = NSTemporaryDirectory() + "fastimagecache-test-\(UUID().uuidString)"
    let fixture = Fixture(path: path)
    let table = try fixture.open()
    return (table, try table.store(key(1)), try fixture.filePath())
  }

  /// Touches a lost page of a mapping that belongs to no table.
  private static func touchForeignPage() throws -> UInt8 {
    let path = NSTemporaryDirectory() + "fastimagecache-test-\(UUID().uuidString)"
    let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
    unlink(path)
    try #require(ftruncate(descriptor, 4096) == 0)
    let base = try SystemCalls.live.map(descriptor, byteCount: 4096)
    try #require(ftruncate(descriptor, 0) == 0)
    return base.load(as: UInt8.self)
  }

  @Test("turns lost pages into zeros, and has the table mended")
  func survivesCuts() async {
    await #expect(processExitsWith: .exitCode(7)) {
      try FaultGuard.install()
      try FaultGuard.install()
      let (table, held, path) = try Self.tableOnDisplay()
      try #require(truncate(path, 0) == 0)
      let isDark = held.withPixels { $0.allSatisfy { $0 == 0 } }
      // The guard's own queue mends the table some time later.
      while table.contains(key(1)) { await Task.yield() }
      try table.store(key(2))
      let stores = table.entry(for: key(2))?.shows(key(2)) == true
      try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
      exit(isDark && stores && held.withPixels { $0[0] } == 0 ? 7 : 1)
    }
  }

  @Test("survives while several threads read lost pages")
  func survivesThreads() async {
    await #expect(processExitsWith: .exitCode(7)) {
      try FaultGuard.install()
      let (table, _, path) = try Self.tableOnDisplay()
      let held = try (2...6).map { try table.store(key($0)) }
      await withTaskGroup(of: Void.self) { group in
        for entry in held + held {
          group.addTask {
            for _ in 0..<200 { _ = entry.withPixels { $0.reduce(0) { $0 &+ Int($1) } } }
          }
        }
        group.addTask { _ = truncate(path, 0) }
      }
      let isDark = held.allSatisfy { $0.withPixels { $0.allSatisfy { $0 == 0 } } }
      try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent)
      exit(isDark ? 7 : 1)
    }
  }

  @Test("leaves faults outside of tables to the system")
  func leavesForeignFaults() async {
    await #expect(processExitsWith: .failure) {
      try FaultGuard.install()
      let byte = try Self.touchForeignPage()
      exit(byte == 0 ? 0 : 1)
    }
  }

  @Test("leaves them to the handler that was installed before")
  func chains() async {
    await #expect(processExitsWith: .exitCode(7)) {
      var action = sigaction()
      sigemptyset(&action.sa_mask)
      action.__sigaction_handler.sa_handler = { _ in _exit(7) }
      try #require(sigaction(SIGBUS, &action, nil) == 0)
      try FaultGuard.install()
      let byte = try Self.touchForeignPage()
      exit(byte == 0 ? 0 : 1)
    }
  }

  @Test("forgets a table that is gone")
  func forgets() throws {
    let fixture = try Fixture()
    // More tables than the guard has room for at a time.
    for _ in 0..<1100 {
      let table = try fixture.open()
      table.close()
    }
    let number = fic_guard_add(UnsafeRawPointer(bitPattern: 4096), 4096, 0)
    fic_guard_remove(number)
    #expect(number >= 0)
  }
}
