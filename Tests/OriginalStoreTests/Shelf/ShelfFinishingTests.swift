import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A shelf's partial that becomes its original", .timeLimit(.minutes(10)))
struct ShelfFinishingTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("takes no byte more than the budget at any call, its terms included")
  func budget() async throws {
    let budget = OriginalBudget(byteCount: 19 << 18)
    let shelf = await fixture.shelf("one", budget).opened()
    let coming = Coming(1, blocks: 4)
    let load = shelf.load(coming)
    await shelf.write(coming, load)
    // Files of one page fill the budget to the last one.
    var number = 10
    while budget.usedByteCount < budget.byteCount {
      await shelf.keep(number, byteCount: 3_000)
      number += 1
    }
    let worst = Lock(0)
    fixture.observe { _ in
      worst.withLock { [used = fixture.diskByteCount("one")] in $0 = max($0, used) }
    }
    #expect(
      shelf.hold(
        coming.whole, coming.key, coming.facts, RecordedFreshness(), for: load,
        from: PartialUse(load, arrival: coming.arrival)
      ) { true })
    await shelf.budget.run { shelf.write(coming.key) }
    fixture.observe(nil)
    #expect(try shelf.read(coming.key)?.bytes == coming.whole)
    #expect(worst.withLock { $0 } <= budget.byteCount)
    #expect(budget.usedByteCount == fixture.diskByteCount("one"))
  }

  /// Blocks from a number on are of another version, which the server calls the same.
  private struct Lying: PartialSource {
    let first: Coming
    let other: Coming
    let changed: Int

    var key: OriginalKey { first.key }
    var facts: OriginalFacts { first.facts }
    var byteCount: Int { first.byteCount }
    var arrival: Int { 2 }

    func block(_ number: Int) -> Data? { (number < changed ? first : other).block(number) }
    func isVersion(of terms: [UInt8]) -> Bool { first.isVersion(of: terms) }
  }

  @Test("never has blocks of two versions, even where their validators are equal")
  func versions() async throws {
    for (there, arrived) in [(4, 2), (2, 4), (3, 3)] {
      let shelf = await fixture.shelf("\(there)").opened()
      let former = Coming(1, blocks: there)
      await shelf.leave(former)
      let lying = Lying(
        first: Coming(1, blocks: arrived), other: Coming(1, blocks: arrived, version: 2),
        changed: 1)
      let load = shelf.load(former)
      await shelf.budget.run { while shelf.writeBlock(of: lying, for: load) {} }
      await shelf.end(former, load)
      let found = try #require(await shelf.found(former))
      #expect(found.count == arrived * blockSize)
      let expected = (0..<arrived).compactMap { lying.block($0) }
      // A difference of so many bytes would be listed.
      let isRight = found == expected.reduce(Data(), +)
      #expect(isRight)
      #expect(shelf.usedByteCount == fixture.diskByteCount("\(there)"))
    }
  }
}
