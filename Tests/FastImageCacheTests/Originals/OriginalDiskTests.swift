import Dispatch
import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A folder of originals", .timeLimit(.minutes(10)))
struct OriginalDiskTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func store(
    byteLimit: Int = 1 << 24, system: SystemCalls = .live, after seconds: Int64 = 0
  ) -> OriginalStore {
    OriginalStore(in: directory, byteLimit: byteLimit, system: system, now: originalTime + seconds)
  }

  private var bodies: URL { directory.url.appendingPathComponent("bodies") }

  private func bodyFiles() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: bodies, includingPropertiesForKeys: nil)
  }

  private var database: String { directory.url.path + "/originals.sqlite" }

  private func execute(_ sql: String) throws {
    try Database(database, makesFile: true, .none).execute(sql)
  }

  // MARK: The limit

  @Test("never takes more than its limit, and loses what was used least recently")
  func limit() async throws {
    let store = store(byteLimit: 1 << 20)
    for number in 1...60 {
      let bytes = OriginalStore.bytes(number, count: 1 + (number * 7919) % 100_000)
      #expect(await store.keep(number, bytes))
      // Used all the time.
      #expect(try await store.kept(1) != nil)
      #expect(try store.folderByteCount() <= 1 << 20, "\(number)")
    }
    let kept = try await store.inspect().sorted { $0.lastUse < $1.lastUse }.map(\.id)
    #expect(kept.count > 4 && kept.count < 40)
    let last = (62 - kept.count...60).map { ImageID("test:/\($0)") }
    #expect(kept.filter { $0 != "test:/1" } == last && kept.contains("test:/1"))
    // A lower limit holds from the first write on.
    let small = self.store(byteLimit: 600 << 10)
    await small.keep(100, Data("a".utf8))
    while try small.folderByteCount() > 600 << 10, !Task.isCancelled { await Task.yield() }
    #expect(try await small.kept(100) != nil)
  }

  @Test("counts its database and its log, which many small originals fill")
  func databaseCounts() async throws {
    let store = store(byteLimit: 1 << 20)
    for number in 1...200 {
      await store.keep(number, Data("a".utf8)) {
        let address = ImageID("test:/\(number)" + String(repeating: "x", count: 3000))
        $0.name = OriginalName(id: $0.name.id, address: address)
      }
      #expect(try store.folderByteCount() <= 1 << 20, "\(number)")
    }
    #expect(try await store.kept(200) != nil)
  }

  @Test("makes room by uses that the database does not know yet")
  func notedUses() async throws {
    let store = store(byteLimit: 1 << 20)
    func keep(_ number: Int) async {
      await store.keep(number, OriginalStore.bytes(number, count: 90_000))
    }
    for number in 1...5 { await keep(number) }
    for number in 1...5 { #expect(try await store.kept(number) != nil) }
    // Eight fit.
    for number in 6...9 { await keep(number) }
    let kept = try await store.inspect().map(\.id)
    #expect(Set(kept) == Set((2...9).map { ImageID("test:/\($0)") }))
  }

  @Test("reserves a body's bytes before the first of them is written")
  func reserving() async throws {
    let (store, name) = (store(byteLimit: 1 << 20), OriginalRecord(0, Data()).name)
    for number in 1...8 { await store.keep(number, OriginalStore.bytes(number, count: 60_000)) }
    var original = OriginalRecord(0, Data())
    original.byteCount = 250_000
    let reserved = original
    try await store.run { () throws(DatabaseError) in
      let file = try store.makeFile(reserved)
      #expect(file.original.wholeByteCount == 0)
    }
    #expect(try store.folderByteCount() + 250_000 <= 1 << 20)
    // Its writer lives: nobody makes room of it.
    for number in 11...20 { await store.keep(number, OriginalStore.bytes(number, count: 60_000)) }
    #expect(try await store.inspect().contains { $0.record.name == name })
    #expect(try store.folderByteCount() + 250_000 <= 1 << 20)
  }

  @Test("copies its log into the database while it is open, at an eighth of the limit")
  func log() async throws {
    let store = store(byteLimit: 2 << 20)
    for number in 1...200 { #expect(await store.keep(number)) }
    let log = try FileManager.default.attributesOfItem(atPath: database + "-wal")[.size] as? Int
    // A commit that meets a reader leaves some of it to the next one.
    #expect(try #require(log) < 2 << 18)
    #expect(try await store.inspect().count == 200)
  }

  @Test("keeps nothing where it is too small, and nothing above a quarter of it")
  func tooSmall() async throws {
    for limit in [0, 1, 200 << 10] {
      let store = store(byteLimit: limit)
      await store.keep(7, OriginalStore.bytes(7, count: 100_000))
      #expect(try await store.kept(7) == nil)
    }
    let store = store(byteLimit: 1 << 20)
    await store.keep(7, OriginalStore.bytes(7, count: 1 << 18))
    await store.keep(8, OriginalStore.bytes(8, count: (1 << 18) + 1))
    #expect(try await store.kept(7) != nil)
    #expect(try await store.kept(8) == nil)
  }

  // MARK: Damage

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

  @Test("is made once where several stores open it at the same time")
  func openedBySeveral() async throws {
    for _ in 1...100 {
      let folder = try TemporaryDirectory()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 1...4 {
          let store = OriginalStore(
            in: folder, byteLimit: 1 << 20, system: .live, now: originalTime)
          group.addTask { try await store.open() }
        }
        try await group.waitForAll()
      }
    }
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
        _ = try await fixture.cache.image(for: Photo(ImageID(number)), format: .row)
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
      #expect(mode(of: database) == 0o640)
    }
  }

  private func mode(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  @Test("has files that only its user reads, each with its class of protection")
  func modes() async throws {
    let protected = Counter()
    let system = SystemCalls(observer: { call throws(SystemError) in
      if call.kind == .protect { protected.increment() }
    })
    let store = OriginalStore(directory.url, 1 << 24, .init(), .complete, system: system) {
      originalTime * 1_000_000
    }
    for number in 1...3 { await store.keep(number) }
    for file in [database, database + "-wal", database + "-shm"] + (try bodyFiles().map(\.path)) {
      #expect(mode(of: file) == 0o600, "\(file)")
    }
    #expect(protected.value == 3)
    // Of the database, its log and their index only SQLite opens the files.
    let flags = [store.writer.database?.flags, try store.reading { $0.flags }]
    #expect(flags.allSatisfy { $0.map { $0 & 0x0070_0000 } == 0x0010_0000 })
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
    let bodies = folder.url.path + "/bodies"
    #expect(throws: ImageCacheError.originalsUnavailable(.readOnly, file: bodies)) {
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

  // MARK: Life

  @Test("has no file open while a cache suspends it, and finds nothing then")
  func suspension() async throws {
    let calls = Counter()
    let store = store(
      system: SystemCalls(observer: { call throws(SystemError) in
        if call.kind == .synchronize { calls.increment() }
      }))
    await store.keep(7)
    let users = (OriginalUser(of: store), OriginalUser(of: store))
    func openFiles() -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [])
        .compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
        }
        .filter { $0.hasPrefix(directory.url.path) }
    }
    #if os(Linux)
      #expect(openFiles().contains(database))
    #endif
    await users.0.suspend()
    await users.1.suspend()
    #expect(openFiles().isEmpty)
    #expect(store.look(OriginalRecord(7, Data()).query) == nil)
    #expect(await !store.keep(8))
    await #expect(throws: ImageCacheError.self) { try await store.open() }
    // Removals go through, and close the files again.
    try await store.remove("test:/8")
    #expect(openFiles().isEmpty)
    try await store.flush()
    #expect(calls.value == 1 && openFiles().isEmpty)
    users.0.resume()
    await #expect(throws: ImageCacheError.self) { try await store.open() }
    users.1.resume()
    // What was removed meanwhile may be younger than the last flush.
    try await store.flush()
    #expect(calls.value == 2)
    #expect(try await store.kept(7) == OriginalStore.bytes(7))
    do {
      let gone = OriginalUser(of: store)
      await gone.suspend()
    }
    #expect(try await store.kept(7) != nil)
  }

  @Test("is closed only when the readings that are under way have ended")
  func suspensionWaits() async throws {
    let store = store()
    await store.keep(7)
    let (begun, release, hasEnded) = (Counter(), Gate(), Lock(false))
    DispatchQueue.global().async {
      _ = try? store.reading { _ throws(DatabaseError) in
        begun.increment()
        release.waitBlocking()
        hasEnded.withLock { $0 = true }
      }
    }
    await begun.reaches(1)
    let suspending = Task {
      await OriginalUser(of: store).suspend()
      return hasEnded.withLock { $0 }
    }
    while store.state.withLock({ $0.isOpen }), !Task.isCancelled { await Task.yield() }
    for _ in 0..<1000 { await Task.yield() }
    release.open()
    #expect(await suspending.value)
  }

  @Test("is made anew where it was deleted while it was open", arguments: [true, false])
  func deleted(hasReader: Bool) async throws {
    let store = store()
    await store.keep(7)
    await store.queueIsDone()
    if !hasReader { store.state.withLock { $0.readers = [] } }
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.url.path) {
      try FileManager.default.removeItem(atPath: directory.url.path + "/" + name)
    }
    #expect(try await store.kept(7) == nil)
    #expect(await store.keep(8))
    #expect(try await self.store().kept(8) == OriginalStore.bytes(8))
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

  @Test("compares names in full where their hashes are the same")
  func fullNames() async throws {
    let store = store()
    for column in ["account", "key", "address"] {
      await store.keep(7)
      #expect(store.look(OriginalRecord(7, Data()).query) != nil)
      try execute("UPDATE original SET \(column) = 'x'")
      #expect(store.look(OriginalRecord(7, Data()).query) == nil, "\(column)")
      if column != "address" { #expect(try await store.kept(7) == nil, "\(column)") }
    }
  }

  @Test("keeps nothing that was removed while it was written", arguments: [true, false])
  func removedMeanwhile(byOthers: Bool) async throws {
    let (path, place) = (database, Lock<OriginalStore?>(nil))
    let system = SystemCalls(observer: { call throws(SystemError) in
      guard call.kind == .write else { return }
      if byOthers {
        #expect(throws: Never.self) {
          try Database(path, makesFile: false, .none).execute("DELETE FROM download")
        }
      } else {
        place.withLock { $0 }?.state.withLock { $0.held = [:] }
      }
    })
    let store = store(system: system)
    place.withLock { $0 = store }
    defer { place.withLock { $0 = nil } }
    #expect(await store.keep(7))
    #expect(try await store.inspect().isEmpty)
    #expect(try bodyFiles().isEmpty)
  }

  @Test("makes and deletes files only in a transaction that excludes other writers")
  func exclusion() async throws {
    let first = store()
    await first.keep(1)
    // It looks for no leftovers any more.
    await OriginalUser(of: first).suspend()
    let path = database
    let calls = Lock<[SystemCall.Kind: Int]>([:])
    let system = SystemCalls(observer: { call throws(SystemError) in
      guard [.lock, .unlink].contains(call.kind) else { return }
      calls.withLock { $0[call.kind, default: 0] += 1 }
      // A file is locked right after it was made.
      let error = #expect(throws: DatabaseError.self) {
        try Database(path, makesFile: false, .none).execute("BEGIN IMMEDIATE")
      }
      #expect(error?.fault == .busy)
    })
    let store = store(byteLimit: 800 << 10, system: system)
    let orphan = bodies.appendingPathComponent(BodyFolder.name(row: 9, body: 9))
    try Data().write(to: orphan)
    for number in [2, 2, 3, 4, 5] {
      #expect(await store.keep(number, OriginalStore.bytes(number, count: 150_000)))
    }
    while FileManager.default.fileExists(atPath: orphan.path), !Task.isCancelled {
      await Task.yield()
    }
    try await store.removeAll()
    #expect(try bodyFiles().isEmpty)
    // One was replaced, and one was a leftover.
    #expect(calls.withLock { $0 } == [.lock: 5, .unlink: 7])
  }

  @Test(
    "lets others write while it deletes much of what is left", arguments: [true, false], [0, 6000])
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

  @Test("is touched by no child of a fork")
  func fork() async throws {
    let store = store()
    await store.keep(7)
    await #expect(processExitsWith: .exitCode(0)) { [folder = directory.url.path as String] in
      let store = OriginalStore(URL(filePath: folder), 1 << 24, system: .live) {
        originalTime * 1_000_000
      }
      guard (try? await store.kept(7)) ?? nil != nil else { exit(3) }
      // Swift hides fork(2) itself.
      guard let symbol = dlsym(LinkedSymbols.everywhere, "fork") else { exit(2) }
      let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
      if child == 0 {
        let isFound = store.look(OriginalRecord(7, Data()).query) != nil
        _exit(isFound || !store.isInherited ? 1 : 0)
      }
      var status: CInt = -1
      waitpid(child, &status, 0)
      guard status == 0, (try? await store.kept(7)) ?? nil != nil else { exit(4) }
      exit(0)
    }
  }

  // MARK: Failing calls

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
}
