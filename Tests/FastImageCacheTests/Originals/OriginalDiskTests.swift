import Dispatch
import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A folder of originals", .timeLimit(.minutes(10)))
struct OriginalDiskTests: OriginalFolderSuite {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

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
      #expect(fileMode(of: file) == 0o600, "\(file)")
    }
    #expect(protected.value == 3)
    // Of the database, its log and their index only SQLite opens the files.
    let flags = [store.writer.database?.flags, try store.reading { $0.flags }]
    #expect(flags.allSatisfy { $0.map { $0 & 0x0070_0000 } == 0x0010_0000 })
  }

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

  @Test("is touched by no child of a fork")
  func fork() async throws {
    let store = store()
    await store.keep(7)
    await #expect(processExitsWith: .exitCode(0)) { [folder = directory.url.path as String] in
      let store = OriginalStore(URL(filePath: folder), 1 << 24, system: .live) {
        originalTime * 1_000_000
      }
      guard (try? await store.kept(7)) ?? nil != nil else { exit(3) }
      // First in the parent: a child waits for ever for what another thread was about to make, a generic type, too.
      let query = OriginalRecord(7, Data()).query
      guard store.look(query) != nil else { exit(5) }
      let code = exitCodeOfFork {
        let isFound = store.look(query) != nil
        return isFound || !store.isInherited ? 1 : 7
      }
      guard code == 7, (try? await store.kept(7)) ?? nil != nil else { exit(4) }
      exit(0)
    }
  }
}
