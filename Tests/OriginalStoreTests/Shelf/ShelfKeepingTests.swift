import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A shelf of originals", .timeLimit(.minutes(8)))
struct ShelfKeepingTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("finds an original from the moment it is held, and from its file afterwards")
  func heldThenWritten() async throws {
    let shelf = fixture.shelf()
    let facts = OriginalFacts(entity: TableID(Int64(7)), width: 5, height: 4, stored: 1_700_000_000)
    let isHeld = shelf.hold(content(1), key(1), facts, RecordedFreshness(freshFor: 60)) { true }
    #expect(isHeld)
    #expect(fixture.diskByteCount("one") == 0)
    #expect(shelf.look(key(1))?.freshFor == 60)
    #expect(try shelf.read(key(1))?.bytes == content(1))
    await shelf.budget.run { shelf.write(key(1)) }
    #expect(shelf.state.withLock { $0.held.isEmpty && $0.heldByteCount == 0 })
    #expect(shelf.look(key(1))?.freshFor == 60)
    #expect(try shelf.read(key(1))?.facts == facts)
    #expect(try shelf.read(key(1))?.bytes == content(1))
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    #expect(fixture.events() == [.stored(key(1).id)])
  }

  @Test("holds nothing of a load that began before the one whose original is held")
  func olderLoads() async throws {
    let shelf = await fixture.shelf().opened()
    let facts = OriginalFacts(entity: TableID(Int64(7)), stored: 1_700_000_000)
    func hold(_ version: Int, _ load: OriginalLoad?) -> Bool {
      shelf.hold(
        content(1, version: version), key(1), facts, RecordedFreshness(), for: load, if: { true })
    }
    let loads = (1...3).map { _ in shelf.begin(key(1), of: facts.entity) }
    let other = shelf.begin(key(2), of: facts.entity)
    #expect(hold(2, loads[1]) && !hold(1, loads[0]) && hold(3, loads[2]) && !hold(2, loads[1]))
    // Bytes that no load brought are younger than all loads.
    let last = shelf.begin(key(1), of: facts.entity)
    #expect(hold(4, nil) && !hold(5, last))
    #expect(try shelf.read(key(1))?.bytes == content(1, version: 4))
    #expect(shelf.hold(content(2), key(2), facts, RecordedFreshness(), for: other, if: { true }))
    #expect(hold(6, shelf.begin(key(1), of: facts.entity)))
  }

  @Test("holds the real original of an older load after a placeholder, and no placeholder after it")
  func olderRealLoads() async throws {
    let shelf = await fixture.shelf().opened()
    func hold(_ version: Int, _ load: OriginalLoad, isPlaceholder: Bool) -> Bool {
      let facts = OriginalFacts(
        entity: TableID(Int64(7)), isPlaceholder: isPlaceholder, stored: 1_700_000_000)
      return shelf.hold(
        content(1, version: version), key(1), facts, RecordedFreshness(), for: load
      ) {
        #expect(!isPlaceholder || version == 1, "A placeholder that is refused asks nobody.")
        return true
      }
    }
    let loads = (1...3).map { _ in shelf.begin(key(1), of: TableID(Int64(7))) }
    #expect(hold(1, loads[1], isPlaceholder: true) && hold(2, loads[0], isPlaceholder: false))
    #expect(!hold(3, loads[2], isPlaceholder: true))
    #expect(try shelf.read(key(1))?.bytes == content(1, version: 2))
  }

  @Test("makes no call to the system before the first miss opens it, and reads without a write")
  func lazily() async throws {
    fixture.observe { call throws(SystemError) in throw SystemError(call: call.kind, code: 5) }
    let shelf = fixture.shelf()
    #expect(shelf.look(key(1)) == nil)
    #expect(shelf.usedByteCount == 0)
  }

  @Test("keeps what was kept, its freshness and the order of use over a session")
  func reopening() async throws {
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...4 { await shelf?.keep(number, RecordedFreshness(answered: 9, freshFor: 60)) }
    _ = try shelf?.read(key(1))
    shelf = nil
    let budget = OriginalBudget(byteCount: 70_000)
    let second = await fixture.shelf("one", budget).opened()
    #expect(second.look(key(3))?.freshness == RecordedFreshness(answered: 9, freshFor: 60))
    await second.keep(5)
    await second.keep(6)
    #expect(second.present(1...6) == [1, 3, 4, 5, 6])
  }

  @Test("replaces an original by a newer one, and the larger picture of an entity lets smaller go")
  func replacingAndOutgrowing() async throws {
    let shelf = await fixture.shelf("one", OriginalBudget(byteCount: 60_000)).opened()
    await shelf.keep(1, entity: 1, width: 100)
    await shelf.keep(2, entity: 1, width: 50)
    await shelf.keep(3, entity: 1, width: 200)
    await shelf.keep(1, version: 2, entity: 1, width: 100)
    #expect(try shelf.read(key(1))?.bytes == content(1, version: 2))
    await shelf.keep(4, entity: 2)
    await shelf.keep(5, entity: 3)
    await shelf.keep(6, entity: 4)
    // 2 is the oldest, and outgrown; 3 is older than 1, which was replaced after it came.
    #expect(shelf.present(2...6) == [4, 5, 6])
    #expect(try shelf.read(key(1)) != nil)
  }

  @Test("never lets a placeholder take the place of a real original, but the other way round")
  func placeholders() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    #expect(await shelf.keep(1, version: 2, isPlaceholder: true) == false)
    #expect(shelf.present(1...1) == [1])
    await shelf.keep(2, version: 2, isPlaceholder: true)
    #expect(shelf.look(key(2))?.flags.contains(.placeholder) == true)
    await shelf.keep(2)
    #expect(shelf.look(key(2))?.flags.contains(.placeholder) == false)
  }

  @Test("holds nothing that its loader may not keep any more")
  func forbidden() throws {
    let shelf = fixture.shelf()
    let facts = OriginalFacts(entity: TableID(Int64(7)), stored: 0)
    let isHeld = shelf.hold(content(1), key(1), facts, RecordedFreshness()) { false }
    #expect(!isHeld)
    #expect(shelf.look(key(1)) == nil)
  }

  @Test("takes a server's newer word with one write")
  func confirming() async throws {
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    await shelf?.keep(1)
    let hash = try #require(try shelf?.read(key(1))?.contentHash)
    let calls = Counter()
    fixture.observe { call throws(SystemError) in if call.kind == .write { calls.increment() } }
    let newer = RecordedFreshness(answered: 5, freshFor: 7, mustRevalidate: true)
    await shelf?.budget.run { [shelf] in shelf?.confirm(key(1), of: hash, newer) }
    #expect(calls.value == 1)
    shelf = nil
    #expect(await fixture.shelf().opened().look(key(1))?.freshness == newer)
  }

  @Test("confirms and drops the bytes that were meant, and no others under their name")
  func otherBytes() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    let hash = try #require(try shelf.read(key(1))?.contentHash)
    let facts = OriginalFacts(entity: TableID(Int64(1)), stored: 1_700_000_000)
    let newer = RecordedFreshness(answered: 5, freshFor: 7)
    #expect(shelf.hold(content(1, version: 2), key(1), facts, RecordedFreshness()) { true })
    for isHeld in [true, false] {
      if !isHeld { await shelf.budget.run { shelf.write(key(1)) } }
      await shelf.budget.run { shelf.confirm(key(1), of: hash, newer) }
      try await shelf.onLane { () throws(TableError) in try shelf.drop(key(1), of: hash) }
      #expect(shelf.look(key(1))?.freshness == RecordedFreshness())
      #expect(shelf.present(1...1, version: 2) == [1])
    }
    for isHeld in [true, false] {
      #expect(shelf.hold(content(1, version: 3), key(1), facts, RecordedFreshness()) { true })
      let own = try #require(try shelf.read(key(1))?.contentHash)
      if !isHeld { await shelf.budget.run { shelf.write(key(1)) } }
      await shelf.budget.run { shelf.confirm(key(1), of: own, newer) }
      #expect(shelf.look(key(1))?.freshness == newer)
      try await shelf.onLane { () throws(TableError) in try shelf.drop(key(1), of: own) }
      #expect(shelf.state.withLock { $0.held.isEmpty })
      // What was kept before it was written is there still.
      #expect(shelf.present(1...1, version: 2) == (isHeld ? [1] : []))
      #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    }
  }

  @Test("keeps nothing beyond its time, whatever the clock does")
  func expiry() async throws {
    let shelf = await fixture.shelf {
      $0.keepTime = KeepTime(seconds: 100, countsFromLastUse: true)
    }.opened()
    await shelf.keep(1)
    await shelf.keep(2)
    fixture.advance(seconds: 60)
    _ = try shelf.read(key(1))
    fixture.advance(seconds: 60)
    #expect(shelf.look(key(2)) == nil)
    #expect(try shelf.read(key(2)) == nil)
    #expect(shelf.look(key(1)) != nil)
    fixture.advance(seconds: -100_000_000)
    #expect(shelf.look(key(1)) != nil)
    // The next session takes the use that is yet to come for one of its first moment.
    let next = await fixture.shelf {
      $0.keepTime = KeepTime(seconds: 100, countsFromLastUse: true)
    }.opened()
    fixture.advance(seconds: 100)
    #expect(next.look(key(1)) == nil)
  }

  @Test("removes an original, those of an entity and those of an audience for good")
  func removals() async throws {
    do {
      let shelf = await fixture.shelf().opened()
      for number in 1...6 {
        await shelf.keep(number, entity: number % 3, audience: number > 4 ? "alice" : "")
      }
      let facts = OriginalFacts(entity: TableID(Int64(1)), stored: 1_700_000_000)
      #expect(shelf.hold(content(7), key(7), facts, RecordedFreshness()) { true })
      try await shelf.onLane { () throws(TableError) in
        try shelf.removeAll(of: TableID(Int64(1)))
      }
      await shelf.budget.run { shelf.write(key(7)) }
      #expect(shelf.present(1...7) == [2, 3])
      #expect(try shelf.read(key(5, audience: "alice")) != nil)
      try await shelf.onLane { () throws(TableError) in
        try shelf.removeAll(forAudience: "alice")
      }
      try await shelf.onLane { () throws(TableError) in try shelf.remove(key(2)) }
    }
    let second = await fixture.shelf().opened()
    #expect(second.present(1...7) == [3])
    #expect(try second.read(key(5, audience: "alice")) == nil)
    try await second.onLane { () throws(TableError) in try second.removeAll() }
    #expect(second.present(1...7) == [])
    #expect(fixture.diskByteCount("one") == 4096)
  }

  @Test("gives an entity's originals to another id")
  func moving() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1, entity: 1)
    await shelf.keep(2, entity: 2)
    await shelf.budget.run { shelf.move(TableID(Int64(1)), to: TableID(Int64(3))) }
    try await shelf.onLane { () throws(TableError) in try shelf.removeAll(of: TableID(Int64(1))) }
    #expect(shelf.present(1...2) == [1, 2])
    try await shelf.onLane { () throws(TableError) in try shelf.removeAll(of: TableID(Int64(3))) }
    #expect(shelf.present(1...2) == [2])
  }

  @Test("copies what it would read, as a use: not what was kept long enough, nor what is damaged")
  func copying() async throws {
    let shelf = await fixture.shelf().opened()
    let facts = OriginalFacts(entity: TableID(Int64(7)), stored: 1_700_000_000)
    #expect(shelf.hold(content(1), key(1), facts, RecordedFreshness()) { true })
    let target = fixture.url.appendingPathComponent("copy.jpg")
    // Its file is not there yet.
    #expect(try shelf.copyFile(of: key(1), to: target.path))
    #expect(try Data(contentsOf: target) == content(1))
    await shelf.budget.run { shelf.write(key(1)) }
    await shelf.keep(2)
    fixture.advance(seconds: 20 * 86_400)
    #expect(try shelf.copyFile(of: key(2), to: target.path))
    #expect(try Data(contentsOf: target) == content(2))
    #expect(try !shelf.copyFile(of: key(3), to: target.path))
    fixture.advance(seconds: 20 * 86_400)
    #expect(try !shelf.copyFile(of: key(1), to: target.path))
    #expect(try shelf.list().map(\.id) == [key(2).id])
    _ = fixture.events()
    try Data("damage".utf8).write(to: URL(fileURLWithPath: fixture.path(key(2))))
    #expect(try !shelf.copyFile(of: key(2), to: target.path))
    #expect(fixture.events() == [.damaged(key(2).id)])
    #expect(try Data(contentsOf: target) == content(2))
  }
}
