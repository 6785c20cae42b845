import Foundation
import Locking
import OriginalDatabase
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A download that breaks off", .timeLimit(.minutes(10)))
struct OriginalDownloadTests: OriginalFolderSuite {
  let directory: TemporaryDirectory
  private let block = Checksum.blockByteCount

  init() throws { directory = try TemporaryDirectory() }

  private func terms(_ bytes: Data, _ tag: String = "\"1\"") -> ResponseMetadata {
    ResponseMetadata(
      fields: ["ETag": tag, "Content-Length": "\(bytes.count)"],
      received: Date(timeIntervalSince1970: Double(originalTime)))
  }

  /// One load's download, which lives as long as its part of the load.
  private func download(
    _ store: OriginalStore, _ number: Int = 7
  ) async throws -> (download: OriginalDownload, load: OriginalLoad) {
    try await store.open()
    let original = OriginalRecord(number, Data())
    let load = store.begin(original.name, of: original.owner)
    return (try #require(store.download(original, load)), load)
  }

  /// Has a load of a session break off after so many bytes.
  private func leave(_ count: Int, of bytes: Data, in store: OriginalStore) async throws {
    let (download, load) = try await download(store)
    _ = try arrive(bytes, count, download)
    download.end(keeps: true)
    await store.queueIsDone()
    withExtendedLifetime(load) {}
  }

  private func arrive(
    _ bytes: Data, _ count: Int, _ download: OriginalDownload,
    continuing known: KnownOriginal? = nil,
    _ tag: String = "\"1\""
  ) throws -> DownloadBuffer {
    let slot = Download(continuing: known, to: download)
    let arrival = slot.begin(terms(bytes, tag), continuing: known, byteCountLimit: bytes.count)
    for start in stride(from: known?.bytes.count ?? 0, to: count, by: 50_000) {
      try arrival.append(bytes[start..<min(start + 50_000, count)])
    }
    return arrival
  }

  @Test("leaves its whole blocks to a later session, which writes no byte twice")
  func resumes() async throws {
    let bytes = OriginalStore.bytes(7, count: 5 * block + 1)
    try await leave(3 * block + 7, of: bytes, in: store())
    let later = store()
    let (second, load) = try await download(later)
    let known = try #require(await second.known())
    #expect(known.bytes == bytes.prefix(3 * block) && !known.isWhole)
    #expect(known.terms.entityTag == "\"1\"")
    // No other load gets it meanwhile.
    let (third, _) = try await download(store())
    #expect(await third.known() == nil)
    let arrival = try arrive(bytes, bytes.count, second, continuing: known)
    second.stop()
    let file = try #require(try await later.inspect().first).record.body
    let original = OriginalRecord(7, bytes)
    // What tells it from others does so before and after the write.
    #expect(later.hold(original, arrival.bytes, for: load, from: second) { true } == file)
    await later.write(original.name)
    #expect(try await store().kept(7) == bytes)
    // The same file.
    let listed = try await later.inspect()
    #expect(listed.count == 1 && listed.first?.record.body == file)
  }

  @Test("is found although another store looks at that moment whether its writer lives")
  func isFoundBesideLook() async throws {
    let bytes = OriginalStore.bytes(7, count: 2 * block)
    let (first, other) = (store(), store())
    try await leave(block, of: bytes, in: first)
    let record = try #require(try await first.inspect().first).record
    let name = BodyFolder.name(row: record.name.row, body: record.body)
    let (looks, gate, asks) = (Counter(), Gate(), Lock(false))
    let look = Task {
      try await other.run { () throws(DatabaseError) in
        try other.transaction { _ throws(DatabaseError) in
          guard let taken = try other.bodies().take(name) else {
            Issue.record("The file has another writer.")
            return
          }
          let file = BodyFile(record, taken)
          looks.increment()
          gate.waitBlocking()
          file.close()
        }
      }
    }
    await looks.reaches(1)
    // A transaction begins behind the call that ends the look.
    let system = SystemCalls(observer: { call throws(SystemError) in
      if call.kind == .status, asks.withLock({ $0 }) { gate.open() }
    })
    let (second, _) = try await self.download(OriginalStore(in: directory, system: system))
    asks.withLock { $0 = true }
    let known = await second.known()
    gate.open()
    #expect(known?.bytes == bytes.prefix(block))
    try await look.value
  }

  @Test("leaves nothing where it is cancelled between its head and its first byte")
  func cancelledAtHead() async throws {
    let bytes = OriginalStore.bytes(7, count: 2 * block)
    let server = try HTTPServer(files: [
      "/a": HTTPFile(bytes, entityTag: "\"1\""), "/b": HTTPFile(bytes),
    ])
    let (store, source) = (store(), URLImageSource(http: .patient))
    let (disk, _) = try await download(store)
    let (slot, heads, gate) = (Download(to: disk), Counter(), Gate())
    var request = ImageSourceRequest(url: server.url("/a"), byteCountLimit: bytes.count)
    request.makeBuffer = {
      heads.increment()
      gate.waitBlocking()
      return slot.begin($0, continuing: $1, byteCountLimit: bytes.count)
    }
    let load = Task { [request] in try await source.response(to: request) }
    await heads.reaches(1)
    load.cancel()
    await #expect(throws: CancellationError.self) { try await load.value }
    slot.end()
    gate.open()
    // The thread that brought the head brings this behind it.
    var other = ImageSourceRequest(url: server.url("/b"), byteCountLimit: bytes.count)
    other.makeBuffer = { DownloadBuffer($0, continuing: $1, byteCountLimit: bytes.count) }
    #expect(try await source.response(to: other).encodedData == bytes)
    await store.queueIsDone()
    #expect(slot.take() == nil)
    #expect(try await store.inspect().isEmpty)
  }

  @Test("takes no block of a thread that is late with it")
  func takesNothingLate() async throws {
    let bytes = OriginalStore.bytes(7, count: 2 * block)
    let store = store()
    let (disk, load) = try await download(store)
    let slot = Download(to: disk)
    let arrival = slot.begin(terms(bytes), continuing: nil, byteCountLimit: bytes.count)
    slot.end()
    try arrival.append(bytes)
    await store.queueIsDone()
    withExtendedLifetime(load) {}
    #expect(try await store.inspect().isEmpty)
  }

  @Test("is not continued where it is damaged, too old, refused, or another version")
  func refused() async throws {
    let bytes = OriginalStore.bytes(7, count: 4 * block)
    try await leave(2 * block, of: bytes, in: store())
    let (late, _) = try await download(store(after: 8 * 86_400))
    #expect(await late.known() == nil)
    let file = try #require(try bodyFiles().first)
    let handle = try FileHandle(forUpdating: file)
    try handle.seek(toOffset: 200_000)
    try handle.write(contentsOf: Data("x".utf8))
    try handle.close()
    let damaged = store()
    let (broken, _) = try await download(damaged)
    #expect(await broken.known() == nil)
    #expect(try await damaged.inspect().isEmpty)
    // A server that begins anew has another version, or none of it.
    for (tag, isKnown) in [("\"2\"", true), ("W/\"2\"", true), ("\"2\"", false)] {
      try await leave(2 * block, of: bytes, in: self.store())
      let store = store()
      let (download, load) = try await download(store)
      if isKnown { #expect(await download.known() != nil) }
      _ = try arrive(bytes, 10, download, tag)
      await store.queueIsDone()
      #expect(try await store.inspect().isEmpty)
      withExtendedLifetime(load) {}
    }
  }

  @Test("leaves nothing of less than a block, nor where its original was removed meanwhile")
  func leavesNothing() async throws {
    let bytes = OriginalStore.bytes(7, count: 4 * block)
    for isRemoved in [false, true] {
      let store = store()
      let (download, load) = try await download(store)
      let arrival = try arrive(bytes, isRemoved ? block : block - 1, download)
      if isRemoved {
        await store.queueIsDone()
        #expect(try await store.inspect().map(\.arrivedByteCount) == [block])
        try await store.remove("test:/7")
        try arrival.append(bytes[block..<3 * block])
      }
      download.end(keeps: true)
      await store.queueIsDone()
      #expect(try await store.inspect().isEmpty)
      withExtendedLifetime(load) {}
    }
  }

  @Test("is not mixed with bytes that are not its own")
  func mixes() async throws {
    let (bytes, others) = (
      OriginalStore.bytes(7, count: 3 * block), OriginalStore.bytes(8, count: 3 * block)
    )
    let store = store()
    let (download, load) = try await download(store)
    _ = try arrive(bytes, 2 * block, download)
    await store.queueIsDone()
    let original = OriginalRecord(7, others)
    #expect(store.hold(original, others, for: load, from: download) { true } != nil)
    await store.write(original.name)
    #expect(try await store.kept(7) == others)
    #expect(try await store.inspect().count == 1)
  }

  @Test("goes on in memory where the disk has no room for it")
  func noRoom() async throws {
    let bytes = OriginalStore.bytes(7, count: 4 * block)
    let store = OriginalStore(in: directory, byteLimit: 400_000)
    let (download, load) = try await download(store)
    let arrival = try arrive(bytes, bytes.count, download)
    download.end(keeps: true)
    await store.queueIsDone()
    #expect(arrival.bytes == bytes)
    #expect(try await store.inspect().isEmpty)
    withExtendedLifetime(load) {}
  }

  @Test("has lost at most 256 KiB after its process was killed")
  func killed() async throws {
    let bytes = OriginalStore.bytes(7, count: 8 * block)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [folder = directory.url.path as String] in
      let store = OriginalStore(URL(filePath: folder), 1 << 24, system: .live) {
        originalTime * 1_000_000
      }
      try await store.open()
      let original = OriginalRecord(7, Data())
      let load = store.begin(original.name, of: original.owner)
      let bytes = OriginalStore.bytes(7, count: 8 * Checksum.blockByteCount)
      let terms = ResponseMetadata(
        fields: ["ETag": "\"1\"", "Content-Length": "\(bytes.count)"], received: Date())
      let slot = Download(to: store.download(original, load))
      let arrival = slot.begin(terms, continuing: nil, byteCountLimit: bytes.count)
      for start in stride(from: 0, to: bytes.count - 1000, by: 1000) {
        try arrival.append(bytes[start..<start + 1000])
      }
      await store.queueIsDone()
      kill(getpid(), SIGKILL)
    }
    let (later, _) = try await download(store())
    let known = try #require(await later.known())
    #expect(bytes.count - 1000 - known.bytes.count <= 256 << 10)
    #expect(bytes.starts(with: known.bytes))
  }
}
