import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A shelf's partials", .timeLimit(.minutes(10)))
struct ShelfPartialTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.url.path + "/one").sorted()
  }

  @Test("have the whole blocks that came, in a later session too, and count for the budget")
  func survives() async throws {
    let coming = Coming(1, blocks: 2)
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    #expect(shelf?.mayHavePartial(coming.key) == false)
    await shelf?.leave(coming)
    #expect(await shelf?.blockCount(coming) == 2)
    #expect(shelf?.usedByteCount == fixture.diskByteCount("one"))
    shelf = nil
    let later = await fixture.shelf().opened()
    // Known without a call, by the index's hints.
    #expect(later.mayHavePartial(coming.key))
    #expect(await later.blockCount(coming) == 2)
    #expect(later.look(coming.key) == nil)
    await later.keep(2)
    #expect(later.usedByteCount == fixture.diskByteCount("one"))
    #expect(await later.blockCount(coming) == 2)
  }

  @Test("go on where they were left, and become the original without a byte written twice")
  func finishes() async throws {
    await fixture.shelf().opened().leave(Coming(1, blocks: 2))
    let shelf = await fixture.shelf().opened()
    let written = Lock(0)
    fixture.observe { call in
      if let count = call.bytes?.count { written.withLock { $0 += count } }
    }
    let coming = Coming(1, blocks: 4)
    let load = shelf.load(coming)
    #expect(
      await shelf.budget.run { shelf.takePartial(coming.key, for: load)?.bytes.count }
        == 2 * blockSize)
    await shelf.write(coming, load)
    let isHeld = shelf.hold(
      coming.whole, coming.key, coming.facts, RecordedFreshness(), for: load,
      from: PartialUse(load, arrival: coming.arrival)
    ) { true }
    #expect(isHeld)
    // The load may be over before its original is written.
    await shelf.end(coming, load, keeps: false)
    await shelf.budget.run { shelf.write(coming.key) }
    fixture.observe(nil)
    #expect(try shelf.read(coming.key)?.bytes == coming.whole)
    #expect(try names() == [coming.key.digest.fileName, IndexFile.name].sorted())
    #expect(written.withLock { $0 } < wholeByteCount - 2 * blockSize + 2_000)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    #expect(!shelf.mayHavePartial(coming.key))
  }

  @Test(
    "are finished too where the last arrival wrote no block itself, and only if they are its first")
  func finishesOthers() async throws {
    for version in [1, 2] {
      let fixture = try ShelfFixture()
      let shelf = await fixture.shelf().opened()
      let load = shelf.load(Coming(1, blocks: 3))
      await shelf.write(Coming(1, blocks: 3), load)
      let whole = content(1, version: version, byteCount: wholeByteCount)
      let written = Lock(0)
      fixture.observe { call in
        if let count = call.bytes?.count { written.withLock { $0 += count } }
      }
      #expect(
        shelf.hold(
          whole, key(1), Coming(1, blocks: 0).facts, RecordedFreshness(), for: load,
          from: PartialUse(load, arrival: 2)
        ) { true })
      await shelf.budget.run { shelf.write(key(1)) }
      fixture.observe(nil)
      #expect(try shelf.read(key(1))?.bytes == whole)
      #expect((written.withLock { $0 } < 2 * blockSize) == (version == 1))
      #expect(shelf.usedByteCount == fixture.diskByteCount("one") && !shelf.mayHavePartial(key(1)))
    }
  }

  @Test("are one load's at a time, and the next one's when that gives them back")
  func claims() async throws {
    let shelf = await fixture.shelf().opened()
    let coming = Coming(1, blocks: 2)
    let (first, second) = (shelf.load(coming), shelf.load(coming))
    await shelf.write(coming, first)
    #expect(await shelf.budget.run { shelf.takePartial(coming.key, for: second) == nil })
    var other = Coming(1, blocks: 4, version: 2)
    await shelf.write(other, second)
    await shelf.end(other, second, keeps: false)
    await shelf.end(coming, first)
    #expect(await shelf.blockCount(coming) == 2)
    // Of another version they are begun anew, by another arrival continued.
    await shelf.leave(other)
    #expect(await shelf.blockCount(other) == 4)
    (other.arrived, other.arrival) = (0, 2)
    let third = shelf.load(other)
    await shelf.write(other, third)
    await shelf.end(other, third)
    #expect(await shelf.blockCount(other) == 4)
    await shelf.end(other, shelf.load(other), keeps: false)
    #expect(await shelf.blockCount(other) == 4)
  }

  @Test("go when their load leaves nothing, when the original is kept, and after seven days")
  func ends() async throws {
    let shelf = await fixture.shelf().opened()
    let coming = Coming(1, blocks: 2)
    let load = shelf.load(coming)
    await shelf.write(coming, load)
    await shelf.end(coming, load, keeps: false)
    #expect(!shelf.mayHavePartial(coming.key) && fixture.diskByteCount("one") == 4096)
    await shelf.leave(coming)
    await shelf.keep(1)
    #expect(!shelf.mayHavePartial(coming.key))
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    await shelf.leave(Coming(2, blocks: 1))
    fixture.advance(seconds: 7 * 86_400 - 1)
    #expect(await shelf.blockCount(Coming(2, blocks: 1)) == 1)
    fixture.advance(seconds: 1)
    #expect(await shelf.blockCount(Coming(2, blocks: 1)) == nil)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("take a quarter of the budget at most, and go before originals")
  func budget() async throws {
    let budget = OriginalBudget(byteCount: 8 << 20)
    let shelf = await fixture.shelf("one", budget).opened()
    let worst = Lock(0)
    fixture.observe { _ in
      worst.withLock { [used = fixture.diskByteCount("one")] in $0 = max($0, used) }
    }
    for number in 1...3 { await shelf.leave(Coming(number, blocks: 3)) }
    // The third took the room of the first: two of them and their terms are a quarter.
    #expect(await shelf.blockCount(Coming(1, blocks: 3)) == nil)
    #expect(await shelf.blockCount(Coming(3, blocks: 3)) == 3)
    var large = Coming(4, blocks: 3)
    large.byteCount = 2 << 20
    await shelf.leave(large)
    #expect(await shelf.blockCount(large) == nil)
    for number in 10...16 { await shelf.keep(number, byteCount: 1 << 20) }
    #expect(shelf.present(10...16, byteCount: 1 << 20) == Array(10...16))
    // There is room for seven originals and one partial.
    #expect(await shelf.blockCount(Coming(2, blocks: 3)) == nil)
    #expect(await shelf.blockCount(Coming(3, blocks: 3)) == 3)
    await shelf.keep(17, byteCount: 1 << 20)
    #expect(shelf.present(11...17, byteCount: 1 << 20) == Array(11...17))
    #expect(await shelf.blockCount(Coming(3, blocks: 3)) == nil)
    // A load whose partial made room writes no other.
    let load = shelf.load(Coming(5, blocks: 1))
    await shelf.write(Coming(5, blocks: 1), load)
    #expect(shelf.mayHavePartial(key(5)))
    for number in 18...19 { await shelf.keep(number, byteCount: 1 << 20) }
    await shelf.write(Coming(5, blocks: 2), load)
    #expect(try !names().contains { $0.hasSuffix(".part") })
    await shelf.end(Coming(5, blocks: 2), load)
    #expect(await shelf.blockCount(Coming(5, blocks: 2)) == nil)
    #expect(worst.withLock { $0 } <= 8 << 20)
    #expect(budget.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("of which a call fails are dropped, and the load goes on without", arguments: [1, 100])
  func faults(count: Int) async throws {
    for number in stride(from: 0, to: Int.max, by: Sanitizer.sweepStep) {
      let fixture = try ShelfFixture()
      let shelf = await fixture.shelf("one", OriginalBudget(byteCount: 8 << 20)).opened()
      await shelf.keep(2)
      let calls = Counter()
      let worst = Lock(0)
      fixture.observe { call throws(SystemError) in
        worst.withLock { [used = fixture.diskByteCount("one")] in $0 = max($0, used) }
        let own = calls.increment() - 1
        if (number..<number + count).contains(own) {
          throw SystemError(call: call.kind, code: ENOSPC)
        }
      }
      let coming = Coming(1, blocks: 4)
      let load = shelf.load(coming)
      for blocks in 1...4 { await shelf.write(Coming(1, blocks: blocks), load) }
      let callCount = calls.value
      fixture.observe(nil)
      #expect(
        shelf.hold(
          coming.whole, coming.key, coming.facts, RecordedFreshness(), for: load,
          from: PartialUse(load, arrival: 1)
        ) { true })
      await shelf.budget.run { shelf.write(coming.key) }
      #expect(try shelf.read(coming.key)?.bytes == coming.whole, "call \(number)")
      #expect(shelf.present(2...2) == [2], "call \(number)")
      await shelf.end(coming, load, keeps: false)
      #expect(shelf.usedByteCount == fixture.diskByteCount("one"), "call \(number)")
      #expect(worst.withLock { $0 } <= 8 << 20)
      if number > callCount { break }
    }
  }

  enum Removal: CaseIterable {
    case key, entity, audience, all

    func perform(_ shelf: OriginalShelf) throws(TableError) {
      switch self {
      case .key: try shelf.remove(OriginalStoreTests.key(1, audience: "alice"))
      case .entity: try shelf.removeAll(of: TableID(Int64(5)))
      case .audience: try shelf.removeAll(forAudience: "alice")
      case .all: try shelf.removeAll()
      }
    }
  }

  @Test(
    "go with their original, their entity, their account and all, and loads under way begin none",
    arguments: Removal.allCases, [false, true])
  func removals(removal: Removal, isInLaterSession: Bool) async throws {
    let coming = Coming(1, blocks: 2, entity: 5, audience: "alice")
    let more = Coming(1, blocks: 4, entity: 5, audience: "alice")
    let other = Coming(2, blocks: 2)
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    await shelf?.leave(other)
    if isInLaterSession {
      await shelf?.leave(coming)
      shelf = nil
    }
    let last: OriginalShelf
    if let shelf { last = shelf } else { last = await fixture.shelf().opened() }
    let (load, fresh) = (last.load(coming), last.load(coming))
    await last.write(coming, load)
    try await last.onLane { () throws(TableError) in try removal.perform(last) }
    await last.write(more, load)
    await last.end(more, load)
    await last.write(coming, fresh)
    #expect(await last.blockCount(coming) == nil)
    #expect(await last.blockCount(other) == (removal == .all ? nil : 2))
    let own = coming.key.digest.fileName
    #expect(try !names().contains { $0.hasPrefix(own) })
    // A load that begins afterwards leaves what it likes.
    await last.leave(coming)
    #expect(await last.blockCount(coming) == 2)
  }

  @Test("are read by a shelf that does not own the folder, which writes none")
  func guests() async throws {
    let owner = await fixture.shelf().opened()
    await owner.leave(Coming(1, blocks: 2))
    let guest = await fixture.shelf().opened()
    #expect(await guest.blockCount(Coming(1, blocks: 2)) == 2)
    await guest.leave(Coming(1, blocks: 4))
    await guest.leave(Coming(2, blocks: 1))
    let load = guest.load(Coming(1, blocks: 2))
    _ = await guest.budget.run { guest.takePartial(key(1), for: load) }
    await guest.end(Coming(1, blocks: 2), load, keeps: false)
    #expect(await owner.blockCount(Coming(1, blocks: 2)) == 2)
    #expect(await owner.blockCount(Coming(2, blocks: 1)) == nil)
    #expect(owner.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("wait while the store is suspended, and go on when it resumes")
  func suspension() async throws {
    let shelf = await fixture.shelf().opened()
    let load = shelf.load(Coming(1, blocks: 1))
    await shelf.write(Coming(1, blocks: 1), load)
    let user = ObjectIdentifier(shelf)
    await shelf.budget.run { shelf.suspend(by: user) }
    let size = fixture.diskByteCount("one")
    await shelf.write(Coming(1, blocks: 3), load)
    #expect(fixture.diskByteCount("one") == size)
    await shelf.budget.run { shelf.resume(by: user) }
    await shelf.write(Coming(1, blocks: 4), load)
    await shelf.end(Coming(1, blocks: 4), load)
    #expect(await shelf.blockCount(Coming(1, blocks: 4)) == 4)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("go on with what another process left of them during a suspension")
  func changedWhileSuspended() async throws {
    let shelf = await fixture.shelf().opened()
    let load = shelf.load(Coming(1, blocks: 2))
    await shelf.write(Coming(1, blocks: 2), load)
    let user = OriginalUser(of: shelf)
    await user.suspend()
    do {
      let other = await fixture.shelf().opened()
      try await other.onLane { () throws(TableError) in try other.remove(key(1)) }
      await other.leave(Coming(1, blocks: 1))
    }
    await user.resume()
    await shelf.write(Coming(1, blocks: 4), load)
    await shelf.end(Coming(1, blocks: 4), load)
    #expect(await shelf.blockCount(Coming(1, blocks: 4)) == 4)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("that could not be deleted are deleted when their load ends")
  func undeletable() async throws {
    let shelf = await fixture.shelf().opened()
    let load = shelf.load(Coming(1, blocks: 1))
    await shelf.write(Coming(1, blocks: 1), load)
    fixture.observe { call throws(SystemError) in
      guard [.write, .unlink].contains(call.kind) else { return }
      throw SystemError(call: call.kind, code: ENOSPC)
    }
    await shelf.write(Coming(1, blocks: 2), load)
    fixture.observe(nil)
    #expect(try names().contains { $0.hasSuffix(".part") })
    await shelf.end(Coming(1, blocks: 2), load)
    #expect(try names() == [IndexFile.name])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("stay at a sweep if they prove whose they are and have a block; the others go")
  func sweep() async throws {
    await fixture.shelf().opened().leave(Coming(1, blocks: 2))
    let folder = fixture.url.path + "/one/"
    let name = key(1).digest.fileName
    // A lost index is built again from the files.
    try FileManager.default.removeItem(atPath: folder + IndexFile.name)
    let terms = try Data(contentsOf: URL(fileURLWithPath: folder + name + ".terms"))
    let foreign = folder + key(2).digest.fileName
    for (suffix, bytes) in [(".part", Data(count: blockSize)), (".terms", terms)] {
      try bytes.write(to: URL(fileURLWithPath: foreign + suffix))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: foreign + suffix)
    }
    _ = try OriginalFolder(path: folder).beginPartial(key(4), Coming(4, blocks: 1).facts)
    let shelf = await fixture.shelf().opened()
    await shelf.keep(3)
    #expect(try !names().contains { $0.hasPrefix(key(2).digest.fileName) })
    #expect(try !names().contains { $0.hasPrefix(key(4).digest.fileName) })
    #expect(shelf.mayHavePartial(key(1)))
    #expect(await shelf.blockCount(Coming(1, blocks: 2)) == 2)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("go at a sweep after seven days, where no record tells of them")
  func sweepOfOld() async throws {
    await fixture.shelf().opened().leave(Coming(1, blocks: 2))
    try FileManager.default.removeItem(atPath: fixture.url.path + "/one/" + IndexFile.name)
    fixture.advance(seconds: 7 * 86_400)
    let shelf = await fixture.shelf().opened()
    await shelf.keep(3)
    #expect(try names() == [key(3).digest.fileName, IndexFile.name].sorted())
  }

  @Test(
    "have after a kill every block that was written, and no other byte", arguments: [false, true])
  func kills(isMidway: Bool) async throws {
    let coming = Coming(1, blocks: 4)
    for call in stride(from: 0, to: 200, by: Sanitizer.sweepStep) {
      let fixture = try ShelfFixture()
      let process = DyingProcess(after: call, isMidway: isMidway)
      var done = 0
      do {
        let shelf = fixture.shelf("one") { $0.system = process.system }
        let load = shelf.load(coming)
        await shelf.budget.run { try? shelf.open() }
        for blocks in 1...4 {
          await shelf.write(Coming(1, blocks: blocks), load)
          if !process.isDead { done = blocks }
        }
        let isHeld = shelf.hold(
          coming.whole, coming.key, coming.facts, RecordedFreshness(), for: load,
          from: PartialUse(load, arrival: 1)
        ) { true }
        #expect(isHeld)
        await shelf.budget.run { shelf.write(coming.key) }
        if !process.isDead { done = 5 }
        await shelf.end(coming, load, keeps: false)
      }
      let next = await fixture.shelf().opened()
      let original = try next.read(coming.key)?.bytes
      #expect(done == 5 ? original == coming.whole : [coming.whole, nil].contains(original))
      if original == nil, done > 0 {
        let count = await next.blockCount(coming) ?? 0
        #expect(count >= done, "call \(call)")
      }
      await next.leave(coming)
      #expect(await next.blockCount(coming) == 4, "call \(call)")
      #expect(next.usedByteCount == fixture.diskByteCount("one"), "call \(call)")
      if !process.isDead {
        #expect(call > 20)
        return
      }
    }
    Issue.record("Partials take ever more calls.")
  }
}
