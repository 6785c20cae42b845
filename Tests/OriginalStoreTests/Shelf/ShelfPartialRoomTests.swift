import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("The room that a shelf's partial takes", .timeLimit(.minutes(10)))
struct ShelfPartialRoomTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("is that of its files, where blocks behind a bad one are written again")
  func badBlock() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.leave(Coming(1, blocks: 4))
    let path = URL(fileURLWithPath: fixture.path(key(1)) + ".part")
    var bytes = try Data(contentsOf: path)
    bytes[blockSize + 7] ^= 1
    let file = try FileHandle(forWritingTo: path)
    try file.write(contentsOf: bytes)
    try file.close()
    let load = shelf.load(Coming(1, blocks: 2))
    await shelf.write(Coming(1, blocks: 2), load)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    await shelf.end(Coming(1, blocks: 2), load)
    #expect((await shelf.blockCount(Coming(1, blocks: 4)) ?? 0) >= 2)
  }

  @Test("is a place of the index too: the oldest original leaves its own")
  func fullIndex() async throws {
    let shelf = await fixture.shelf { $0.recordCountLimit = 2 }.opened()
    for number in 1...2 { await shelf.keep(number) }
    await shelf.leave(Coming(3, blocks: 1))
    #expect(await shelf.blockCount(Coming(3, blocks: 1)) == 1)
    #expect(shelf.present(1...2) == [2])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("is given back before its original is written, where it is of no use to that")
  func otherVersion() async throws {
    let shelf = await fixture.shelf("one", OriginalBudget(byteCount: 8 << 20)).opened()
    for number in 10...15 { await shelf.keep(number, byteCount: 1 << 20) }
    let coming = Coming(1, blocks: 4)
    let load = shelf.load(coming)
    await shelf.write(coming, load)
    let other = content(1, version: 2, byteCount: wholeByteCount)
    #expect(
      shelf.hold(
        other, key(1), coming.facts, RecordedFreshness(), for: load,
        from: PartialUse(load, arrival: 2)
      ) { true })
    await shelf.budget.run { shelf.write(key(1)) }
    // With the partial there would not be room for all of them.
    #expect(try shelf.read(key(1))?.bytes == other)
    #expect(shelf.present(10...15, byteCount: 1 << 20) == Array(10...15))
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("is given back where the first load of a session leaves nothing, and has written nothing")
  func endsBeforeOwning() async throws {
    let coming = Coming(1, blocks: 2)
    do { await fixture.shelf().opened().leave(coming) }
    let later = await fixture.shelf().opened()
    let load = later.load(coming)
    let found = await later.budget.run { later.takePartial(coming.key, for: load)?.bytes.count }
    #expect(found == 2 * blockSize)
    await later.end(coming, load, keeps: false)
    let folder = fixture.url.path + "/one"
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [IndexFile.name])
    #expect(!later.mayHavePartial(coming.key))
    #expect(later.usedByteCount == fixture.diskByteCount("one"))
  }
}
