import Foundation
import Locking
import Testing

@testable import TableStore

@Suite("A table directory", .timeLimit(.wholeRun))
struct HostilePathTests {
  let fixture: Fixture
  private let manager = FileManager.default

  init() throws {
    fixture = try Fixture()
    try manager.createDirectory(atPath: fixture.path, withIntermediateDirectories: true)
  }

  private var outside: String { fixture.path + "/../precious" }

  private func checkReplaced() throws {
    let table = try fixture.open()
    #expect(table.statistics.isOwner)
    try table.store(key(1))
    #expect(table.entry(for: key(1))?.shows(key(1)) == true)
    table.close()
    let type = try manager.attributesOfItem(atPath: fixture.filePath())[.type] as? FileAttributeType
    #expect(type == .typeRegular)
    #expect(try fixture.open().entry(for: key(1))?.shows(key(1)) == true)
  }

  enum Taken: CaseIterable { case link, hardLink, danglingLink, pipe }

  @Test("replaces a link or pipe at a table's name, and not its target", arguments: Taken.allCases)
  func replacesLinks(taken: Taken) throws {
    if taken != .danglingLink {
      try "precious".write(toFile: outside, atomically: false, encoding: .utf8)
      try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: outside)
    }
    switch taken {
    case .hardLink: try manager.linkItem(atPath: outside, toPath: fixture.filePath())
    case .pipe: #expect(mkfifo(try fixture.filePath(), 0o600) == 0)
    case .link, .danglingLink:
      try manager.createSymbolicLink(
        atPath: fixture.filePath(), withDestinationPath: "../precious")
    }
    try checkReplaced()
    let text = try? String(contentsOfFile: outside, encoding: .utf8)
    #expect(text == (taken == .danglingLink ? nil : "precious"))
  }

  @Test("writes to no file that has another name too, be it empty or a table")
  func replacesHardLinks() throws {
    try fixture.open().store(key(2))
    try manager.moveItem(atPath: fixture.filePath(), toPath: outside)
    let whole = try Data(contentsOf: URL(fileURLWithPath: outside))
    for content in [whole, Data()] {
      try content.write(to: URL(fileURLWithPath: outside))
      try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: outside)
      try? manager.removeItem(atPath: fixture.filePath())
      try manager.linkItem(atPath: outside, toPath: fixture.filePath())
      try checkReplaced()
      #expect(try Data(contentsOf: URL(fileURLWithPath: outside)) == content)
    }
  }

  @Test("replaces a pipe that takes a table's name while it is opened")
  func replacesSuddenPipes() throws {
    try fixture.open().store(key(2))
    let path = try fixture.filePath()
    let isDone = Lock(false)
    let system = SystemCalls { call throws(SystemError) in
      guard call.kind == .open else { return }
      let isFirst = isDone.withLock { isDone in
        defer { isDone = true }
        return !isDone
      }
      guard isFirst else { return }
      // The opener has looked at the name already, and it led to a table.
      unlink(path)
      mkfifo(path, 0o600)
    }
    let directory = try TableDirectory(path: fixture.path)
    let table = try Table(
      name: "rows", in: directory, geometry: Fixture.geometry, capacity: .slots(8), system: system)
    #expect(isDone.withLock { $0 })
    #expect(table.statistics.isOwner)
    try table.store(key(1))
    table.close()
    try checkReplaced()
  }

  /// The device reads as zeros without end.
  @Test(
    "replaces a socket and a device at a table's name",
    .enabled(if: geteuid() == 0, "Only root makes devices."), arguments: [S_IFSOCK, S_IFCHR])
  func replacesNodes(kind: mode_t) throws {
    try #require(mknod(try fixture.filePath(), kind | 0o600, 1 << 8 | 5) == 0)
    try checkReplaced()
  }

  @Test("replaces a table of another user's", .enabled(if: geteuid() == 0, "Only root gives away."))
  func replacesForeignFiles() throws {
    try fixture.open().store(key(2))
    try #require(chown(try fixture.filePath(), 12_345, 12_345) == 0)
    #expect(try !fixture.open().contains(key(2)))
    try checkReplaced()
    let owner = try manager.attributesOfItem(atPath: fixture.filePath())[.ownerAccountID]
    #expect((owner as? NSNumber)?.intValue == 0)
  }

  @Test("replaces a table that other users may read or write", arguments: [0o666, 0o640, 0o000])
  func replacesPublicFiles(mode: Int) throws {
    try fixture.open().store(key(2))
    try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: fixture.filePath())
    let reopened = try fixture.open()
    // A file without any permission is still this user's alone.
    #expect(reopened.contains(key(2)) == (mode & 0o077 == 0 && geteuid() == 0))
    reopened.close()
    if mode != 0 { try checkReplaced() }
  }

  @Test("refuses a table whose name is taken by a directory, and leaves that alone")
  func refusesDirectories() throws {
    let file = try fixture.filePath()
    try manager.createDirectory(atPath: file, withIntermediateDirectories: false)
    try "kept".write(toFile: file + "/kept", atomically: false, encoding: .utf8)
    #expect(throws: TableError.occupied(path: file)) { try fixture.open() }
    #expect(manager.fileExists(atPath: file + "/kept"))
    #expect(try fixture.fileCount == 1)
  }

  @Test("refuses to be a file or a link")
  func refusesOtherPaths() throws {
    try "a file".write(toFile: outside, atomically: false, encoding: .utf8)
    #expect(throws: TableError.noFolder(path: outside)) { try TableDirectory(path: outside) }
    let link = fixture.path + "/../link"
    try manager.createSymbolicLink(atPath: link, withDestinationPath: fixture.path)
    #expect(throws: TableError.noFolder(path: link)) { try TableDirectory(path: link) }
    for below in ["/below", "/below/deeper"] {
      #expect(throws: TableError.noFolder(path: outside)) {
        try TableDirectory(path: outside + below)
      }
    }
  }

  @Test("has tables that go on when it is deleted")
  func survivesDeletion() throws {
    let table = try fixture.open()
    let entry = try table.store(key(1))
    try manager.removeItem(atPath: fixture.path)
    #expect(entry.shows(key(1)))
    try table.store(key(2))
    #expect(table.entry(for: key(2))?.shows(key(2)) == true)
    let fresh = try fixture.reopen(table)
    #expect(fresh.present(1...2).isEmpty)
    try fresh.store(key(3))
  }

  @Test(
    "keeps every name inside itself",
    arguments: [
      "../../etc/passwd", "a/b", "a\0b", ".", "..", " ", "\u{202e}", "-rf",
      String(repeating: "n", count: 255),
    ])
  func keepsNamesInside(name: String) throws {
    try fixture.open(name).store(key(1))
    let files = try fixture.fileNames
    #expect(files == [try TableDirectory.fileName(for: name)])
    let file = try #require(files.first)
    let allowed = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
    #expect(file.hasSuffix(".imagetable"))
    #expect(Set(file.dropLast(".imagetable".count)).isSubset(of: allowed))
    #expect(file.utf8.count <= 64)
    #expect(try fixture.open(name).entry(for: key(1))?.shows(key(1)) == true)
    #expect(try TableDirectory(path: fixture.path).tables().map(\.name) == [name])
  }

  @Test("tells names apart that a file system may join")
  func separatesNames() throws {
    let names = ["Foo", "foo", "é", "e\u{301}", "a/b", "a-b", "a b"]
    let files = try names.map { try TableDirectory.safeName(for: $0).lowercased() }
    #expect(Set(files).count == names.count)
  }

  @Test("refuses names that are empty or too long", arguments: [0, 256, 10_000])
  func refusesNames(count: Int) throws {
    let name = String(repeating: "n", count: count)
    #expect(throws: TableError.invalidName(name)) { try fixture.open(name) }
  }

  @Test("deletes tables that are not wanted any more, and nothing else")
  func deletesOnlyTables() throws {
    for name in ["old", "kept", "open"] {
      try fixture.open(name).store(key(1))
    }
    let open = try fixture.open("open")
    let stranger = fixture.path + "/holiday.imagetable"
    let note = fixture.path + "/note.txt"
    for path in [stranger, note] {
      try "mine".write(toFile: path, atomically: false, encoding: .utf8)
    }
    let link = fixture.path + "/link.imagetable"
    try manager.createSymbolicLink(
      atPath: link, withDestinationPath: TableDirectory.fileName(for: "kept"))
    #expect(try TableDirectory(path: fixture.path).removeTables(except: ["kept"]) == 1)
    let left = try Set(manager.contentsOfDirectory(atPath: fixture.path))
    let tables = try ["kept", "open"].map { try TableDirectory.fileName(for: $0) }
    #expect(
      left == [
        tables[0], tables[0] + "-index", tables[1], tables[1] + "-index",
        "holiday.imagetable", "note.txt", "link.imagetable",
      ])
    #expect(open.contains(key(1)))
  }

  @Test("deletes no file that took a table's name meanwhile, and accepts that one is gone")
  func deletesWhatItLocked() throws {
    let name = try TableDirectory.fileName(for: "old")
    let path = fixture.path + "/" + name
    for isDeletion in [false, true] {
      try fixture.open("old").store(key(1))
      let isDone = Lock(false)
      let system = SystemCalls { call throws(SystemError) in
        let isFirst = isDone.withLock { isDone in
          defer { isDone = isDone || call.kind == (isDeletion ? .open : .lock) }
          return !isDone && call.kind == (isDeletion ? .open : .lock)
        }
        guard isFirst else { return }
        unlink(path)
        if !isDeletion { close(open(path, O_RDWR | O_CREAT, 0o600)) }
      }
      let directory = try TableDirectory(path: fixture.path, system: system)
      #expect(try directory.removeTables(except: []) == 0)
      #expect(manager.fileExists(atPath: path) != isDeletion)
    }
  }

  @Test("deletes unfinished replacements, and no file with a similar name")
  func sweepsLeftovers() throws {
    try fixture.open().store(key(1))
    let table = try fixture.filePath()
    let whole = table + "-new-0123456789abcdef"
    try manager.copyItem(atPath: table, toPath: whole)
    try Data().write(to: URL(fileURLWithPath: table + "-new-1123456789abcdef"))
    let alike = table + "-new-2123456789abcdef"
    try "mine".write(toFile: alike, atomically: false, encoding: .utf8)
    let lonely = fixture.path + "/gone.imagetable-index"
    try manager.copyItem(atPath: table + "-index", toPath: lonely)
    _ = try TableDirectory(path: fixture.path)
    let left = try Set(
      manager.contentsOfDirectory(atPath: fixture.path).map { fixture.path + "/" + $0 })
    #expect(left == [table, table + "-index", alike])
  }

  @Test("shows its tables, their images and the damaged ones to tools that know no format")
  func inspectsTables() throws {
    let table = try fixture.open("Rows of Photos", slots: 5)
    for entity in 1...3 { try table.store(key(entity), metadata: [UInt8(entity)]) }
    func reader() throws -> TableReader {
      let found = try TableDirectory(path: fixture.path).tables()
      #expect(found.count == 1)
      return try #require(found.first)
    }
    for isOpen in [true, false] {
      if !isOpen { table.close() }
      let reader = try reader()
      #expect(reader.name == "Rows of Photos")
      #expect(reader.geometry == Fixture.geometry)
      #expect(reader.slotCount == 5)
      #expect(reader.diskByteCount > 3 * 1024)
      let (entries, damages) = reader.scan()
      #expect(entries.map { "\($0.entity)" } == ["entity 1", "entity 2", "entity 3"])
      #expect(entries.map(\.metadata) == [[1], [2], [3]])
      #expect(damages.isEmpty)
      #expect(reader.entry(of: key(2).entity)?.shows(key(2)) == true)
      #expect(reader.entry(of: key(4).entity) == nil)
    }
    let layout = try TableLayout(geometry: Fixture.geometry, capacity: .slots(5))
    var bytes = try fixture.bytes("Rows of Photos")
    bytes[layout.slotOffset(1)] ^= 1
    try fixture.replaceFile("Rows of Photos", with: bytes)
    let (entries, damages) = try reader().scan()
    #expect(damages.map { "\($0.slot) \($0.entity?.description ?? "")" } == ["1 entity 2"])
    #expect(entries.map(\.slot) == [0, 2])
    #expect(try reader().entry(of: key(2).entity) == nil)
  }
}
