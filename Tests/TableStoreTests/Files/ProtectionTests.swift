import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("A table on a device that can be locked", .timeLimit(.wholeRun))
struct ProtectionTests {
  private let fixture: Fixture
  private let device = LockableDevice()
  private let isLocked = TableError.protectedDataUnavailable(name: "rows")

  init() throws { fixture = try Fixture() }

  private func open(
    slots: Int = 4, _ protection: FileProtection = .complete, _ system: SystemCalls? = nil
  ) throws -> Table {
    try fixture.open(slots: slots, protection: protection, system: system ?? device.system)
  }

  private func shows(_ entities: some Sequence<Int>, _ table: Table) -> [Int] {
    entities.filter { table.entry(for: key($0))?.shows(key($0)) == true }
  }

  @Test(
    "is never replaced for a refusal that passes",
    arguments: [SystemCall.Kind.open, .protect, .read], [EPERM, EACCES])
  func keepsFile(call: SystemCall.Kind, code: Int32) throws {
    let device = LockableDevice(refusing: [call])
    var table = try open(.complete, device.system)
    for entity in 1...3 { try table.store(key(entity)) }
    table.close()
    let bytes = try fixture.bytes()
    device.lock(with: code)
    #expect(throws: isLocked) { try open(.complete, device.system) }
    // Copying it to another capacity, which replaces the file, is no exception.
    #expect(throws: isLocked) { try open(slots: 8, .complete, device.system) }
    #expect(try fixture.bytes() == bytes)
    device.unlock()
    table = try open(.complete, device.system)
    #expect(shows(1...3, table) == [1, 2, 3])
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.path)
    #expect(files.count == 1)
  }

  @Test("is replaced by no copy that a lock cut short", arguments: [SystemCall.Kind.read, .write])
  func keepsFileHalfCopied(call refused: SystemCall.Kind) throws {
    var table = try open()
    for entity in 1...3 { try table.store(key(entity)) }
    table.close()
    let second = try TableLayout(geometry: Fixture.geometry, capacity: .slots(4)).slotOffset(1)
    let system = SystemCalls(
      observer: { call throws(SystemError) in
        if call.kind == refused, call.offset == second {
          throw SystemError(call: refused, code: EPERM)
        }
      }, hasFileProtection: true)
    #expect(throws: isLocked) { try open(slots: 8, .complete, system) }
    table = try open(slots: 8)
    #expect(shows(1...3, table) == [1, 2, 3])
  }

  @Test(
    "is replaced when it is another user's, or its mode closes it to us",
    .enabled(if: geteuid() == 0, "Only root gives away."), arguments: [true, false])
  func replacesForeign(isForeign: Bool) throws {
    var table = try open()
    try table.store(key(1))
    table.close()
    if isForeign {
      try #require(chown(try fixture.filePath(), 12_345, 12_345) == 0)
    } else {
      try #require(chmod(try fixture.filePath(), 0o200) == 0)
    }
    // The error for all users but root.
    let plan = FaultPlan(code: EACCES)
    plan.fail(after: 0, count: 1, only: [.open])
    table = try fixture.open(slots: 4, system: plan.system)
    #expect(plan.failureCount == 1)
    #expect(table.statistics.isOwner && !table.contains(key(1)))
    try table.store(key(2))
    table.close()
    #expect(shows(1...2, try open()) == [2])
  }

  @Test("is replaced where devices have no lock, for any refusal")
  func replacesClosed() throws {
    var table = try open()
    try table.store(key(1))
    table.close()
    let plan = FaultPlan(code: EACCES, hasFileProtection: false)
    plan.fail(after: 0, count: 1, only: [.open])
    table = try fixture.open(slots: 4, protection: .complete, system: plan.system)
    #expect(plan.failureCount == 1)
    #expect(table.statistics.isOwner && !table.contains(key(1)))
  }

  @Test("takes a refusal for damage where devices have no lock")
  func losesClosed() throws {
    let plan = FaultPlan(code: EACCES, hasFileProtection: false)
    var table = try fixture.open(slots: 4, system: plan.system)
    try table.store(key(1))
    table = try fixture.reopen(table, slots: 4, system: plan.system)
    #expect(table.contains(key(1)))
    plan.fail(after: 0, count: 1, only: [.read])
    #expect(shows([1], table) == [])
    #expect(table.statistics.damageCount == 1)
  }

  @Test("stays while it cannot be opened or read", arguments: [SystemCall.Kind.open, .read])
  func isNotDeleted(call: SystemCall.Kind) throws {
    let device = LockableDevice(refusing: [call])
    try open(.complete, device.system).store(key(1))
    let directory = try TableDirectory(path: fixture.path, system: device.system)
    device.lock()
    #expect(try directory.removeTables(except: []) == 0)
    device.unlock()
    #expect(shows([1], try open()) == [1])
  }

  @Test("is read by copies where its class is complete, and mapped otherwise")
  func isNotMapped() throws {
    for protection in [FileProtection.none, .complete, .untilFirstUnlock] {
      for system in [device.system, .live] {
        let table = try fixture.open("\(protection)", protection: protection, system: system)
        let isMapped = protection != .complete || !system.hasFileProtection
        #expect(try table.store(key(1)).isPrivate == !isMapped)
        #expect(table.entry(for: key(1))?.isPrivate == !isMapped)
        #expect((table.statistics.mappedByteCount > 0) == isMapped)
        table.close()
      }
    }
  }

  @Test("keeps its images when its class changes, also under leases")
  func changesClass() throws {
    var table = try open(.none)
    for entity in 1...3 { try table.store(key(entity)) }
    let held = table.entry(for: key(1))
    for protection in [FileProtection.complete, .none, .complete] {
      table.close()
      table = try open(protection)
      #expect(shows(1...3, table) == [1, 2, 3])
      try table.store(key(3))
    }
    #expect(table.statistics.mappedByteCount == 0)
    #expect(held?.shows(key(1)) == true)
  }

  @Test("gives each file its class before the first byte")
  func protectsFirst() throws {
    let witness = Witness()
    var table = try open(.complete, witness.system)
    #expect(witness.counts == [1, 1])
    try table.store(key(1))
    try table.removeAll()
    #expect(witness.counts == [2, 2])
    // A file that mending makes.
    try #require(truncate(try fixture.filePath(), 100) == 0)
    try table.store(key(1))
    #expect(witness.counts == [3, 3])
    // The private file of a suspended table, and its own file taken back.
    try table.suspend()
    #expect(witness.counts == [4, 4])
    try table.store(key(2))
    table.resume()
    #expect(witness.counts == [5, 4])
    // A file of another capacity, and the private file of another geometry of the same name.
    table.close()
    table = try open(slots: 8, .complete, witness.system)
    #expect(witness.counts == [7, 5])
    let other = TableGeometry(width: 8, height: 8, rowByteCount: 64, pixelFormat: 7)
    let privateTable = try fixture.open(
      geometry: other, protection: .complete, system: witness.system)
    #expect(witness.counts == [8, 6])
    #expect(shows(1...2, table) == [1, 2])
    privateTable.close()
  }
}

/// Sees that no call writes to an empty file before the file has its class.
private final class Witness: Sendable {
  private struct State {
    var protectedCount = 0
    var begunCount = 0
    /// Descriptors of files that are empty and have their class.
    var ready: Set<Int32> = []
  }

  private let state = Lock(State())

  /// The counts of classes given and of files begun.
  var counts: [Int] { state.withLock { [$0.protectedCount, $0.begunCount] } }

  var system: SystemCalls {
    SystemCalls(
      observer: { [self] call throws(SystemError) in
        guard [.protect, .write].contains(call.kind) else { return }
        let isEmpty = lseek(call.descriptor, 0, SEEK_END) == 0
        state.withLock { state in
          if call.kind == .protect {
            state.protectedCount += 1
            if isEmpty { state.ready.insert(call.descriptor) }
          } else if isEmpty {
            state.begunCount += 1
            #expect(state.ready.remove(call.descriptor) != nil)
          }
        }
      }, hasFileProtection: true)
  }
}
