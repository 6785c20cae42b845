import Foundation
import TestSupport
import Testing

@testable import TableStore

@Suite("An index file", .timeLimit(.wholeRun))
struct IndexFileTests {
  let fixture: Fixture

  init() throws { fixture = try Fixture() }

  /// A full table, closed.
  private func fill(_ name: String = "rows", count: Int = 8) throws {
    let table = try fixture.open(name, slots: count)
    for entity in 1...count { try table.store(key(entity)) }
    table.close()
  }

  /// Whether an opening read the records, and the images that it finds.
  private func reopen(
    slots: Int = 8, system: SystemCalls? = nil
  ) throws -> (readsRecords: Bool, found: [Int]) {
    let plan = FaultPlan(keepsIndex: true)
    let table = try fixture.open(slots: slots, system: system ?? plan.system)
    let records = TableLayout.recordsOffset
    let readsRecords = zip(plan.calls, plan.offsets).contains { $0 == .read && $1 == records }
    var found: [Int] = []
    for entity in 1...30 {
      guard let entry = table.entry(for: key(entity)) else { continue }
      #expect(entry.shows(key(entity)))
      found.append(entity)
    }
    table.close()
    return (readsRecords, found)
  }

  private let all = Array(1...8)

  @Test("saves an opening the records, after a clean end and after a kill")
  func savesRecords() async throws {
    try fill()
    let clean = try reopen()
    #expect(!clean.readsRecords && clean.found == all)
    let path = fixture.path
    await #expect(processExitsWith: .failure) { [path = path as String] in
      let table = try Fixture(path: path).open()
      try table.store(key(9))
      _ = try table.remove(key(5).entity)
      kill(getpid(), SIGKILL)
    }
    let killed = try reopen()
    #expect(!killed.readsRecords && killed.found == [2, 3, 4, 6, 7, 8, 9])
  }

  @Test("of another start of the system does not count, and is made anew")
  func isOfOneStart() throws {
    try fill()
    let other = SystemCalls(observer: nil, bootID: BootID(naming: "other"))
    #expect(try reopen(system: other).found == all)
    // That one kept its own.
    let rebuilt = try reopen()
    #expect(rebuilt.readsRecords && rebuilt.found == all)
    #expect(try !reopen().readsRecords)
  }

  @Test("is not made where no start is known, files close when locked, or there is no room")
  func isNotMade() throws {
    let unknown = SystemCalls(observer: nil, bootID: nil)
    for system in [unknown, SystemCalls(volumeKind: .unsafeToMap)] {
      try fixture.open(system: system).store(key(1))
      #expect(try !FileManager.default.fileExists(atPath: fixture.indexPath()))
    }
    let protecting = SystemCalls(observer: nil, hasFileProtection: true)
    try fixture.open(protection: .complete, system: protecting).store(key(1))
    #expect(try !FileManager.default.fileExists(atPath: fixture.indexPath()))
    let plan = FaultPlan(code: ENOSPC, keepsIndex: true)
    plan.fail(after: 0, only: [.allocate])
    try fixture.open(system: plan.system).store(key(2))
    #expect(plan.failureCount == 1)
    #expect(try !FileManager.default.fileExists(atPath: fixture.indexPath()))
    #expect(try fixture.open().present(1...2) == [1, 2])
  }

  @Test("that can be neither used nor deleted fits no more")
  func isInvalidated() throws {
    try fill()
    let plan = FaultPlan(code: EACCES, keepsIndex: true)
    plan.fail(after: 0, only: [.allocate, .unlink])
    let table = try fixture.open(system: plan.system)
    try table.store(key(9))
    _ = try table.remove(key(5).entity)
    #expect(plan.failureCount >= 2)
    plan.pass()
    table.close()
    let again = try reopen()
    #expect(again.readsRecords && again.found == [2, 3, 4, 6, 7, 8, 9])
    #expect(try !reopen().readsRecords)
  }

  enum Damage: CaseIterable {
    case missing, empty, begun, cut, long, anothers, garbageHeader, zeros, openToOthers, link, pipe
  }

  @Test("gone, not whole or another's, costs the records and no image", arguments: Damage.allCases)
  func isReplaced(damage: Damage) throws {
    try fill()
    try fill("others")
    let path = try fixture.indexPath()
    var bytes = try fixture.indexBytes
    switch damage {
    case .missing: unlink(path)
    case .empty: try fixture.overwriteIndex(with: [])
    case .begun: try fixture.overwriteIndex(with: IndexIdentity.begunBytes)
    case .cut: try fixture.overwriteIndex(with: bytes.dropLast(4096))
    case .long: try fixture.overwriteIndex(with: bytes + [1])
    case .anothers:
      let others = try fixture.filePath("others") + "-index"
      try fixture.overwriteIndex(with: Array(Data(contentsOf: URL(fileURLWithPath: others))))
    case .garbageHeader:
      bytes[20] ^= 1
      try fixture.overwriteIndex(with: bytes)
    case .zeros: try fixture.overwriteIndex(with: [UInt8](repeating: 0, count: bytes.count))
    case .openToOthers: chmod(path, 0o644)
    case .link:
      try fixture.overwriteIndex(with: bytes)
      #expect(rename(path, path + "-target") == 0 && symlink(path + "-target", path) == 0)
    case .pipe:
      unlink(path)
      mkfifo(path, 0o600)
    }
    let first = try reopen()
    #expect(first.readsRecords && first.found == all)
    let second = try reopen()
    #expect(!second.readsRecords && second.found == all)
    unlink(path + "-target")
  }

  @Test("with holes gets blocks for them before it is used")
  func fillsHoles() throws {
    try fill(count: 4000)
    let bytes = try fixture.indexBytes
    // Overwritten by zeros and then made short and long again: no block is behind the first page.
    try fixture.overwriteIndex(with: Array(bytes.prefix(4096)))
    #expect(try truncate(fixture.indexPath(), off_t(bytes.count)) == 0)
    let plan = FaultPlan(code: ENOSPC, keepsIndex: true)
    plan.fail(after: 0, only: [.allocate])
    let full = try fixture.open(slots: 4000, system: plan.system)
    #expect(full.present(1...4000).count == 4000)
    plan.pass()
    full.close()
    #expect(try fixture.indexBytes.count == bytes.count)
    #expect(try reopen(slots: 4000).found == Array(1...30))
  }

  @Test("is rebuilt with a table file that is a copy of the one before")
  func knowsCopies() throws {
    try fill()
    let bytes = try fixture.bytes()
    let table = try fixture.open()
    for entity in 1...4 { _ = try table.remove(key(entity).entity) }
    table.close()
    try fixture.replaceFile(with: bytes)
    let restored = try reopen()
    #expect(restored.readsRecords && restored.found == all)
  }

  @Test("of an earlier moment shows no removed image, and no older one in place of a newer")
  func isOld() throws {
    try fill()
    let old = try fixture.indexBytes
    let table = try fixture.open()
    for entity in 1...3 { _ = try table.remove(key(entity).entity) }
    try table.store(key(4, 2))
    try table.store(key(20))
    table.close()
    let header = Array(try fixture.indexBytes.prefix(72))
    try fixture.overwriteIndex(with: header + old[72...])
    let plan = FaultPlan(keepsIndex: true)
    let again = try fixture.open(system: plan.system)
    #expect(
      !zip(plan.calls, plan.offsets).contains { $0 == .read && $1 == TableLayout.recordsOffset })
    for entity in 1...3 { #expect(!again.contains(key(entity).entity)) }
    #expect(again.entry(for: key(4)) == nil)
    for entity in 5...8 { #expect(again.entry(for: key(entity))?.shows(key(entity)) == true) }
    for entity in 1...30 where again.contains(key(entity)) {
      #expect(again.entry(for: key(entity))?.shows(key(entity)) == true)
    }
    for entity in 1...8 { try again.store(key(entity, 3)) }
    #expect(again.verify().isEmpty)
    for entity in 1...8 { #expect(again.entry(for: key(entity, 3))?.shows(key(entity, 3)) == true) }
  }

  @Test("of garbage behind the right header shows no wrong image, and none twice", arguments: 0..<4)
  func isGarbage(seed: UInt64) throws {
    var random = SplitMix64(state: seed)
    let (slots, entities, records) = (12, 24, TableLayout.recordsOffset)
    var usedCount = 0
    // Full, or with slots that were never used.
    let filled = try fixture.open(slots: slots)
    for entity in 1...(seed < 2 ? slots : 3) { try filled.store(key(entity)) }
    filled.close()
    for _ in 0..<60 {
      var bytes = try fixture.indexBytes
      // A few words, or all; bytes that are small numbers more often than others.
      for _ in 0..<[1, 8, 100, 4000][Int.random(in: 0..<4, using: &random)] {
        let place = Int.random(in: 96..<bytes.count, using: &random)
        let isSmall = Bool.random(using: &random)
        bytes[place] = UInt8.random(in: 0...(isSmall ? 13 : 255), using: &random)
      }
      try fixture.overwriteIndex(with: bytes)
      let plan = FaultPlan(keepsIndex: true)
      let table = try fixture.open(slots: slots, system: plan.system)
      if !zip(plan.calls, plan.offsets).contains(where: { $0 == .read && $1 == records }) {
        usedCount += 1
      }
      for _ in 0..<40 {
        let entity = Int.random(in: 1...entities, using: &random)
        let wanted = key(entity, Int.random(in: 1...2, using: &random))
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: #expect(try table.store(wanted).shows(wanted))
        case 3:
          _ = try table.remove(wanted.entity)
          #expect(!table.contains(wanted.entity))
        default:
          if let entry = table.entry(for: wanted) { #expect(entry.shows(wanted)) }
        }
      }
      #expect(table.statistics.liveCount <= slots)
      table.close()
    }
    #expect(usedCount > 40)
    // All that was lost comes to its end with the next start of the system.
    let other = SystemCalls(observer: nil, bootID: BootID(naming: "other"))
    let table = try fixture.open(slots: slots, system: other)
    #expect(table.verify().isEmpty)
    for entity in 1...entities {
      for version in 1...2 {
        if let entry = table.entry(for: key(entity, version)) {
          #expect(entry.shows(key(entity, version)))
        }
      }
    }
  }

  @Test("goes with its table, and is no table")
  func goesWithItsTable() throws {
    try fill()
    let directory = try TableDirectory(path: fixture.path)
    #expect(try directory.tables().count == 1)
    try fixture.open().close()
    #expect(try directory.removeTables(except: []) == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.path).isEmpty)
  }
}
