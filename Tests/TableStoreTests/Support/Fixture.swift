import Foundation
import Locking
import TestSupport
import Testing

@testable import TableStore

/// A directory for tables whose images are a function of their key, so that a wrong image
/// cannot look right.
struct Fixture {
  static let geometry = TableGeometry(width: 16, height: 4, rowByteCount: 64, pixelFormat: 7)

  let path: String
  /// Keeps the directory until the test ends; absent in a child, which must not remove it.
  private let temporary: TemporaryDirectory?

  init(inMemory: Bool = false) throws {
    let temporary = try TemporaryDirectory(inMemory: inMemory)
    self.temporary = temporary
    path = temporary.url.path + "/tables"
  }

  /// The directory of another process's fixture.
  init(path: String) {
    temporary = nil
    self.path = path
  }

  func open(
    _ name: String = "rows", slots: Int = 8, geometry: TableGeometry = Fixture.geometry,
    protection: FileProtection = .none, showsDamaged: Bool = false, fallsBack: Bool = false,
    system: SystemCalls = .live, onNotice: @escaping @Sendable (TableNotice) -> Void = { _ in }
  ) throws -> Table {
    try Table(
      name: name, in: TableDirectory(path: path, system: system), geometry: geometry,
      capacity: .slots(slots), protection: protection, showsDamaged: showsDamaged,
      fallsBack: fallsBack, system: system, onNotice: onNotice)
  }

  /// Closes a table, and opens its file again.
  func reopen(
    _ table: Table, slots: Int = 8, geometry: TableGeometry = Fixture.geometry,
    system: SystemCalls = .live
  ) throws -> Table {
    table.close()
    return try open(slots: slots, geometry: geometry, system: system)
  }

  /// The table's file.
  func filePath(_ name: String = "rows") throws -> String {
    try path + "/" + TableDirectory.fileName(for: name)
  }

  /// Files in the directory but index files: the table's, guest files, and whatever was left there.
  var fileNames: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { TableDirectory.tableName(ofCompanion: $0) == nil }
    }
  }

  var fileCount: Int { get throws { try fileNames.count } }

  func indexPath() throws -> String { try filePath() + "-index" }

  /// The bytes of the table's index file.
  var indexBytes: [UInt8] {
    get throws { Array(try Data(contentsOf: URL(fileURLWithPath: indexPath()))) }
  }

  /// Overwrites the bytes of the table's index file, which stays the file that it is.
  func overwriteIndex(with bytes: [UInt8]) throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: indexPath()))
    try file.truncate(atOffset: UInt64(bytes.count))
    try file.seek(toOffset: 0)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  func bytes(_ name: String = "rows") throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: filePath(name))))
  }

  /// Puts bytes in the place of the table's file, as a file that only its owner may read.
  func replaceFile(_ name: String = "rows", with bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let file = try filePath(name)
    try? FileManager.default.removeItem(atPath: file)
    try #require(
      FileManager.default.createFile(
        atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o600]))
  }
}

/// A key by two small numbers: of an entity, and of a version of its image.
func key(_ entity: Int, _ version: Int = 1) -> TableKey {
  TableKey(entity: TableID("entity \(entity)"), version: TableID("version \(version) of \(entity)"))
}

/// The pixels of a key: noise that begins with a number made of the key's words, by a generator
/// that has nothing in common with the store's hashes.
func pixels(for key: TableKey, byteCount: Int) -> [UInt8] {
  var state: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in "\(key.entity)|\(key.version)".utf8 {
    state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
  }
  return (0..<byteCount).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 33)
  }
}

extension Table {
  /// Draws and seals the image of a key, or another one in its place.
  func sealed(
    _ key: TableKey, metadata: [UInt8] = [], drawing: ((_ byteCount: Int) -> [UInt8])? = nil
  ) throws -> SealedSlot {
    guard let buffer = makeBuffer() else {
      throw TableError.outOfMemory(byteCount: geometry.pixelByteCount)
    }
    let draw = drawing ?? { TableStoreTests.pixels(for: key, byteCount: $0) }
    buffer.pixels.copyBytes(from: draw(buffer.pixels.count))
    return try buffer.sealed(
      key: key, extent: SlotExtent(width: geometry.width, height: geometry.height),
      metadata: metadata)
  }

  @discardableResult
  func store(_ key: TableKey, metadata: [UInt8] = []) throws -> TableEntry {
    try insert(sealed(key, metadata: metadata)).entry
  }

  /// The images that a listing finds.
  func entries() throws -> [TableEntryInfo] {
    var cursor = ListingCursor()
    var all: [TableEntryInfo] = []
    while case let listed = try list(&cursor), !listed.isEmpty { all += listed }
    return all
  }

  /// The slots of the table's file whose content is not what their records say.
  func verify() -> [TableDamage] {
    ((try? core.opener.makeReader()) ?? nil)?.scan().damages ?? []
  }

  /// The entities of this table that are found, with their version 1.
  func present(_ entities: some Sequence<Int>) -> [Int] {
    entities.filter { contains(key($0)) }
  }
}

extension TableEntry {
  /// True when every pixel is the one of the key.
  ///
  /// Reads through a plain pointer, so that the thread sanitizer sees each read: it has no eyes
  /// inside the standard library.
  func shows(_ key: TableKey) -> Bool {
    withPixels { pixels in
      guard let shown = pixels.bindMemory(to: UInt8.self).baseAddress else { return false }
      var isSame = true
      for (index, byte) in TableStoreTests.pixels(for: key, byteCount: pixels.count).enumerated() {
        if shown[index] != byte { isSame = false }
      }
      return isSame
    }
  }
}

/// The calls of a `Table`, for tests that open a table past the registry.
extension TableCore {
  var statistics: TableStatistics { lookup.statistics }

  func entry(for key: TableKey) -> TableEntry? {
    lookup.entry(entity: key.entity, version: key.version)
  }

  func contains(_ key: TableKey) -> Bool { storedImageState(for: key)?.isStale == false }

  func storedImageState(for key: TableKey) -> StoredImageState? {
    try? lookup.image(of: key.entity, version: key.version)
  }

  func insert(_ sealed: SealedSlot) throws -> Insertion {
    try writer.withLock { try $0.insert(sealed) }
  }

  func remove(_ entity: TableID) throws -> Bool { try writer.withLock { try $0.remove(entity) } }
  func removeAll() throws { try writer.withLock { try $0.removeAll() } }
  func flush() throws { try writer.withLock { try $0.flush() } }
  func close() { writer.withLock { $0.close() } }
  func suspend(_ opening: ObjectIdentifier) throws {
    try writer.withLock { try $0.suspend(opening) }
  }
  func resume(_ opening: ObjectIdentifier) { writer.withLock { $0.resume(opening) } }
}

extension TimeLimitTrait.Duration {
  /// Longer than a run of all tests: the time of a test counts while it waits for its turn on the
  /// threads that all tests share. That run takes a minute or two on two cores, several beside
  /// other work, and under a sanitizer ten times as long.
  static var wholeRun: Self {
    .minutes(Sanitizer.isPresent ? 15 : 8)
  }
}
