import Dispatch
import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A folder of originals that is damaged, left or refused", .timeLimit(.minutes(10)))
struct OriginalDamageTests: OriginalFolderSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  enum Damage: CaseIterable {
    case changed, cut, longer, empty, missing, swapped, folder, link, pipe
  }

  @Test("answers no bytes but those that were written", arguments: Damage.allCases)
  func damage(_ damage: Damage) async throws {
    for number in [7, 8] { await store().keep(number) }
    let store = store()
    let record = try #require(try await store.inspect().first { $0.id == "test:/7" }).record
    let file = bodies.appendingPathComponent(
      BodyFolder.name(row: record.name.row, body: record.body))
    let other = try #require(
      try bodyFiles().first { $0.lastPathComponent != file.lastPathComponent })
    var bytes = try Data(contentsOf: file)
    if damage != .changed { try FileManager.default.removeItem(at: file) }
    switch damage {
    case .changed:
      bytes[500] ^= 1
      try bytes.write(to: file)
    case .cut: try bytes.dropLast().write(to: file)
    case .longer: try (bytes + [0]).write(to: file)
    case .empty: try Data().write(to: file)
    case .missing: break
    case .swapped: try FileManager.default.copyItem(at: other, to: file)
    case .folder:
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    case .link: try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
    case .pipe: #expect(mkfifo(file.path, 0o600) == 0)
    }
    // Bytes behind its own are no bytes of it.
    let expected = damage == .longer ? OriginalStore.bytes(7) : nil
    #expect((try? await store.kept(7)) == expected)
    #expect(try await store.kept(8) == OriginalStore.bytes(8))
    // Another one may be kept in its place.
    await store.queueIsDone()
    if [.changed, .cut, .empty, .missing, .swapped].contains(damage) {
      #expect(try await store.inspect().map(\.id) == ["test:/8"])
    }
    #expect(await store.keep(7))
    #expect(try await store.kept(7) == OriginalStore.bytes(7))
  }

  @Test("is refused strictly where its database cannot be used, and left as it is")
  func unusable() async throws {
    let cases: [(OriginalFault, () throws -> Void)] = [
      (.damaged, { try Data(repeating: 7, count: 5000).write(to: URL(filePath: self.database)) }),
      (.foreign, { try self.execute("CREATE TABLE a (b)") }),
      (.foreign, { try self.execute("PRAGMA application_id = 7; CREATE TABLE a (b)") }),
      (
        .foreign,
        { try self.execute("PRAGMA application_id = \(0x4649_436f); PRAGMA user_version = 1") }
      ),
      (
        .newer,
        { try self.execute("PRAGMA application_id = \(0x4649_436f); PRAGMA user_version = 3") }
      ),
    ]
    for (fault, make) in cases {
      try? FileManager.default.removeItem(atPath: database)
      try make()
      chmod(database, 0o640)
      let before = try Data(contentsOf: URL(filePath: database))
      let store = store()
      let fixture = try await Fixture(from: EncodedSource()) { $0.originals = store }
      let events = fixture.cache.events()
      #expect(fixture.cache.storageState == .ready)
      await #expect(throws: ImageCacheError.originalsUnavailable(fault, file: database)) {
        try await store.open()
      }
      await #expect(throws: ImageCacheError.originalsUnavailable(fault, file: database)) {
        _ = try await Fixture(from: EncodedSource()) {
          ($0.originals, $0.requiresStorage) = (self.store(), true)
        }
      }
      // A cache goes on, and says so once.
      for number in ["7", "8"] {
        _ = try await fixture.image(Photo(ImageID(number)))
      }
      guard case .unavailable(let reason) = fixture.cache.storageState else {
        throw ImageCacheError.closed
      }
      await fixture.cache.close()
      var reasons: [String] = []
      for await event in events {
        if case .original(nil, .unavailable(let reason)) = event { reasons.append(reason) }
      }
      #expect(reasons == [reason] && reason.contains(database))
      await #expect(throws: ImageCacheError.self) { try await store.removeAll() }
      #expect(try Data(contentsOf: URL(filePath: database)) == before)
      #expect(fileMode(of: database) == 0o640)
    }
  }

  @Test(
    "is read whatever numbers somebody has written into it",
    arguments: ["9223372036854775807", "-9223372036854775808", "'x'", "NULL", "x'00'"])
  func numbers(value: String) async throws {
    for number in 1...3 { await store().keep(number) }
    let columns = OriginalSchema.all.split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let key = OriginalRecord(1, Data()).name.row
    for column in columns where column != "id" {
      try execute("UPDATE original SET \(column) = \(value) WHERE id = \(key)")
      let store = store()
      let first = try? await store.kept(1)
      #expect(first == nil || first == OriginalStore.bytes(1))
      _ = try await store.inspect().map { "\($0.size ?? PixelSize(width: 1, height: 1)) \($0)" }
      let query = OriginalQuery(
        name: OriginalName(id: "test:/1", address: "test:/9"), version: "test:/1",
        owner: OriginalOwner(namespace: "test", entity: 1)
      ) { $0.width * $0.height > 0 }
      _ = try? await store.read(query, urgency: Urgency(.current))
      #expect(await store.keep(1))
    }
    let other = try await store().kept(2)
    #expect(other == nil || other == OriginalStore.bytes(2))
    if value != "NULL" { try execute("UPDATE store SET bytes = \(value)") }
    await store().keep(4)
    try? await store().removeAll()
  }

  @Test("makes room although somebody has put a folder in the place of a download")
  func replacedDownload() async throws {
    let store = store(byteLimit: 1 << 20)
    var original = OriginalRecord(0, Data())
    original.byteCount = 200_000
    let reserved = original
    try await store.run { () throws(DatabaseError) in
      let file = try store.makeFile(reserved)
      try file.append(Data([1]), in: store.bodies())
      try store.noteProgress(file)
      store.writer.files[file.original.body] = nil
      file.close()
    }
    let file = try #require(try bodyFiles().first)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    for number in 1...20 {
      await store.keep(number, OriginalStore.bytes(number, count: 100_000))
      #expect(try await store.kept(number) != nil)
    }
    #expect(try await !store.inspect().contains { $0.id == "test:/0" })
  }

  @Test("is refused where only a part of the database is damaged, once that is met")
  func pages() async throws {
    let first = store()
    for number in 1...200 { await first.keep(number) }
    await OriginalUser(of: first).suspend()
    var bytes = try Data(contentsOf: URL(filePath: database))
    for offset in 4096..<bytes.count { bytes[offset] = UInt8(truncatingIfNeeded: offset * 31) }
    try bytes.write(to: URL(filePath: database))
    let store = store()
    for number in 1...200 {
      let found = try? await store.kept(number)
      #expect(found == nil || found == OriginalStore.bytes(number))
    }
    await store.keep(300)
    await #expect(throws: ImageCacheError.originalsUnavailable(.damaged, file: database)) {
      try await store.open()
    }
  }

  @Test("is refused on a network, and where it can only be read")
  func places() async throws {
    let network = store(system: SystemCalls(volumeKind: .unsafeToMap))
    await #expect(
      throws: ImageCacheError.originalsUnavailable(.onNetwork, file: directory.url.path)
    ) {
      try await network.open()
    }
    let folder = try TemporaryDirectory()
    let readOnly = OriginalStore(
      in: folder,
      system: SystemCalls(observer: { call throws(SystemError) in
        if call.kind == .makeDirectory { throw SystemError(call: call.kind, code: EROFS) }
      }))
    // No folder in it can be made.
    #expect(throws: ImageCacheError.originalsUnavailable(.readOnly, file: folder.url.path)) {
      try readOnly.openBlocking()
    }
    await store().keep(7)
    chmod(database, 0o400)
    defer { chmod(database, 0o600) }
    // Rights do not bind the system's administrator.
    guard geteuid() != 0 else { return }
    await #expect(throws: ImageCacheError.originalsUnavailable(.readOnly, file: database)) {
      try await store().open()
    }
  }

  @Test("keeps nothing half where a call fails, and goes on afterwards", arguments: 0..<12)
  func failingCalls(_ number: Int) async throws {
    let calls = Counter()
    let isFailing = Lock(false)
    let system = SystemCalls(observer: { call throws(SystemError) in
      guard isFailing.withLock({ $0 }),
        [.open, .write, .lock, .unlink, .status].contains(call.kind)
      else { return }
      if calls.increment() == number + 1 { throw SystemError(call: call.kind, code: ENOSPC) }
    })
    let store = store(system: system)
    await store.keep(7, Data("old".utf8))
    isFailing.withLock { $0 = true }
    await store.keep(7)
    let read = try? await store.kept(7)
    #expect([OriginalStore.bytes(7), Data("old".utf8), nil].contains(read))
    await store.keep(8)
    await store.keep(9)
    #expect(try await store.kept(9) == OriginalStore.bytes(9))
    #expect(try await self.store().kept(7) == read || read == nil)
  }

  @Test("leaves the file that a copy would replace where a call fails")
  func failingCopy() async throws {
    let failing = Lock<SystemCall.Kind?>(nil)
    let store = store(
      system: SystemCalls(observer: { call throws(SystemError) in
        if call.kind == failing.withLock({ $0 }) {
          throw SystemError(call: call.kind, code: ENOSPC)
        }
      }))
    await store.keep(7)
    let file = bodies.appendingPathComponent("copy")
    try Data("old".utf8).write(to: file)
    for kind in [SystemCall.Kind.write, .rename] {
      failing.withLock { $0 = kind }
      await #expect(throws: ImageCacheError.self) {
        try await store.copyFile(of: "test:/7", to: file)
      }
      #expect(try Data(contentsOf: file) == Data("old".utf8))
      #expect(try bodyFiles().count == 2)
    }
  }

  @Test("loses what a killed process has left, and nothing that belongs to a living one")
  func leftovers() async throws {
    await store().keep(7)
    let (row, body) = (OriginalRecord(9, Data()).name.row, UInt64(9))
    let orphan = bodies.appendingPathComponent(BodyFolder.name(row: row, body: body))
    let stranger = bodies.appendingPathComponent("stranger")
    for file in [orphan, stranger] { try Data("a".utf8).write(to: file) }
    let living = store()
    await living.keep(6)
    // The download of a living writer, and one whose writer is gone and that nobody can continue.
    let original = OriginalRecord(5, OriginalStore.bytes(5))
    try await living.run { () throws(DatabaseError) in _ = try living.makeFile(original) }
    let dead = OriginalRecord(4, OriginalStore.bytes(4))
    try await living.run { () throws(DatabaseError) in
      let file = try living.makeFile(dead)
      living.writer.files[file.original.body] = nil
      file.close()
    }
    let store = store()
    await store.keep(8)
    // Each of the three stores looks for what is left, and any of them can be the first.
    var ids: Set<ImageID> = ["test:/4"]
    while ids.contains("test:/4") || FileManager.default.fileExists(atPath: orphan.path),
      !Task.isCancelled
    {
      await Task.yield()
      ids = Set(try await store.inspect().map(\.id))
    }
    #expect(FileManager.default.fileExists(atPath: stranger.path))
    #expect(ids == ["test:/5", "test:/6", "test:/7", "test:/8"])
  }

  @Test("lets others write while it deletes many leftovers", arguments: [true, false], [0, 6000])
  func manyLeftovers(haveRows: Bool, lookTime: Int64) async throws {
    let first = store()
    for number in 1...60 {
      await first.keep(number, OriginalStore.bytes(number, count: haveRows ? 60_000 : 1))
    }
    // It looks for no leftovers any more.
    await OriginalUser(of: first).suspend()
    if !haveRows {
      for number in 1...60 {
        let name = BodyFolder.name(row: Int64(number), body: 1)
        try Data().write(to: bodies.appendingPathComponent(name))
      }
    }
    let disk = SlowUnlinks(3000, look: lookTime)
    let store = disk.store(in: directory, byteLimit: 1 << 20)
    try await store.remove("test:/100")
    while try bodyFiles().count > (haveRows ? 14 : 60), !Task.isCancelled { await Task.yield() }
    await store.queueIsDone()
    #expect(try #require(disk.firstCount) <= 8)
  }

  @Test("has no row left of a body that was unlinked in a transaction that failed")
  func rollback() async throws {
    let store = store()
    for number in [7, 8] { await store.keep(number) }
    let record = try #require(try await store.inspect().first { $0.id == "test:/7" }).record
    let failure = DatabaseError(.system, "", "for a test")
    await #expect(throws: failure) {
      try await store.run { () throws(DatabaseError) in
        try store.transaction { database throws(DatabaseError) in
          try store.remove(record.name.row, record.body, in: database)
          throw failure
        }
      }
    }
    await store.keep(9)
    #expect(Set(try await store.inspect().map(\.id)) == ["test:/8", "test:/9"])
  }
}
