import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A second shelf on a folder", .timeLimit(.minutes(8)))
struct ShelfSharingTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("reads by name and writes nothing, and is the owner once the first is gone")
  func handover() async throws {
    var first: OriginalShelf? = await fixture.shelf().opened()
    await first?.keep(1)
    let second = await fixture.shelf().opened()
    await first?.keep(2)
    #expect(second.present(1...2) == [1, 2])
    _ = fixture.events()
    await second.keep(3)
    guard case .refused? = fixture.events().first else {
      Issue.record("3 was kept")
      return
    }
    #expect(first?.present(1...3) == [1, 2])
    first = nil
    await second.keep(3)
    #expect(second.present(1...3) == [1, 2, 3])
    #expect(second.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("removes an original all the same, which the owner then misses")
  func removalByGuest() async throws {
    let first = await fixture.shelf().opened()
    await first.keep(1, entity: 5)
    let second = await fixture.shelf().opened()
    await first.keep(2, entity: 5)
    try await second.onLane { () throws(TableError) in try second.removeAll(of: TableID(Int64(5))) }
    #expect(first.present(1...2) == [])
    await first.budget.run {}
    #expect(first.look(key(1)) == nil)
    #expect(first.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("owns the folder while the first is suspended, which goes on reading and keeps nothing")
  func suspension() async throws {
    let first = await fixture.shelf().opened()
    let user = OriginalUser(of: first)
    await first.keep(1)
    let facts = OriginalFacts(entity: TableID(Int64(7)), stored: 1_700_000_000)
    #expect(first.hold(content(2), key(2), facts, RecordedFreshness()) { true })
    await user.suspend()
    await first.budget.run { first.write(key(2)) }
    #expect(await first.keep(3) == false)
    #expect(first.present(1...3) == [1])

    let second = await fixture.shelf().opened()
    await second.keep(4)
    #expect(second.present(1...4) == [1, 4])
    let other = OriginalUser(of: second)
    await other.suspend()
    await user.resume()
    #expect(first.look(key(4)) != nil)
    await first.keep(3)
    #expect(first.present(1...4) == [1, 3, 4])
    #expect(first.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("is suspended until each of those that suspended it resumes it")
  func severalUsers() async throws {
    let shelf = await fixture.shelf().opened()
    let users = [OriginalUser(of: shelf), OriginalUser(of: shelf)]
    for user in users { await user.suspend() }
    await users[0].resume()
    #expect(await shelf.keep(1) == false)
    await users[1].resume()
    #expect(await shelf.keep(1))
  }

  @Test("is suspended no longer than those live that suspended it")
  func goneUsers() async throws {
    let shelf = await fixture.shelf().opened()
    var users = [OriginalUser(of: shelf), OriginalUser(of: shelf)]
    for user in users { await user.suspend() }
    users.removeFirst()
    await shelf.budget.run {}
    #expect(await shelf.keep(1) == false)
    users = []
    await shelf.budget.run {}
    #expect(await shelf.keep(1))
  }

  @Test("waits with a suspension for the write under way, which is kept")
  func suspensionDuringWrite() async throws {
    let shelf = await fixture.shelf().opened()
    let (writing, gate) = (Counter(), Gate())
    fixture.observe { call throws(SystemError) in
      guard call.kind == .rename else { return }
      writing.increment()
      gate.waitBlocking()
    }
    async let keep = shelf.keep(1)
    await writing.reaches(1)
    let user = OriginalUser(of: shelf)
    async let suspension: Void = user.suspend()
    gate.open()
    _ = await (keep, suspension)
    #expect(shelf.present(1...1) == [1])
    let second = await fixture.shelf().opened()
    #expect(await second.keep(2))
    #expect(second.present(1...2) == [1, 2])
  }
}
