import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A shelf after faults", .timeLimit(.minutes(8)))
struct ShelfFaultTests {
  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  @Test("misses what is damaged, says so and deletes it")
  func damage() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    _ = fixture.events()
    let path = fixture.path(key(1))
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    bytes[5_000] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path))
    #expect(try shelf.read(key(1)) == nil)
    #expect(fixture.events() == [.damaged(key(1).id)])
    await shelf.budget.run {}
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(shelf.look(key(1)) == nil)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("keeps the older original where the disk is full, and goes on afterwards")
  func diskFull() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    fixture.fail(0, count: .max, code: ENOSPC, only: .write)
    await shelf.keep(1, version: 2)
    fixture.observe(nil)
    #expect(shelf.present(1...1) == [1])
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
    await shelf.keep(1, version: 2)
    #expect(shelf.present(1...1, version: 2) == [1])
  }

  @Test("shows no wrong byte and stays in its budget, whichever call fails", arguments: [1, 3])
  func eachCall(count: Int) async throws {
    for number in stride(from: 0, to: Int.max, by: Sanitizer.sweepStep) {
      let fixture = try ShelfFixture()
      let budget = OriginalBudget(byteCount: 60_000)
      let shelf = fixture.shelf("one", budget)
      let (calls, worst) = (Counter(), Lock(0))
      fixture.observe { call throws(SystemError) in
        worst.withLock { [used = fixture.diskByteCount("one")] in $0 = max($0, used) }
        let own = calls.increment() - 1
        if (number..<number + count).contains(own) {
          throw SystemError(call: call.kind, code: EIO)
        }
      }
      _ = await shelf.opened()
      for step in 1...7 {
        await shelf.keep(step % 5, version: 1)
        _ = try? shelf.read(key(step % 3))
      }
      try? await shelf.onLane { () throws(TableError) in try shelf.remove(key(1)) }
      let callCount = calls.value
      fixture.observe(nil)
      #expect(worst.withLock { $0 } <= 60_000, "call \(number)")
      #expect(shelf.present(0...5).allSatisfy { $0 >= 0 }, "call \(number)")
      await shelf.keep(5)
      #expect(shelf.present(5...5) == [5], "call \(number)")
      #expect(budget.usedByteCount == fixture.diskByteCount("one"), "call \(number)")
      if number > callCount { break }
    }
  }

  @Test(
    "adopts a file without a record as one whose freshness is over, and forgets one without a file")
  func missingRecordAndFile() async throws {
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    await shelf?.keep(1)
    await shelf?.keep(2)
    // As a kill between the renaming and the record leaves it.
    let count = Lock(0)
    fixture.observe { call throws(SystemError) in
      guard call.kind == .write, call.offset > 0, call.bytes?.count == 128 else { return }
      count.withLock { $0 += 1 }
      throw SystemError(call: .write, code: EIO)
    }
    await shelf?.keep(3, RecordedFreshness(answered: 1, freshFor: 1 << 20))
    shelf = nil
    fixture.observe(nil)
    #expect(count.withLock { $0 } > 0)
    try FileManager.default.removeItem(atPath: fixture.path(key(2)))
    #expect(
      FileManager.default.createFile(
        atPath: fixture.url.path + "/one/new-0123456789abcdef", contents: Data("x".utf8),
        attributes: [.posixPermissions: 0o600]))
    let second = await fixture.shelf().opened()
    #expect(second.look(key(3)) == nil)
    #expect(try second.read(key(3))?.bytes == content(3))
    await second.keep(4)
    #expect(second.look(key(3))?.freshFor == 0)
    #expect(second.look(key(2)) == nil)
    #expect(second.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test(
    "builds a lost index again behind the first miss",
    arguments: [nil, Data(), Data(repeating: 0, count: 4096), Data("garbage".utf8)])
  func lostIndex(bytes: Data?) async throws {
    var shelf: OriginalShelf? = await fixture.shelf().opened()
    for number in 1...3 { await shelf?.keep(number, entity: 9) }
    shelf = nil
    let index = fixture.url.appendingPathComponent("one/originals.index")
    try FileManager.default.removeItem(at: index)
    if let bytes {
      #expect(
        FileManager.default.createFile(
          atPath: index.path, contents: bytes, attributes: [.posixPermissions: 0o600]))
    }
    let second = await fixture.shelf().opened()
    await second.budget.run {}
    #expect((1...3).allSatisfy { second.look(key($0)) != nil })
    try await second.onLane { () throws(TableError) in try second.removeAll(of: TableID(Int64(9))) }
    #expect(second.present(1...3) == [])
  }

  @Test("misses all when its folder is deleted, and makes it anew when the next original comes")
  func deletedFolder() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    try FileManager.default.removeItem(at: fixture.url.appendingPathComponent("one"))
    #expect(try shelf.read(key(1)) == nil)
    await shelf.keep(2)
    #expect(shelf.present(1...2) == [2])
    #expect(shelf.look(key(1)) == nil)
    #expect(shelf.usedByteCount == fixture.diskByteCount("one"))
  }

  @Test("says that the device is locked instead of missing")
  func locked() async throws {
    let shelf = await fixture.shelf(hasFileProtection: true).opened()
    await shelf.keep(1)
    fixture.fail(0, count: .max, code: EPERM, only: .open)
    #expect(throws: TableError.self) { try shelf.read(key(1)) }
    #expect(shelf.look(key(1)) != nil)
    fixture.observe(nil)
    #expect(shelf.present(1...1) == [1])
  }
}
