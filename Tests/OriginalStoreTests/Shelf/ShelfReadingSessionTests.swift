import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A session that only reads originals", .timeLimit(.minutes(8)))
struct ShelfReadingSessionTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  enum Ending: CaseIterable {
    case suspension, flush, close

    func perform(_ shelf: OriginalShelf) async throws {
      switch self {
      case .suspension: await OriginalUser(of: shelf).suspend()
      case .flush: try await shelf.onLane { () throws(TableError) in try shelf.flush() }
      case .close: await shelf.budget.run { shelf.saveUses() }
      }
    }
  }

  @Test("notes what it has used, and leaves the folder to others", arguments: Ending.allCases)
  func uses(ending: Ending) async throws {
    var first: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...4 { await first?.keep(number) }
    first = nil
    fixture.advance(seconds: 1)
    let reading = await fixture.shelf().opened()
    _ = try reading.read(key(1))
    try await ending.perform(reading)
    let next = await fixture.shelf("one", OriginalBudget(byteCount: 70_000)).opened()
    for number in 5...6 { #expect(await next.keep(number)) }
    #expect(next.present(1...6) == [1, 3, 4, 5, 6])
    #expect(next.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test(
    "writes nothing where it has used nothing, and goes by where another process owns the folder")
  func nothing() async throws {
    let owner = await fixture.shelf().opened()
    await owner.keep(1)
    let reading = await fixture.shelf().opened()
    _ = try reading.read(key(1))
    await reading.budget.run { reading.saveUses() }
    await owner.keep(2)
    #expect(owner.present(1...2) == [1, 2])
    let idle = await fixture.shelf().opened()
    let calls = Counter()
    fixture.observe { _ in calls.increment() }
    await idle.budget.run { idle.saveUses() }
    #expect(calls.value == 0)
  }

  @Test("hands on what a server said of an original, and that one was marked stale")
  func freshness() async throws {
    let entity = 5
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...2 {
      await shelf?.keep(number, entity: entity + number, RecordedFreshness(freshFor: 9))
    }
    shelf = await fixture.shelf().opened()
    let hash = try #require(try shelf?.read(key(1))?.contentHash)
    await shelf?.budget.run { [shelf] in
      shelf?.confirm(key(1), of: hash, RecordedFreshness(freshFor: 60))
    }
    #expect(shelf?.look(key(1))?.freshFor == 60)
    shelf = await fixture.shelf().opened()
    #expect(shelf?.look(key(1))?.freshFor == 60)
    await shelf?.budget.run { [shelf] in shelf?.markStale(TableID(Int64(entity + 2))) }
    shelf = await fixture.shelf().opened()
    #expect(shelf?.look(key(2))?.freshFor == 0 && shelf?.look(key(1))?.freshFor == 60)
  }
}
