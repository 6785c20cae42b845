import Foundation
import Locking
import TableStore
import TestSupport
import Testing

@testable import OriginalStore

@Suite("A removal of originals", .timeLimit(.minutes(8)))
struct ShelfRemovalTests {
  enum Kind: CaseIterable { case key, entity, audience, all }

  let fixture: ShelfFixture

  init() throws { fixture = try ShelfFixture() }

  /// Removes the original 1 of entity 5 and of Alice, and those like it.
  private func remove(_ kind: Kind, from shelf: OriginalShelf) async throws {
    try await shelf.onLane { () throws(TableError) in
      switch kind {
      case .key: try shelf.remove(key(1, audience: "alice"))
      case .entity: try shelf.removeAll(of: TableID(Int64(5)))
      case .audience: try shelf.removeAll(forAudience: "alice")
      case .all: try shelf.removeAll()
      }
    }
  }

  private func holds(
    _ number: Int, audience: String = "", for load: OriginalLoad?, in shelf: OriginalShelf
  ) -> Bool {
    let facts = OriginalFacts(entity: TableID(Int64(5)), stored: 1_700_000_000)
    return shelf.hold(
      content(number), key(number, audience: audience), facts, RecordedFreshness(), for: load
    ) { true }
  }

  /// Keeps the original 1, and 3 without a record, as a kill leaves it; 2 belongs to nobody of them.
  private func fill(_ shelf: OriginalShelf) async {
    await shelf.keep(1, entity: 5, audience: "alice")
    await shelf.keep(2, entity: 6)
    fixture.observe { call throws(SystemError) in
      guard call.kind == .write, call.offset > 0, call.bytes?.count == 128 else { return }
      throw SystemError(call: .write, code: EIO)
    }
    await shelf.keep(3, entity: 5, audience: "alice")
    fixture.observe(nil)
  }

  private func files() -> Int {
    let path = fixture.url.path + "/one"
    return (try? FileManager.default.contentsOfDirectory(atPath: path))?
      .filter { $0 != IndexFile.name }.count ?? 0
  }

  @Test("keeps loads that are under way from keeping what it takes", arguments: Kind.allCases)
  func forbidsLoads(kind: Kind) async throws {
    let shelf = fixture.shelf()
    do {
      let loads = (0..<2).map { _ in
        shelf.begin(key(1, audience: "alice"), of: TableID(Int64(5)))
      }
      let other = shelf.begin(key(2), of: TableID(Int64(6)))
      try await remove(kind, from: shelf)
      #expect(loads.allSatisfy { !holds(1, audience: "alice", for: $0, in: shelf) })
      #expect(holds(2, for: other, in: shelf) == (kind != .all))
      let later = shelf.begin(key(1, audience: "alice"), of: TableID(Int64(5)))
      #expect(holds(1, audience: "alice", for: later, in: shelf))
    }
    #expect(shelf.state.withLock { $0.loads.isEmpty })
  }

  @Test("of an original that turned out to be wrong lets loads under way keep another")
  func drops() async throws {
    let shelf = await fixture.shelf().opened()
    await shelf.keep(1)
    let load = shelf.begin(key(1), of: TableID(Int64(5)))
    let hash = try #require(try shelf.read(key(1))?.contentHash)
    try await shelf.onLane { () throws(TableError) in try shelf.drop(key(1), of: hash) }
    #expect(shelf.present(1...1) == [] && files() == 0)
    #expect(holds(1, for: load, in: shelf))
  }

  @Test(
    "takes what no record names, although another shelf owns the folder", arguments: Kind.allCases)
  func byGuest(kind: Kind) async throws {
    let first = await fixture.shelf().opened()
    await fill(first)
    let second = await fixture.shelf().opened()
    try await remove(kind, from: second)
    #expect(files() == (kind == .key ? 2 : kind == .all ? 0 : 1))
    #expect(first.present(2...2) == (kind == .all ? [] : [2]))
  }

  @Test("takes what no record names while its shelf is suspended", arguments: Kind.allCases)
  func whileSuspended(kind: Kind) async throws {
    let shelf = await fixture.shelf().opened()
    await fill(shelf)
    let user = OriginalUser(of: shelf)
    await user.suspend()
    try await remove(kind, from: shelf)
    #expect(files() == (kind == .key ? 2 : kind == .all ? 0 : 1))
    #expect(shelf.present(2...2) == (kind == .all ? [] : [2]))
    await user.resume()
  }

  @Test(
    "takes the partials of the same originals, whoever owns the folder", arguments: Kind.allCases)
  func partials(kind: Kind) async throws {
    let owner = await fixture.shelf().opened()
    await owner.keep(2, entity: 6)
    let folder = try OriginalFolder(path: fixture.url.path + "/one")
    let facts = OriginalFacts(entity: TableID(Int64(5)), stored: 1_700_000_000)
    _ = try folder.beginPartial(key(1, audience: "alice"), facts)
    let guest = await fixture.shelf().opened()
    try await remove(kind, from: guest)
    #expect(files() == (kind == .all ? 0 : 1))
  }

  @Test("takes what its shelf could not read when it swept the folder")
  func unreadAtSweep() async throws {
    do { await fill(await fixture.shelf().opened()) }
    let shelf = await fixture.shelf().opened()
    // The index is read, and the file without a record is not.
    fixture.fail(1, code: EIO, only: .read)
    await shelf.keep(4)
    fixture.fail(0, code: EIO, only: .read)
    await #expect(throws: TableError.self) { try await remove(.audience, from: shelf) }
    fixture.observe(nil)
    try await remove(.audience, from: shelf)
    #expect(files() == 2 && shelf.present(2...4) == [2, 4])
  }

  @Test("needs no index that can be read", arguments: Kind.allCases)
  func unreadableIndex(kind: Kind) async throws {
    let owner = await fixture.shelf().opened()
    await fill(owner)
    let guest = fixture.shelf()
    fixture.fail(0, code: EIO, only: .read)
    try await remove(kind, from: guest)
    #expect(files() == (kind == .key ? 2 : kind == .all ? 0 : 1))
  }

  @Test("throws where it cannot tell whose a file is, or delete one, and takes the others")
  func throwsAfterwards() async throws {
    let owner = await fixture.shelf().opened()
    await fill(owner)
    let guest = fixture.shelf()
    // Without the index and one file, of two or three.
    fixture.fail(0, count: 2, code: EIO, only: .read)
    await #expect(throws: TableError.self) { try await remove(.audience, from: guest) }
    #expect(files() < 3)
    fixture.fail(0, code: EIO, only: .unlink)
    await #expect(throws: TableError.self) { try await remove(.all, from: guest) }
    fixture.fail(0, code: EIO, only: .list)
    await #expect(throws: TableError.self) { try await remove(.all, from: guest) }
    fixture.observe(nil)
    try await remove(.all, from: guest)
    #expect(files() == 0)
  }

  @Test("makes neither a folder nor an index, and nor does a flush")
  func makesNothing() async throws {
    let shelf = fixture.shelf()
    for kind in Kind.allCases { try await remove(kind, from: shelf) }
    try await shelf.onLane { () throws(TableError) in try shelf.flush() }
    let folder = fixture.url.path + "/one"
    #expect(!FileManager.default.fileExists(atPath: folder))
    do { await fixture.shelf().opened().keep(1) }
    try FileManager.default.removeItem(atPath: folder + "/" + IndexFile.name)
    for kind in Kind.allCases { try await remove(kind, from: shelf) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
  }
}
