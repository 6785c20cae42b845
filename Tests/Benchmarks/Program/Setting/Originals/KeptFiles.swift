import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation
import Locking
import OriginalDatabase
import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A store full of originals that have equal bytes and different addresses, and plain files beside them.
final class KeptFiles: Sendable {
  /// The addresses of the originals, in a random order.
  let addresses: [URL]
  /// The bytes of each.
  let content: Data

  /// Made before: a request has its names from its entity.
  private let queries: [OriginalQuery]
  private let place: URL
  private let store: OriginalStore
  private let descriptor: CInt

  /// Keeps originals, and uses each once. So their rows stand in another order than that of their uses, as they do
  /// after some time.
  ///
  /// - Parameters:
  ///   - byteLimit: Of the store.
  ///   - copies: Whether all but the first are copies, made in one transaction, whose addresses nothing looks up:
  ///     100 000 keeps would take minutes.
  static func filled(
    _ name: String, count: Int, byteCount: Int, byteLimit: Int = 1 << 40, copies: Bool = false,
    setting: BenchSetting
  ) async throws -> KeptFiles {
    let addresses = addresses("kept", count: count)
    let kept = try KeptFiles(
      addresses.shuffled(), content(byteCount),
      in: setting.place.url.appending(path: "originals-\(name)"), byteLimit)
    try await kept.store.open()
    if copies {
      _ = try await kept.keep([addresses[0]], kept.content)
      try kept.copyRow(count: count)
    } else {
      _ = try await kept.keep(addresses, kept.content)
      try kept.read(0..<count)
    }
    try await kept.store.flush()
    return kept
  }

  /// Copies the only row under other numbers, addresses and uses, and makes the files.
  private func copyRow(count: Int) throws {
    let database = try Database(
      place.appending(path: "originals.sqlite").path, makesFile: true, .none)
    try database.execute(
      """
      BEGIN IMMEDIATE;
      CREATE TEMP TABLE copy AS
        WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < \(count - 1))
        SELECT original.*, i FROM original, number;
      UPDATE copy SET id = random(), body = random(), variants = random(), owner = random(), used = used + i,
        address = 'https://photos.example.com/kept/' || i || '.jpg';
      ALTER TABLE copy DROP COLUMN i;
      INSERT INTO original SELECT * FROM copy;
      COMMIT;
      """)
    let bodies = place.appending(path: "bodies").path
    try database.run("SELECT id, body FROM original") { row in
      let name = BodyFolder.name(row: row.integer(0), body: row.bits(1))
      _ = FileManager.default.createFile(atPath: bodies + "/" + name, contents: content)
    }
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    guard try database.number("SELECT count(*) FROM original") == count else {
      throw BenchFailure.missingOriginal
    }
  }

  private init(_ addresses: [URL], _ content: Data, in place: URL, _ byteLimit: Int) throws {
    (self.addresses, self.content, self.place) = (addresses, content, place)
    queries = addresses.map(Self.query)
    store = OriginalStore(directory: place, byteLimit: byteLimit)
    let folder = place.appending(path: "plain").path(percentEncoded: false)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw BenchFailure(description: "\"\(folder)\" cannot be opened: \(errno).")
    }
  }

  deinit { close(descriptor) }

  /// A store of its own on the folder.
  func makeStore() -> OriginalStore { OriginalStore(directory: place, byteLimit: 1 << 40) }

  static func addresses(_ word: String, count: Int) -> [URL] {
    (0..<count).compactMap { URL(string: "https://photos.example.com/\(word)/\($0).jpg") }
  }

  /// Bytes that do not compress.
  static func content(_ byteCount: Int) -> Data {
    var numbers = SeededNumbers(seed: UInt64(byteCount))
    var content = Data(capacity: byteCount + 8)
    while content.count < byteCount {
      withUnsafeBytes(of: numbers.next()) { content.append(contentsOf: $0) }
    }
    return content.prefix(byteCount)
  }

  // MARK: Originals

  /// Looks up and reads the originals of a part of the addresses.
  func read(_ range: Range<Int>) throws {
    for query in queries[range] {
      guard let found = store.lookUp(query),
        try store.bytes(of: found.row, query.version)?.count == content.count
      else { throw BenchFailure.missingOriginal }
    }
  }

  /// Keeps originals until their files can be read, on the store's own queue; nanoseconds for each.
  func keep(_ addresses: [URL], _ content: Data) async throws -> Double {
    let store = store
    // A load has them from its request and its answer.
    let originals = addresses.map { (Self.name($0), Self.original($0, content.count)) }
    let nanoseconds = try await onQueue {
      try Contest.time(originals.count) {
        for (name, original) in originals {
          guard store.hold(original, content, for: nil, from: nil, if: { true }) != nil else {
            throw BenchFailure.missingOriginal
          }
          store.writeHeld(name)
        }
      }
    }
    guard let last = addresses.last,
      store.lookUp(Self.query(last)) != nil
    else { throw BenchFailure.missingOriginal }
    return nanoseconds
  }

  func remove(_ addresses: [URL]) async throws {
    for address in addresses { try await store.remove(ImageID(address)) }
  }

  /// Removes all originals, and keeps one again and again meanwhile.
  ///
  /// - Returns: The longest of these keeps, in milliseconds, from its call to its return.
  func longestKeepWhileRemoving() async throws -> Double {
    let isOver = Lock(false)
    async let removal: Void = {
      defer { isOver.withLock { $0 = true } }
      try await store.removeAll(in: "bench")
    }()
    var longest = 0.0
    while !isOver.withLock({ $0 }) {
      let name = Self.name(addresses[0])
      let original = Self.original(addresses[0], content.count, namespace: "other")
      longest = max(
        longest,
        try await Contest.time(1) {
          _ = store.hold(original, content, for: nil, from: nil, if: { true })
          try await store.run { [store] () throws(DatabaseError) in store.writeHeld(name) }
        } / 1e6)
    }
    try await removal
    return longest
  }

  private static func query(_ address: URL) -> OriginalQuery {
    OriginalQuery(
      name: name(address), version: ImageID(address),
      owner: OriginalOwner(namespace: "bench", entity: ImageID(address)))
  }

  private static func name(_ address: URL) -> OriginalName {
    OriginalName(id: ImageID(address), address: ImageID(address))
  }

  /// With as many bytes of terms as a server's head comes to.
  private static func original(
    _ address: URL, _ byteCount: Int, namespace: ImageID = "bench"
  ) -> OriginalRecord {
    let fields = [
      "ETag": "\"5f3a-61b2c04e\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
      "Date": "Sun, 06 Nov 1994 09:49:37 GMT", "Cache-Control": "max-age=86400",
    ]
    return OriginalRecord(
      name(address), version: ImageID(address),
      owner: OriginalOwner(namespace: namespace, entity: ImageID(address)), byteCount: byteCount,
      terms: ResponseMetadata(fields: fields, received: Date()))
  }

  // MARK: Plain files

  /// Reads plain files, which have the names of their numbers.
  ///
  /// - Parameter hashes: Whether a hash of each byte is taken: no store that proves its bytes can do less.
  func readPlain(_ range: Range<Int>, hashes: Bool = false) throws {
    for number in range {
      guard bench_read_file(descriptor, "\(number).plain", content.count, hashes) == 0 else {
        throw BenchFailure.missingOriginal
      }
    }
  }

  /// Writes plain files on the store's queue; nanoseconds for each.
  func writePlain(_ range: Range<Int>, _ content: Data) async throws -> Double {
    let descriptor = descriptor
    return try await onQueue {
      try Contest.time(range.count) {
        for number in range {
          let isWritten = content.withUnsafeBytes {
            bench_write_file(descriptor, "\(number).plain", $0.baseAddress, $0.count) == 0
          }
          guard isWritten else {
            throw BenchFailure(description: "A plain file cannot be written: \(errno).")
          }
        }
      }
    }
  }

  func removePlain(_ range: Range<Int>) {
    for number in range { unlinkat(descriptor, "\(number).plain", 0) }
  }

  private func onQueue<Value: Sendable>(
    _ job: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await store.run { () throws(DatabaseError) in Result { try job() } }.get()
  }
}
