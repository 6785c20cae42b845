import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("A suspended table", .timeLimit(.wholeRun))
struct SuspensionTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open(slots: 3)
  }

  /// Opens the file past the registry, as another process does; `nil` when the file is locked.
  private func owner() throws -> TableCore? {
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "rows",
      layout: TableLayout(geometry: Fixture.geometry, capacity: .slots(3)), system: .live)
    return try opener.open().map { try TableCore(opener: opener, opened: $0) }
  }

  @Test("keeps leased images as they are while another process writes every slot")
  func detachesLeases() throws {
    let held = try (1...2).map { try table.store(key($0)) }
    try table.store(key(3))
    let sealed = try (4...9).map { try table.sealed(key($0)) }
    try table.suspend()
    let other = try #require(try owner())
    for image in sealed { _ = try other.insert(image) }
    #expect((7...9).allSatisfy { other.entry(for: key($0))?.shows(key($0)) == true })
    for (number, entry) in zip(1..., held) {
      #expect(entry.shows(key(number)))
      #expect(!entry.isPrivate)
    }
  }

  @Test("still finds its images, and those that another process stores")
  func readsByCopy() throws {
    try table.store(key(1))
    let sealed = try table.sealed(key(2))
    try table.suspend()
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    #expect(table.entry(for: key(1))?.isPrivate == true)
    let other = try #require(try owner())
    _ = try other.insert(sealed)
    #expect(table.entry(for: key(2))?.shows(key(2)) == true)
  }

  @Test("does not show again an image removed before or during the suspension")
  func removes() throws {
    for entity in 1...3 { try table.store(key(entity)) }
    _ = try table.remove(key(1).entity)
    try table.suspend()
    _ = try table.remove(key(2).entity)
    #expect(table.present(1...3) == [3])
    table.resume()
    #expect(table.present(1...3) == [3])
    table.close()
    #expect(try fixture.open(slots: 3).present(1...3) == [3])
  }

  @Test("stays with another owner until that is gone")
  func waitsForOwner() throws {
    try table.suspend()
    var other = try owner()
    table.resume()
    #expect(!table.statistics.isOwner)
    try table.store(key(1))
    #expect(!table.statistics.isOwner)
    _ = other?.close()
    other = nil
    try table.store(key(2))
    #expect(table.statistics.isOwner)
    #expect(table.present(1...2) == [1, 2])
  }

  @Test("is suspended for all openings of the process, until the last of them resumes")
  func countsOpenings() throws {
    let second = try fixture.open(slots: 3)
    try table.suspend()
    try second.suspend()
    #expect(try owner() != nil)
    table.resume()
    #expect(try owner() != nil)
    second.close()
    try table.store(key(1))
    #expect(table.statistics.isOwner)
  }

  @Test("writes the order of use before it lets go")
  func writesRecency() throws {
    for entity in 1...3 { try table.store(key(entity)) }
    _ = table.entry(for: key(1))
    let sealed = try table.sealed(key(4))
    try table.suspend()
    let other = try #require(try owner())
    _ = try other.insert(sealed)
    #expect((1...4).filter { other.contains(key($0)) } == [1, 3, 4])
  }

  @Test("goes on as before when pending changes cannot be written")
  func keepsOwningAfterFailure() throws {
    let plan = FaultPlan()
    let table = try fixture.open("other", slots: 3, system: plan.system)
    try table.store(key(1))
    _ = table.entry(for: key(1))
    plan.fail(after: 0, only: [.write])
    #expect(throws: TableError.self) { try table.suspend() }
    plan.pass()
    #expect(table.statistics.isOwner)
    try table.suspend()
    #expect(!table.statistics.isOwner)
    table.resume()
    #expect(table.statistics.isOwner)
  }

  @Test("keeps its lock when leased images cannot be copied")
  func keepsLockAfterFailedCopy() throws {
    let plan = FaultPlan()
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "other",
      layout: TableLayout(geometry: Fixture.geometry, capacity: .slots(3)), system: plan.system)
    let core = try TableCore(opener: opener, opened: opener.open())
    let opening = NSObject()
    var held: TableEntry? = try core.insert(table.sealed(key(1))).entry
    // The second mapping is that of the copies; the first is the private file's.
    plan.fail(after: 2, only: [.map])
    #expect(throws: TableError.self) { try core.suspend(ObjectIdentifier(opening)) }
    #expect(plan.failureCount > 0)
    plan.pass()
    #expect(try opener.open() == nil)
    #expect(held?.shows(key(1)) == true)
    held = nil
    core.resume(ObjectIdentifier(opening))
    #expect(core.statistics.isOwner)
    #expect(core.entry(for: key(1))?.shows(key(1)) == true)
  }

  @Test("leaves no lock on a file that was emptied under a lease")
  func unlocksReplacedFiles() throws {
    let held = try table.store(key(1))
    let descriptor = FileDescriptor(open(try fixture.filePath(), O_RDWR))
    #expect(try !SystemCalls.live.lock(descriptor.value))
    try table.removeAll()
    #expect(try SystemCalls.live.lock(descriptor.value))
    #expect(held.shows(key(1)))
  }

  @Test("shows no wrong image while it is suspended and resumed again and again")
  func toleratesReaders() async throws {
    let table = table
    for entity in 1...3 { try table.store(key(entity)) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for _ in 0..<60 {
          try table.suspend()
          table.resume()
        }
      }
      for reader in 0..<2 {
        group.addTask {
          for round in 0..<400 {
            let key = key(1 + (round + reader) % 3)
            if let entry = table.entry(for: key) { #expect(entry.shows(key)) }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(table.statistics.isOwner)
  }

  @Test("is taken over by another process, which keeps its lock and its images")
  func letsAnotherProcessOwn() async throws {
    let held = try table.store(key(1))
    try table.suspend()
    let path = fixture.path
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      let table = try Fixture(path: path).open(slots: 3)
      let isOwner = table.statistics.isOwner
      let reads = table.entry(for: key(1))?.shows(key(1)) == true
      for entity in 2...4 { try table.store(key(entity)) }
      exit(isOwner && reads ? 7 : 1)
    }
    #expect(held.shows(key(1)))
    table.resume()
    #expect(table.statistics.isOwner)
    #expect(table.present(1...4) == [2, 3, 4])
    for entity in 2...4 { #expect(table.entry(for: key(entity))?.shows(key(entity)) == true) }
  }
}
