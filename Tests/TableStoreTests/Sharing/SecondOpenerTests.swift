import Foundation
import TestSupport
import Testing

@testable import TableStore

/// A second opener of a table: like another process, it opens the file past the registry, which
/// would let it share the first opening's core.
struct Stranger {
  let core: TableCore

  init(
    _ fixture: Fixture, slots: Int = 8, protection: FileProtection = .none,
    system: SystemCalls = .live
  ) throws {
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "rows",
      layout: TableLayout(geometry: Fixture.geometry, capacity: .slots(slots)),
      protection: protection, system: system)
    core = try TableCore(opener: opener, opened: opener.open())
  }

  func store(_ key: TableKey, from table: Table) throws {
    _ = try core.insert(table.sealed(key))
  }

  func shows(_ key: TableKey) -> Bool { core.entry(for: key)?.shows(key) ?? false }
}

@Suite("A second opener", .timeLimit(.wholeRun))
struct SecondOpenerTests {
  let fixture: Fixture
  let table: Table

  init() throws {
    fixture = try Fixture()
    table = try fixture.open()
  }

  @Test("finds the owner's images, also those stored later")
  func readsOwner() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    #expect(!stranger.core.statistics.isOwner)
    #expect(stranger.shows(key(1)))
    #expect(stranger.core.entry(for: key(1))?.isPrivate == true)
    #expect(stranger.core.entry(for: key(2)) == nil)
    try table.store(key(2))
    #expect(stranger.core.contains(key(2)))
    #expect(stranger.shows(key(2)))
    try table.store(key(1, 2))
    #expect(stranger.shows(key(1, 2)))
    #expect(stranger.core.entry(for: key(1, 1)) == nil)
  }

  @Test("follows the owner to a new file when that empties the table")
  func followsOwner() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    #expect(stranger.shows(key(1)))
    try table.removeAll()
    #expect(stranger.core.entry(for: key(1)) == nil)
    try table.store(key(2))
    #expect(stranger.shows(key(2)))
  }

  @Test("forgets the images of a file that lost its name")
  func forgetsLostFile() throws {
    try table.store(key(1))
    let stranger = try Stranger(fixture)
    #expect(stranger.core.contains(key(1)))
    try FileManager.default.removeItem(atPath: fixture.filePath())
    #expect(stranger.core.entry(for: key(1)) == nil)
    #expect(!stranger.core.contains(key(1)))
  }

  @Test("owns a new file when the first one's lost its name", arguments: [false, true])
  func replacesLostFile(isRenamed: Bool) throws {
    try table.store(key(1))
    let path = try fixture.filePath()
    if isRenamed {
      try FileManager.default.moveItem(atPath: path, toPath: path + ".elsewhere")
    } else {
      try FileManager.default.removeItem(atPath: path)
    }
    let stranger = try Stranger(fixture)
    #expect(stranger.core.statistics.isOwner)
    #expect(!stranger.shows(key(1)))
    try stranger.store(key(2), from: table)
    // The first one goes on with the file that it has.
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    try table.store(key(3))
    #expect(table.present(1...3) == [1, 3])
    #expect((1...3).filter { stranger.shows(key($0)) } == [2])
    stranger.core.close()
  }

  @Test("does not find an image that it removed, until that is stored anew")
  func hidesRemoved() throws {
    try table.store(key(1))
    try table.store(key(2))
    let stranger = try Stranger(fixture)
    #expect(try stranger.core.remove(key(1).entity))
    #expect(try !stranger.core.remove(key(9).entity))
    #expect(stranger.core.entry(for: key(1)) == nil)
    #expect(!stranger.core.contains(key(1)))
    #expect(stranger.shows(key(2)))
    try stranger.core.removeAll()
    #expect(stranger.core.entry(for: key(2)) == nil)
    #expect(table.present(1...2) == [1, 2])
    try table.store(key(1, 2))
    #expect(stranger.shows(key(1, 2)))
  }

  @Test("becomes the owner when the first one is gone, and moves its images into the file")
  func becomesOwner() throws {
    for entity in 1...3 { try table.store(key(entity)) }
    var stranger: Stranger? = try Stranger(fixture)
    try stranger?.store(key(4), from: table)
    _ = try stranger?.core.remove(key(2).entity)
    let sealed = try table.sealed(key(5))
    table.close()
    _ = try stranger?.core.insert(sealed)
    #expect(stranger?.core.statistics.isOwner == true)
    let expected = [1, 3, 4, 5]
    #expect((1...5).filter { stranger?.shows(key($0)) == true } == expected)
    stranger?.core.close()
    stranger = nil
    let reopened = try fixture.open()
    #expect(reopened.statistics.isOwner)
    for entity in 1...5 {
      #expect(
        (reopened.entry(for: key(entity))?.shows(key(entity)) ?? false) == expected.contains(entity)
      )
    }
  }

  @Test("keeps leased images when it becomes the owner")
  func keepsLeases() throws {
    let stranger = try Stranger(fixture, slots: 2)
    let own = try stranger.core.insert(table.sealed(key(1))).entry
    let sealed = try (2...6).map { try table.sealed(key($0)) }
    table.close()
    for image in sealed { _ = try stranger.core.insert(image) }
    #expect(stranger.core.statistics.isOwner)
    #expect(own.shows(key(1)))
  }

  @Test("works where the owner has another geometry")
  func ignoresOtherGeometry() throws {
    try table.store(key(1))
    let geometry = TableGeometry(width: 8, height: 4, rowByteCount: 64, pixelFormat: 7)
    let opener = try TableOpener(
      directory: TableDirectory(path: fixture.path), name: "rows",
      layout: TableLayout(geometry: geometry, capacity: .slots(8)), system: .live)
    let core = try TableCore(opener: opener, opened: opener.open())
    #expect(core.entry(for: key(1)) == nil)
    #expect(!core.statistics.isOwner)
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
  }

  @Test("shows no torn image while the owner writes without pause")
  func toleratesWriter() async throws {
    let stranger = try Stranger(fixture, slots: 4)
    let table = table
    let sealed = try (0..<6).map { try table.sealed(key($0)) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for round in 0..<300 { _ = try table.insert(sealed[round % 6]) }
      }
      group.addTask {
        for round in 0..<300 {
          if let entry = stranger.core.entry(for: key(round % 6)) {
            #expect(entry.shows(key(round % 6)))
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

@Suite("Two processes on one table", .timeLimit(.wholeRun))
struct TwoProcessTests {
  @Test("let the second read, then own, and lose nothing")
  func shareATable() async throws {
    let fixture = try Fixture()
    let table = try fixture.open()
    for entity in 1...3 { try table.store(key(entity)) }
    let path = fixture.path
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      let table = try Fixture(path: path).open()
      let reads = (1...3).allSatisfy { table.entry(for: key($0))?.shows(key($0)) == true }
      try table.store(key(4))
      let stores = table.entry(for: key(4))?.shows(key(4)) == true
      exit(reads && stores && !table.statistics.isOwner ? 7 : 1)
    }
    #expect(table.present(1...4) == [1, 2, 3])
    table.close()
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      let table = try Fixture(path: path).open()
      try table.store(key(5))
      exit(table.present(1...5) == [1, 2, 3, 4, 5] && table.statistics.isOwner ? 7 : 1)
    }
    let reopened = try fixture.open()
    #expect(reopened.statistics.isOwner)
    for entity in 1...5 {
      #expect(reopened.entry(for: key(entity))?.shows(key(entity)) == true)
    }
  }

  @Test("leave the owner's file to the parent after a fork")
  func separateAfterFork() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try Fixture()
      let table = try fixture.open(slots: 2)
      try table.store(key(1))
      let held = try table.store(key(2))
      let sealed = try (3...5).map { try table.sealed(key($0)) }
      let other = try fixture.open("other")
      let first = try other.sealed(key(1))
      let code = exitCodeOfFork {
        let reads = table.entry(for: key(1))?.shows(key(1)) == true && held.shows(key(2))
        let isPrivate = table.entry(for: key(1))?.isPrivate == true
        for image in sealed { _ = try table.insert(image) }
        let isSecond = !table.statistics.isOwner
        let stores = table.entry(for: key(5))?.shows(key(5)) == true
        table.close()
        // A change notices the fork, too, without a lookup before it.
        _ = try other.insert(first)
        let isSecondToo = !other.statistics.isOwner
        other.close()
        return reads && isPrivate && isSecond && stores && isSecondToo ? 7 : 1
      }
      guard code == 7, table.present(1...5) == [1, 2] else { exit(3) }
      // The child has closed its copy; the lock must still be the parent's.
      let opener = try TableOpener(
        directory: TableDirectory(path: fixture.path), name: "rows",
        layout: TableLayout(geometry: Fixture.geometry, capacity: .slots(2)), system: .live)
      guard try opener.open() == nil, table.entry(for: key(1))?.shows(key(1)) == true else {
        exit(4)
      }
      exit(7)
    }
  }

  @Test("change nothing in the index that a parent and its child have mapped")
  func leavesIndexAfterFork() async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try Fixture()
      let filled = try fixture.open()
      for entity in 1...4 { try filled.store(key(entity)) }
      let table = try fixture.reopen(filled)
      let index = try fixture.indexBytes
      // A record that is not whole takes its image out of the index that sees it.
      let file = open(try fixture.filePath(), O_RDWR)
      guard pwrite(file, [9], 1, off_t(TableLayout.recordsOffset)) == 1 else { exit(2) }
      let code = exitCodeOfFork {
        let isThere = table.contains(key(1)) || table.contains(key(1).entity)
        let isStored = table.storedImageState(for: key(1)) != nil
        let finds = table.contains(key(2)) && !table.statistics.isOwner
        _ = try? table.entries()
        return !isThere && !isStored && finds ? 7 : 1
      }
      let isSame = try fixture.indexBytes == index
      exit(code == 7 && isSame ? 7 : 3)
    }
  }
}
