import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

@Suite("Listing a table", .timeLimit(.wholeRun))
struct ListingTests {
  let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func names(_ entries: [TableEntryInfo]) -> [String] { entries.map { "\($0.entity)" } }

  private var now: UInt64 { UInt64(Date().timeIntervalSince1970 * 1_000_000) }

  @Test("tells uses after a noted time from those before, also while time stands still")
  func tellsUses() throws {
    let table = try fixture.open()
    // As where the processor's ticks begin anew when a machine wakes up.
    try #require(table.core.lookup.file).states.advanceClock(beyond: 1 << 60)
    try table.store(key(1))
    let time = Int64(now / 1_000_000)
    _ = try table.noteTime(time, lifetime: 10)
    try table.store(key(2))
    let stamp = try #require(try table.noteTime(time + 10, lifetime: 10))
    #expect(try table.entries().map { $0.recency <= stamp } == [true, false])
  }

  @Test("reads no pixels, counts as no use and takes no lease")
  func readsTrailers() throws {
    var table = try fixture.open()
    for entity in 1...4 { try table.store(key(entity)) }
    table.close()
    let plan = FaultPlan()
    table = try fixture.open(system: plan.system)
    let uses = try #require(try table.core.opener.makeReader()).entries().map(\.recency)
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(8))
    let trailers = (0..<4).map { layout.slotOffset($0) + layout.trailerOffset }
    plan.pass()
    #expect(try table.entries().map(\.recency) == uses)
    // The records with one call.
    #expect(plan.calls.count { $0 == .read } == 5)
    #expect(Set(trailers).isSubset(of: plan.offsets))
    #expect(table.statistics.unverifiedCount == 4 && table.statistics.hitCount == 0)
  }

  @Test("leaves out a slot whose ids are not those of its record")
  func leavesOutDamage() throws {
    var table = try fixture.open()
    for entity in 1...3 { try table.store(key(entity)) }
    table.close()
    var bytes = try fixture.bytes()
    let place = try #require(bytes.firstRange(of: Array("entity 2".utf8)))
    bytes[place.lowerBound] ^= 1
    try fixture.replaceFile(with: bytes)
    table = try fixture.open()
    #expect(names(try table.entries()) == ["entity 1", "entity 3"])
  }

  @Test("leaves out an image that was replaced while it was read")
  func leavesOutReplaced() throws {
    let work = Lock<(@Sendable () -> Void)?>(nil)
    let system = SystemCalls { call throws(SystemError) in
      if call.kind == .read { work.withLock { $0.take() }?() }
    }
    let table = try fixture.open(system: system)
    for entity in 1...3 { try table.store(key(entity)) }
    work.withLock { $0 = { _ = try? table.store(key(1, 2)) } }
    var cursor = ListingCursor()
    #expect(names(try table.list(&cursor)) == ["entity 2", "entity 3"])
    #expect(work.withLock { $0 == nil })
  }

  @Test("goes on at the beginning of a file that takes the place of the first")
  func followsNewFile() throws {
    let table = try fixture.open(slots: 400)
    for entity in 0..<200 { try table.store(key(entity)) }
    var cursor = ListingCursor()
    #expect(try !table.list(&cursor).isEmpty)
    try table.removeAll()
    try table.store(key(500))
    #expect(names(try table.list(&cursor)) == ["entity 500"])
    #expect(try table.list(&cursor).isEmpty)
    table.close()
    #expect(throws: TableError.closed) { try table.list(&cursor) }
  }

  @Test("of a second opener names its own images, and the owner's that are not hidden")
  func listsForeign() throws {
    let table = try fixture.open()
    for entity in 1...3 { try table.store(key(entity)) }
    let stranger = try Stranger(fixture)
    try stranger.store(key(1, 2), from: table)
    try stranger.store(key(4), from: table)
    _ = try stranger.core.remove(key(2).entity)
    var cursor = ListingCursor()
    var all: [TableEntryInfo] = []
    while case let listed = try stranger.core.lookup.list(&cursor), !listed.isEmpty {
      all += listed
    }
    #expect(names(all) == ["entity 1", "entity 4", "entity 3"])
    #expect(all.first?.version == .full(key(1, 2).version))
    // A removal of these is a removal of just these.
    try stranger.store(key(4, 2), from: table)
    let removed = try stranger.core.writer.withLock { try $0.remove(all) }
    #expect(names(removed) == ["entity 1", "entity 3"])
    #expect(stranger.core.entry(for: key(3)) == nil && stranger.shows(key(4, 2)))
    table.close()
    stranger.core.close()
    let reopened = try fixture.open()
    #expect(names(try reopened.entries()) == ["entity 4"])
  }

  @Test("of a second opener names what the owner has, though records of its own cannot be read")
  func listsBesideUnreadable() throws {
    let table = try fixture.open()
    for number in 0..<8 {
      let stranger = try Stranger(fixture)
      try stranger.store(key(100 + number), from: table)
    }
    for entity in 1...3 { try table.store(key(entity)) }
    // No name is free, so this one adopts a file that was left.
    let plan = FaultPlan()
    let stranger = try Stranger(fixture, system: plan.system)
    plan.fail(after: 0, count: 2, only: [.read])
    var cursor = ListingCursor()
    #expect(names(try stranger.core.lookup.list(&cursor)) == (1...3).map { "entity \($0)" })
    #expect(plan.failureCount == 2)
  }

  @Test("lets those be removed that it named, and no image that took their place")
  func removesListed() throws {
    var table = try fixture.open()
    for entity in 1...4 { try table.store(key(entity)) }
    let listed = try table.entries()
    try table.store(key(2, 2))
    _ = try table.remove(key(3).entity)
    try table.store(key(3))
    #expect(names(try table.remove(listed)) == ["entity 1", "entity 4"])
    table = try fixture.reopen(table)
    #expect(Set(names(try table.entries())) == ["entity 2", "entity 3"])
    #expect(table.entry(for: key(2, 2))?.shows(key(2, 2)) == true)
    #expect(table.entry(for: key(3))?.shows(key(3)) == true)
  }

  @Test("waits for the device to be unlocked", arguments: [false, true])
  func isProtected(isLockedMidway: Bool) throws {
    let plan = FaultPlan(code: EPERM, hasFileProtection: true)
    let table = try fixture.open(protection: .complete, system: plan.system)
    for entity in 1...3 { try table.store(key(entity)) }
    plan.fail(after: isLockedMidway ? 2 : 0, only: [.read])
    #expect(throws: TableError.protectedDataUnavailable(name: "rows")) { try table.entries() }
    plan.pass()
    #expect(try table.entries().count == 3)
  }

  @Test("removes for good the images before one that cannot be asked for")
  func removesBeforeFailures() throws {
    let plan = FaultPlan(code: EPERM, hasFileProtection: true)
    var table = try fixture.open(slots: 130)
    for entity in 0..<130 { try table.store(key(entity)) }
    let listed = try table.entries()
    table = try fixture.reopen(table, slots: 130, system: plan.system)
    // Records are read by the page; the last one is in the third.
    plan.fail(after: 1, only: [.read])
    #expect(throws: TableError.self) { try table.remove([listed[0], listed[129]]) }
    plan.pass()
    // Another process sees the file, and not what this one has in mind.
    let stranger = try Stranger(fixture, slots: 130)
    #expect(!stranger.core.contains(key(0)))
    #expect(stranger.core.contains(key(1)) && stranger.core.contains(key(129)))
  }
}
