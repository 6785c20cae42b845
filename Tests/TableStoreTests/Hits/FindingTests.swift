import TestSupport
import Testing

@testable import TableStore

@Suite("A look that reads no slot", .timeLimit(.wholeRun))
struct FindingTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private enum Found: Equatable {
    case verified
    case unverified(isInMemory: Bool)
    case missing
  }

  private func find(_ key: TableKey, in table: Table) -> Found {
    switch table.find(key) {
    case .verified(let entry):
      #expect(entry.shows(key))
      return .verified
    case .unverified(let isInMemory): return .unverified(isInMemory: isInMemory)
    case .missing: return .missing
    }
  }

  @Test("tells images that were verified from those of an earlier session, and takes no lease")
  func tellsVerified() throws {
    let table = try fixture.open()
    for entity in 1...2 { try table.store(key(entity)) }
    #expect(find(key(1), in: table) == .verified && find(key(1, 2), in: table) == .missing)
    table.close()
    let reads = Counter()
    let reopened = try fixture.open(
      system: SystemCalls(observer: { call throws(SystemError) in
        if call.kind == .read { reads.increment() }
      }))
    let atOpening = reads.value
    // Its file was written a moment before.
    #expect(find(key(1), in: reopened) == .unverified(isInMemory: true))
    #expect(find(key(1, 2), in: reopened) == .missing && find(key(3), in: reopened) == .missing)
    // The record.
    #expect(reads.value <= atOpening + 1)
    #expect(reopened.statistics.leasedCount == 0 && reopened.statistics.hitCount == 0)
    #expect(reopened.entry(for: key(1))?.shows(key(1)) == true)
    #expect(find(key(1), in: reopened) == .verified)
    #expect(find(key(2), in: reopened) == .unverified(isInMemory: true))
    #expect(reopened.statistics.hitCount == 2)
    reopened.close()
    #expect(find(key(1), in: reopened) == .missing)
  }

  @Test("finds a damaged image where those are shown, and no stale one")
  func findsDamaged() throws {
    let table = try fixture.open(showsDamaged: true)
    try table.store(key(1).damaged)
    try table.store(key(2))
    guard case .verified(let entry) = table.find(key(1)) else {
      Issue.record("A damaged image is not found.")
      return
    }
    #expect(entry.isDamaged)
    try table.markStale(key(2).entity)
    #expect(find(key(2), in: table) == .missing)
  }

  @Test("calls each image unverified in a file that is copied from")
  func copies() throws {
    let table = try fixture.open(protection: .complete, system: LockableDevice().system)
    try table.store(key(1))
    #expect(find(key(1), in: table) == .unverified(isInMemory: false))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    #expect(find(key(1), in: table) == .unverified(isInMemory: false))
    #expect(table.statistics.leasedCount == 0)
  }
}
