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
