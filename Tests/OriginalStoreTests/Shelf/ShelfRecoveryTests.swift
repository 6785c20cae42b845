import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A shelf recovers", .timeLimit(.minutes(8)))
struct ShelfRecoveryTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  private var index: String { fixture.url.path + "/one/" + IndexFile.name }

  private func put(_ bytes: Data, _ name: String) {
    #expect(
      FileManager.default.createFile(
        atPath: fixture.url.path + "/one/" + name, contents: bytes,
        attributes: [.posixPermissions: 0o600]))
  }

  // MARK: The sweep

  @Test("from a file that it cannot read, which counts and is adopted by the next session")
  func unreadable() async throws {
    var first: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...3 { await first?.keep(number) }
    first = nil
    try FileManager.default.removeItem(atPath: index)
    fixture.fail(0, code: EIO, only: .read)
    var second: OriginalShelf? = fixture.shelf()
    _ = fixture.events()
    await second?.keep(4)
    fixture.observe(nil)
    #expect(fixture.events() == [.stored(key(4).id)])
    #expect(second?.present(1...4) == [1, 2, 3, 4])
    #expect(second?.usedByteCount == fixture.diskByteCount("one"))
    second = nil
    let third = await fixture.shelf().opened()
    await third.keep(5)
    #expect((1...5).allSatisfy { third.look(key($0)) != nil })
  }

  @Test("from a file that it cannot read by evicting it where room is needed")
  func unreadableMakesRoom() async throws {
    var first: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...4 { await first?.keep(number) }
    first = nil
    try FileManager.default.removeItem(atPath: index)
    fixture.fail(0, count: .max, code: EIO, only: .read)
    let second = fixture.shelf("one", OriginalBudget(byteCount: 4 * 12_288 + 4096))
    await second.keep(5)
    await second.keep(6)
    fixture.observe(nil)
    #expect(second.present(5...6) == [5, 6])
    #expect(second.present(1...4).count == 2)
    #expect(second.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("from files that it cannot delete, and from foreign ones, which count")
  func undeletable() async throws {
    try FileManager.default.createDirectory(
      atPath: fixture.url.path + "/one", withIntermediateDirectories: true)
    put(Data(count: 5000), "new-0123456789abcdef")
    put(Data(count: 5000), key(9).digest.fileName)
    put(Data(count: 5000), "notes.txt")
    fixture.fail(0, count: .max, code: EPERM, only: .unlink)
    let shelf = fixture.shelf()
    await shelf.keep(1)
    #expect(fixture.events() == [.stored(key(1).id)])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    #expect(fixture.diskByteCount("one") == 3 * 8192 + 12_288 + 4096)
  }

  @Test("from a failed write without another look at the folder, unless a file is left")
  func failedWrites() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    let (lists, failing) = (Counter(), Lock<Set<SystemCall.Kind>>([]))
    fixture.observe { call throws(SystemError) in
      if call.kind == .list { lists.increment() }
      guard failing.withLock({ $0.contains(call.kind) }) else { return }
      throw SystemError(call: call.kind, code: ENOSPC)
    }
    for kind in [SystemCall.Kind.write, .rename, .open] {
      failing.withLock { $0 = [kind] }
      await shelf.keep(2)
      failing.withLock { $0 = [] }
      await shelf.keep(3)
      #expect(lists.value == 0, "\(kind)")
      #expect(shelf.usedByteCount == fixture.diskByteCount("one"), "\(kind)")
    }
    failing.withLock { $0 = [.write, .unlink] }
    await shelf.keep(2)
    failing.withLock { $0 = [] }
    await shelf.keep(2)
    #expect(lists.value == 1)
    #expect(shelf.present(1...3) == [1, 2, 3])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  // MARK: Records

  @Test(
    "from a kill between a newer file's name and its record: the older record does not speak for it"
  )
  func killedReplacing() async throws {
    let long = RecordedFreshness(answered: 1_700_000_000, freshFor: 1 << 20)
    var first: OriginalShelf? = await fixture.shelf().opened()
    await first?.keep(1, long)
    let isDead = Lock(false)
    fixture.observe { call throws(SystemError) in
      if isDead.withLock({ $0 }) { throw SystemError(call: call.kind, code: ENOTRECOVERABLE) }
      if call.kind == .rename { isDead.withLock { $0 = true } }
    }
    await first?.keep(1, version: 2, RecordedFreshness(mustRevalidate: true))
    first = nil
    fixture.observe(nil)
    let second = await fixture.shelf().opened()
    #expect(second.look(key(1))?.freshFor != long.freshFor)
    await second.keep(2)
    #expect(second.look(key(1))?.freshness == RecordedFreshness())
    #expect(second.present(1...1, version: 2) == [1])
  }

  @Test("from a power cut that took a record: reading its file puts it right, for good")
  func olderRecord() async throws {
    let long = RecordedFreshness(answered: 1_700_000_000, freshFor: 1 << 20)
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    await shelf?.keep(1, long)
    let older = try Data(contentsOf: URL(fileURLWithPath: index))
    await shelf?.keep(1, version: 2, RecordedFreshness(mustRevalidate: true))
    shelf = nil
    try older.write(to: URL(fileURLWithPath: index))
    for session in 1...2 {
      let later = await fixture.shelf().opened()
      await later.budget.run { _ = try? later.prepare() }
      #expect(later.look(key(1))?.freshness == (session == 1 ? long : RecordedFreshness()))
      #expect(later.present(1...1, version: 2) == [1])
      #expect(later.look(key(1))?.freshness == RecordedFreshness())
      #expect(later.usedByteCount == fixture.diskByteCount("one"))
    }
  }

  @Test("from a failed replacement with the older original's record")
  func failedReplacement() async throws {
    let long = RecordedFreshness(answered: 1_700_000_000, freshFor: 1 << 20)
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    await shelf?.keep(1, long)
    fixture.fail(0, code: EIO, only: .rename)
    await shelf?.keep(1, version: 2)
    fixture.observe(nil)
    #expect(shelf?.present(1...1) == [1])
    shelf = nil
    #expect(await fixture.shelf().opened().look(key(1))?.freshness == long)
  }

  // MARK: The index

  @Test("from an index of garbage, which counts no more once another is in its place")
  func garbage() async throws {
    let shelf = await fixture.shelf().opened()
    put(Data(repeating: 7, count: 40_960), IndexFile.name)
    await shelf.keep(1)
    #expect(shelf.present(1...1) == [1])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("the records that its forerunner wrote before it gave the index up")
  func grownIndex() async throws {
    let long = RecordedFreshness(answered: 1_700_000_000, freshFor: 1 << 20)
    var first: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...40 { await first?.keep(number, byteCount: 10, long) }
    first = nil
    let whole = try Data(contentsOf: URL(fileURLWithPath: index))
    try whole.prefix(256).write(to: URL(fileURLWithPath: index))
    let path = index
    fixture.observe { call throws(SystemError) in
      guard call.kind == .lock, let file = FileHandle(forWritingAtPath: path) else { return }
      file.write(whole)
    }
    let second = fixture.shelf()
    await second.keep(41, byteCount: 10)
    fixture.observe(nil)
    #expect((1...40).allSatisfy { second.look(key($0))?.freshness == long })
    #expect(second.usedByteCount == fixture.diskByteCount("one"))
  }

  // MARK: Forks

  @Test("nothing of its parent's in a child of a fork: the parent goes on owning the folder")
  func fork() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try ShelfFixture()
      var shelf: OriginalShelf? = await fixture.shelf().opened()
      await shelf?.keep(1)
      await shelf?.keep(2)
      let budget = OriginalBudget(byteCount: 2 << 20)
      shelf = fixture.shelf("one", budget)
      // Owns the folder from this thread: no other one is at work on the lane while it forks.
      budget.setByteCount(1 << 20)
      _ = try shelf?.read(key(1))
      let index = fixture.url.appendingPathComponent("one/originals.index")
      let before = try Data(contentsOf: index)
      // Swift hides fork(2) itself.
      typealias Fork = @convention(c) () -> Int32
      guard let symbol = dlsym(LinkedSymbols.everywhere, "fork") else { exit(2) }
      let child = unsafeBitCast(symbol, to: Fork.self)()
      if child == 0 {
        // As an owner it would delete both, and write the use of the first as it goes.
        budget.setByteCount(0)
        let isWhole = shelf?.present(1...2) == [1, 2]
        shelf = nil
        _exit(isWhole ? 7 : 1)
      }
      var status: Int32 = 0
      waitpid(child, &status, 0)
      guard status >> 8 & 0xff == 7, try Data(contentsOf: index) == before else { exit(3) }
      // The child has closed its copy; the lock must still be the parent's.
      let second = await fixture.shelf().opened()
      await second.keep(3)
      _ = await shelf?.keep(4)
      exit(second.present(1...4) == [1, 2, 4] ? 7 : 4)
    }
  }
}
