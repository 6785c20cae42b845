import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("The budget of a shelf", .timeLimit(.minutes(8)))
struct ShelfBudgetTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("is never exceeded by two stores that share it, at no call to the system")
  func sharedAtEachCall() async throws {
    let limit = 200_000
    let budget = OriginalBudget(byteCount: limit)
    let shelves = [
      await fixture.shelf("one", budget).opened(), await fixture.shelf("two", budget).opened(),
    ]
    let worst = Lock(0)
    fixture.observe { [fixture] _ throws(SystemError) in
      let used = fixture.diskByteCount("one", "two")
      worst.withLock { $0 = max($0, used) }
    }
    var generator = SplitMix64(state: 7)
    for step in 0..<400 {
      let shelf = shelves[Int.random(in: 0...1, using: &generator)]
      let number = Int.random(in: 1...20, using: &generator)
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: try await shelf.onLane { () throws(TableError) in try shelf.remove(key(number)) }
      case 1, 2: _ = try shelf.read(key(number))
      default:
        let byteCount = Int.random(in: 1...49_000, using: &generator)
        await shelf.keep(number, version: step, byteCount: byteCount, entity: number % 5)
      }
      #expect(budget.usedByteCount == fixture.diskByteCount("one", "two"))
    }
    #expect(worst.withLock { $0 } <= limit)
    #expect(worst.withLock { $0 } > limit / 2)
  }

  @Test("lets the oldest use of all stores go first, whichever store it is in")
  func oldestOfAll() async throws {
    let budget = OriginalBudget(byteCount: 4 * 12_288 + 2 * 4096)
    let one = await fixture.shelf("one", budget).opened()
    let two = await fixture.shelf("two", budget).opened()
    await one.keep(1)
    await two.keep(2)
    await one.keep(3)
    await two.keep(4)
    _ = try one.read(key(1))
    await one.keep(5)
    await one.keep(6)
    #expect(one.present(1...6) == [1, 5, 6])
    #expect(two.present(1...6) == [4])
    #expect(fixture.events().filter { $0 == .evicted }.count == 2)
  }

  @Test("counts what a store of it that nobody opened has on disk, and lets that go too")
  func unopenedStore() async throws {
    var first: OriginalShelf? = await fixture.shelf("one").opened()
    for number in 1...4 { await first?.keep(number) }
    first = nil
    let budget = OriginalBudget(byteCount: 60_000)
    let unopened = fixture.shelf("one", budget)
    let second = await fixture.shelf("two", budget).opened()
    fixture.advance(seconds: 1)
    await second.keep(5)
    #expect(fixture.diskByteCount("one", "two") <= 60_000)
    #expect(second.present(1...5) == [5])
    #expect(unopened.present(1...5) == [2, 3, 4])
  }

  @Test("passes over what is being read, and keeps nothing new where that leaves no room")
  func readers() async throws {
    // Room for four, which are all being read.
    let shelf = await fixture.shelf("one", OriginalBudget(byteCount: 4 * 12_288 + 4096)).opened()
    for number in 1...4 { await shelf.keep(number) }
    let (reading, gate) = (Counter(), Gate())
    defer { gate.open() }
    let threads = DispatchQueue(label: "readers", attributes: .concurrent)
    fixture.observe { call throws(SystemError) in
      guard call.kind == .read else { return }
      reading.increment()
      gate.waitBlocking()
    }
    let results = Lock<[Int: Data?]>([:])
    let done = Counter()
    for number in 1...3 {
      threads.async {
        let read = try? shelf.read(key(number))
        results.withLock { $0[number] = read?.bytes }
        done.increment()
      }
    }
    await reading.reaches(3)
    _ = fixture.events()
    await shelf.keep(5)
    // 4 was not being read.
    #expect(fixture.events() == [.evicted, .stored(key(5).id)])
    threads.async {
      _ = try? shelf.read(key(5))
      done.increment()
    }
    await reading.reaches(4)
    await shelf.keep(6)
    guard case .refused? = fixture.events().first else {
      Issue.record("6 was kept")
      return
    }
    gate.open()
    await done.reaches(4)
    #expect(results.withLock { $0 } == [1: content(1), 2: content(2), 3: content(3)])
    #expect(shelf.present(1...6) == [1, 2, 3, 5])
    await shelf.keep(6)
    #expect(shelf.present(6...6) == [6])
  }

  @Test("keeps nothing that takes more than a quarter, and nothing at all when it is 0")
  func tooLarge() async throws {
    let budget = OriginalBudget(byteCount: 80_000)
    let shelf = await fixture.shelf("one", budget).opened()
    #expect(await shelf.keep(1, byteCount: 21_000) == false)
    #expect(await shelf.keep(2, byteCount: 15_000))
    guard case .refused(let id, _)? = fixture.events().first else {
      Issue.record("no event")
      return
    }
    #expect(id == key(1).id)
    budget.setByteCount(0)
    #expect(fixture.diskByteCount("one") == 0)
    #expect(budget.usedByteCount == 0)
    #expect(await shelf.keep(3, byteCount: 1) == false)
    #expect(fixture.diskByteCount("one") == 0)
    budget.setByteCount(80_000)
    #expect(await shelf.keep(3))
    #expect(shelf.present(1...3) == [3])
  }

  @Test("is trimmed before its lowering returns")
  func lowering() async throws {
    let budget = OriginalBudget(byteCount: 100_000)
    let one = await fixture.shelf("one", budget).opened()
    let two = await fixture.shelf("two", budget).opened()
    for number in 1...7 { await (number % 2 == 0 ? one : two).keep(number) }
    budget.setByteCount(50_000)
    #expect(fixture.diskByteCount("one", "two") <= 50_000)
    #expect(budget.usedByteCount == fixture.diskByteCount("one", "two"))
    #expect(two.present(1...7) == [5, 7])
    #expect(one.present(1...7) == [6])
  }

  @Test("is trimmed before its lowering returns in stores that were only read, or never opened")
  func loweringUnwritten() async throws {
    for isOpened in [true, false] {
      let fixture = try ShelfFixture()
      var first: OriginalShelf? = await fixture.shelf().opened()
      for number in 1...7 { await first?.keep(number) }
      first = nil
      let budget = OriginalBudget(byteCount: 100_000)
      let shelf = fixture.shelf("one", budget)
      let absent = fixture.shelf("two", budget)
      if isOpened { #expect(await shelf.opened().present(1...7) == Array(1...7)) }
      budget.setByteCount(50_000)
      #expect(fixture.diskByteCount("one") <= 50_000)
      #expect(shelf.present(1...7) == [5, 6, 7])
      #expect(budget.usedByteCount == fixture.diskByteCount("one"))
      // What was never there is not made to be trimmed.
      #expect(!FileManager.default.fileExists(atPath: absent.settings.path))
    }
  }

  @Test("leaves half of what is free on the volume to others")
  func volume() async throws {
    let shelf = await fixture.shelf("one") { $0.freeByteCount = { _ in 40_000 } }.opened()
    for number in 1...4 { await shelf.keep(number) }
    #expect(shelf.present(1...4) == [4])
    #expect(fixture.diskByteCount("one") <= 4096 + 20_000)
  }

  @Test("evicts the least recently used original where the index has no place for another")
  func fullIndex() async throws {
    let shelf = await fixture.shelf { $0.recordCountLimit = 3 }.opened()
    for number in 1...3 { await shelf.keep(number) }
    _ = try shelf.read(key(1))
    await shelf.keep(1, version: 2)
    #expect((1...3).allSatisfy { shelf.look(key($0)) != nil })
    await shelf.keep(4)
    #expect(shelf.present(2...4) == [3, 4])
    #expect(shelf.present(1...1, version: 2) == [1])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("takes more of the volume once others free it, and seldom asks how much is free")
  func volumeRecovers() async throws {
    let (others, asked) = (Lock(960_000), Counter())
    let shelf = await fixture.shelf { [fixture] in
      $0.freeByteCount = { _ in
        asked.increment()
        return 1_000_000 - others.withLock { $0 } - fixture.diskByteCount("one")
      }
    }.opened()
    for number in 1...4 { await shelf.keep(number) }
    // No more than is left free then.
    #expect(shelf.present(1...4) == [4])
    #expect(fixture.diskByteCount("one") <= 20_000)
    #expect(asked.value <= 4)
    others.withLock { $0 = 0 }
    for number in 5...36 { await shelf.keep(number) }
    #expect(shelf.present(4...36) == Array(4...36))
    #expect(asked.value <= 5)
    for number in 37...60 { await shelf.keep(number) }
    #expect(fixture.diskByteCount("one") <= 500_000)
    #expect(shelf.present(60...60) == [60])
  }
}
