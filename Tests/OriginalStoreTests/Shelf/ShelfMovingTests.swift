import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("An entity's other id", .timeLimit(.minutes(8)))
struct ShelfMovingTests {
  let fixture: ShelfFixture
  private let old = TableID(Int64(1))
  private let new = TableID(Int64(3))

  init() throws { fixture = try ShelfFixture() }

  private func move(in shelf: OriginalShelf) async {
    await shelf.budget.run { [old, new] in shelf.move(old, to: new) }
  }

  private func removeAll(of entity: TableID, from shelf: OriginalShelf) async throws {
    try await shelf.onLane { () throws(TableError) in try shelf.removeAll(of: entity) }
  }

  @Test("is its originals' from the next session on, although another shelf owned the folder")
  func outlastsOwner() async throws {
    var owner: OriginalShelf? = await fixture.shelf().opened()
    await owner?.keep(1, entity: 1)
    await owner?.keep(2, entity: 2)
    var guest: OriginalShelf? = await fixture.shelf().opened()
    await move(in: try #require(guest))
    owner = nil
    await guest?.keep(4)
    guest = nil
    let later = await fixture.shelf().opened()
    try await removeAll(of: old, from: later)
    #expect(later.present(1...2) == [1, 2])
    try await removeAll(of: new, from: later)
    #expect(later.present(1...2) == [2])
  }

  @Test(
    "is its originals' at once while the shelf is suspended, and after that",
    arguments: [false, true])
  func outlastsSuspension(isResumed: Bool) async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1, entity: 1)
    let user = OriginalUser(of: shelf)
    await user.suspend()
    await move(in: shelf)
    if isResumed { await user.resume() }
    try await removeAll(of: old, from: shelf)
    #expect(shelf.present(1...1) == [1])
    try await removeAll(of: new, from: shelf)
    #expect(shelf.present(1...1) == [])
  }

  @Test("is that of a file without a record, too")
  func reachesUnrecorded() async throws {
    let owner = await fixture.shelf().opened()
    fixture.observe { call throws(SystemError) in
      guard call.kind == .write, call.offset > 0, call.bytes?.count == 128 else { return }
      throw SystemError(call: .write, code: EIO)
    }
    await owner.keep(1, entity: 1)
    fixture.observe(nil)
    let guest = await fixture.shelf().opened()
    await move(in: guest)
    try await removeAll(of: old, from: guest)
    #expect(guest.present(1...1) == [1])
    try await removeAll(of: new, from: guest)
    #expect(guest.present(1...1) == [])
  }

  @Test("is that of what a load under way keeps")
  func reachesLoads() async throws {
    let shelf = await fixture.shelf().opened()
    let load = shelf.begin(key(1), of: old)
    await move(in: shelf)
    let facts = OriginalFacts(entity: old, stored: 1_700_000_000)
    #expect(shelf.hold(content(1), key(1), facts, RecordedFreshness(), for: load) { true })
    await shelf.budget.run { shelf.write(key(1)) }
    #expect(try shelf.read(key(1))?.facts.entity == new)
    try await removeAll(of: new, from: shelf)
    #expect(shelf.present(1...1) == [])
    // Removals of the new id reach the load as well.
    try await removeAll(of: new, from: shelf)
    #expect(!shelf.hold(content(1), key(1), facts, RecordedFreshness(), for: load) { true })
  }

  @Test("makes no folder")
  func makesNothing() async throws {
    let shelf = fixture.shelf()
    await move(in: shelf)
    #expect(!FileManager.default.fileExists(atPath: fixture.url.path + "/one"))
  }
}
