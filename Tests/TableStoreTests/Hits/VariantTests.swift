import TestSupport
import Testing

@testable import TableStore

@Suite("A picture that is looked up by its entity", .timeLimit(.wholeRun))
struct VariantTests {
  let fixture: Fixture

  init() throws { fixture = try Fixture() }

  @Test("is the wanted one, or says that it is not")
  func tellsVersions() throws {
    let table = try fixture.open()
    try table.store(key(1, 2))
    for isReopened in [false, true] {
      let opened = isReopened ? try fixture.open() : table
      let other = try #require(opened.variant(of: key(1, 1)))
      #expect(other.standing == .otherVersion && other.entry.shows(key(1, 2)))
      let current = try #require(opened.variant(of: key(1, 2)))
      #expect(current.standing == .current && current.entry.shows(key(1, 2)))
      #expect(opened.variant(of: key(2, 2)) == nil)
      #expect(!current.entry.isPrivate)
      if !isReopened { table.close() }
    }
  }

  @Test("is leased, and leaves the order of use and the hits as they are")
  func isNoUse() throws {
    let table = try fixture.open(slots: 2)
    for entity in 1...2 { try table.store(key(entity)) }
    var held = table.variant(of: key(1))
    #expect(table.statistics.leasedCount == 1 && table.statistics.hitCount == 0)
    try table.store(key(3))
    #expect(table.present(1...3) == [1, 3] && held?.entry.shows(key(1)) == true)
    held = nil
    #expect(table.statistics.leasedCount == 0)
    try table.store(key(4))
    #expect(table.present(1...4) == [3, 4])
  }

  @Test("is a miss where it is damaged")
  func isProven() throws {
    let table = try fixture.open()
    try table.store(key(1))
    table.close()
    var bytes = try fixture.bytes()
    let last = try #require(bytes.lastIndex { $0 != 0 })
    bytes[last] ^= 1
    try fixture.replaceFile(with: bytes)
    let reopened = try fixture.open()
    #expect(reopened.variant(of: key(1)) == nil && reopened.variant(of: key(1, 2)) == nil)
    #expect(reopened.statistics.damageCount == 1 && reopened.statistics.leasedCount == 0)
  }
}
