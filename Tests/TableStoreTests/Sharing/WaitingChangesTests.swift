import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A change that waits for the file's owner to go", .timeLimit(.wholeRun))
struct WaitingChangesTests {
  let fixture: Fixture
  let table: Table
  let plan = FaultPlan()

  init() throws {
    fixture = try Fixture()
    table = try fixture.open(system: plan.system)
  }

  /// Stores two images, and removes the first of them while the table is suspended.
  private func removeFirstWhileSuspended() throws {
    for entity in 1...2 { try table.store(key(entity)) }
    try table.suspend()
    #expect(try table.remove(key(1).entity))
  }

  @Test("is done by closing, at the latest", arguments: [false, true])
  func isDoneByClosing(isAll: Bool) throws {
    for entity in 1...2 { try table.store(key(entity)) }
    try table.suspend()
    if isAll { try table.removeAll() } else { #expect(try table.remove(key(1).entity)) }
    try table.store(key(3))
    table.close()
    #expect(try fixture.open().present(1...3) == (isAll ? [3] : [2, 3]))
  }

  @Test("is done by flushing a suspended table, which has no owner afterwards")
  func isDoneByFlushing() throws {
    for entity in 1...2 { try table.store(key(entity)) }
    let held = try #require(table.entry(for: key(2)))
    try table.suspend()
    #expect(try table.remove(key(1).entity))
    try table.store(key(3))
    try table.flush()
    #expect(!table.statistics.isOwner)
    #expect(table.present(1...3) == [2, 3])
    let other = try Stranger(fixture)
    #expect(other.core.statistics.isOwner)
    #expect((1...3).filter { other.shows(key($0)) } == [2, 3])
    #expect(held.shows(key(2)))
  }

  @Test("leaves the file unowned after the next flush or suspension", arguments: [false, true])
  func isLetGoLater(bySuspending: Bool) throws {
    try removeFirstWhileSuspended()
    // The first opens the file to own it, the second to read it afterwards.
    plan.fail(after: 1, count: 1, only: [.open])
    #expect(throws: TableError.self) { try table.flush() }
    #expect(plan.failureCount == 1)
    plan.pass()
    if bySuspending { try table.suspend() } else { try table.flush() }
    #expect(!table.statistics.isOwner)
    let other = try Stranger(fixture)
    #expect(other.core.statistics.isOwner)
    #expect((1...2).filter { other.shows(key($0)) } == [2])
  }

  @Test("still waits when the file could not be read")
  func isNotForgotten() throws {
    try removeFirstWhileSuspended()
    // The header is read to own the file, and then the records.
    plan.fail(after: 1, count: 1, only: [.read])
    let reason = TableError.system(
      SystemError(call: .read, code: EIO), path: try fixture.filePath())
    #expect(throws: reason) { try table.flush() }
    #expect(plan.failureCount == 1)
    plan.pass()
    #expect(table.present(1...2) == [2])
    try table.flush()
    let other = try Stranger(fixture)
    #expect((1...2).filter { other.shows(key($0)) } == [2])
  }

  @Test("is an error of the flush that lost it")
  func isLost() throws {
    try table.suspend()
    try table.store(key(3))
    plan.fail(after: 0, count: 1, only: [.write])
    #expect(throws: TableError.self) { try table.flush() }
    #expect(plan.failureCount == 1)
    plan.pass()
    try table.flush()
    #expect(table.present([3]) == [])
  }

  @Test("is an error of the flush that found it damaged", arguments: [false, true])
  func isDamaged(isRecord: Bool) throws {
    let stranger = try Stranger(fixture)
    for entity in 1...2 { try stranger.store(key(entity), from: table) }
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    let names = TableDirectory.guestNames(for: try TableDirectory.fileName(for: "rows"))
    let file = try #require(FileHandle(forUpdatingAtPath: fixture.path + "/" + names[0]))
    try file.seek(toOffset: UInt64(isRecord ? layout.recordOffset(0) : layout.slotOffset(0)))
    try file.write(contentsOf: Data(repeating: 1, count: 8))
    try file.close()
    table.close()
    #expect(throws: TableError.self) { try stranger.core.flush() }
    try stranger.core.flush()
    #expect((1...2).filter { stranger.shows(key($0)) } == [2])
  }

  @Test("is on the device after a flush, as are the images stored before a suspension")
  func isSynchronized() throws {
    plan.pass()
    try table.store(key(1))
    try table.suspend()
    try table.flush()
    #expect(plan.calls.contains(.synchronize))
    #expect(try table.remove(key(1).entity))
    plan.fail(after: 0, count: 1, only: [.synchronize])
    #expect(throws: TableError.self) { try table.flush() }
    plan.pass()
    try table.flush()
    #expect(plan.calls.contains(.synchronize))
    #expect(!table.statistics.isOwner)
  }

  @Test("is none where there is no image to remove")
  func isNothing() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    #expect(try !stranger.core.remove(key(9).entity))
    try stranger.core.flush()
    try stranger.store(key(2), from: table)
    _ = try stranger.core.remove(key(2).entity)
    try stranger.core.flush()
  }

  @Test("buries a removed image though the owner puts a new file there meanwhile")
  func buriesInNewFile() throws {
    try table.store(key(1))
    let table = table
    let fixture = fixture
    let successor = Lock<Table?>(nil)
    // Between reading the old file's records and asking if the file is still the table's.
    let awaited = Lock<SystemCall.Kind?>(nil)
    let system = SystemCalls { call throws(SystemError) in
      let isNow = awaited.withLock { awaited in
        guard awaited == call.kind else { return false }
        awaited = call.kind == .read ? .status : nil
        return call.kind == .status
      }
      guard isNow else { return }
      table.close()
      successor.withLock { $0 = try? fixture.open(slots: 9) }
    }
    let stranger = try Stranger(fixture, system: system)
    awaited.withLock { $0 = .read }
    #expect(try stranger.core.remove(key(1).entity))
    #expect(successor.withLock { $0?.present([1]) } == [1])
    #expect(stranger.core.entry(for: key(1)) == nil)
  }

  @Test("erases older records of a removed image, too")
  func erasesOlder() throws {
    try table.store(key(1))
    plan.fail(after: 3, only: [.write])
    try table.store(key(1, 2))
    plan.pass()
    let stranger = try Stranger(fixture)
    #expect(try stranger.core.remove(key(1).entity))
    let sealed = try table.sealed(key(2))
    // The file as a kill would leave it now.
    let bytes = try fixture.bytes()
    table.close()
    try fixture.replaceFile(with: bytes)
    _ = try stranger.core.insert(sealed)
    #expect(stranger.core.statistics.isOwner)
    let left = try Fixture()
    try left.replaceFile(with: try fixture.bytes())
    let next = try left.open()
    #expect((1...2).allSatisfy { next.entry(for: key(1, $0)) == nil })
    #expect(next.entry(for: key(2))?.shows(key(2)) == true)
  }

  @Test("is not done while another process finds what was removed", arguments: [[1], [2], [1, 2]])
  func isNotFlushed(changes: [Int]) throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    try stranger.core.flush()
    if changes.contains(1) { #expect(try stranger.core.remove(key(1).entity)) }
    if changes.contains(2) { try stranger.store(key(2), from: table) }
    if changes.contains(1) {
      #expect(throws: TableError.inUse) { try stranger.core.flush() }
    } else {
      // The image is in the guest file, and that is on the device.
      try stranger.core.flush()
    }
    table.close()
    try stranger.core.flush()
    #expect(stranger.core.statistics.isOwner)
    stranger.core.close()
    #expect(
      try fixture.open().present(1...2) == (changes == [2] ? [1, 2] : changes.filter { $0 == 2 }))
  }

  @Test("buries no image that was stored later, though the clock stands before the generations")
  func buriesOlderOnlyWithAnEarlyClock() throws {
    try table.store(key(1))
    table.close()
    var bytes = try fixture.bytes()
    let header = try #require(TableHeader(reading: Array(bytes.prefix(512))))
    let (layout, address) = (header.layout, SlotAddress(nonce: header.nonce, slot: 0))
    let content = Array(bytes[layout.slotOffset(0)...].prefix(layout.contentByteCount))
    let late = SlotRecord(
      entity: key(1).entity.digest, version: key(1).version.digest, generation: 1 << 60,
      contentHash: content.withUnsafeBytes { SlotContent.hash(of: $0) }, recency: 1, at: address)
    bytes.replaceSubrange(
      layout.recordOffset(0)..<layout.recordOffset(1), with: late.bytes(at: address))
    try fixture.replaceFile(with: bytes)
    let next = try fixture.open()
    let stranger = try Stranger(fixture)
    #expect(try stranger.core.remove(key(1).entity))
    try next.removeAll()
    try next.store(key(1))
    #expect(stranger.shows(key(1)))
  }

  @Test("buries no image that was stored later, in a new file or a new session either")
  func buriesOlderOnly() throws {
    for entity in 1...3 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture)
    try stranger.core.removeAll()
    #expect(try !stranger.core.remove(key(4).entity))
    try table.removeAll()
    try table.store(key(1))
    #expect(stranger.shows(key(1)))
    table.close()
    do {
      let next = try fixture.open()
      try next.removeAll()
      try next.store(key(4))
      #expect(stranger.shows(key(4)))
      next.close()
    }
    try stranger.store(key(5), from: table)
    #expect(stranger.core.statistics.isOwner)
    #expect(stranger.shows(key(4)))
  }

  @Test("is an error, no removal, where the owner's file cannot be read", arguments: [false, true])
  func failsToHide(isAll: Bool) throws {
    for entity in 1...2 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture, system: plan.system)
    #expect(try stranger.core.remove(key(2).entity))
    plan.fail(after: 0, only: [.read])
    #expect(throws: TableError.self) {
      if isAll {
        try stranger.core.removeAll()
      } else {
        _ = try stranger.core.remove(key(1).entity)
      }
    }
    #expect(plan.failureCount > 0)
    plan.pass()
    #expect(stranger.shows(key(1)))
    #expect(!stranger.shows(key(2)))
  }

  @Test("is not forgotten by a suspension that could not look at the file")
  func failsToSuspend() throws {
    try table.store(key(1))
    plan.fail(after: 0, only: [.open])
    #expect(throws: TableError.self) { try table.suspend() }
    plan.pass()
    #expect(table.statistics.isOwner)
    try table.suspend()
    try table.removeAll()
    table.resume()
    #expect(table.present([1]) == [])
  }

  @Test("is not made by a file that other users may write to")
  func distrustsPublicFiles() throws {
    try table.store(key(1))
    let path = try fixture.filePath()
    try #require(chmod(path, 0o666) == 0)
    let stranger = try Stranger(fixture)
    #expect(!stranger.core.statistics.isOwner)
    #expect(stranger.core.entry(for: key(1)) == nil)
  }

  @Test("lets a child of fork(2) own a closed file whose images its parent shows")
  func staysTheParents() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try Fixture()
      let table = try fixture.open(slots: 2)
      let held = try (1...2).map { try table.store(key($0)) }
      table.close()
      let code = exitCodeOfFork {
        let table = try Fixture(path: fixture.path).open(slots: 2)
        for entity in 3...6 { try table.store(key(entity)) }
        return table.statistics.isOwner ? 7 : 1
      }
      guard code == 7 else { exit(3) }
      exit(zip(1..., held).allSatisfy { $1.shows(key($0)) } ? 7 : 4)
    }
  }
}
