import CommandSupport
import Foundation
import TableStore

/// A folder with one small table, opened again and again.
struct TableFolder: Sendable {
  /// Small enough to be quick, and large enough that a slot lies in several pages and sectors.
  static let geometry = TableGeometry(width: 32, height: 32, rowByteCount: 128, pixelFormat: 1)
  static let pixelByteCount = 32 * 128
  /// Pixels and trailer, which a table writes with one call; `DeafProof` would stay without any
  /// content if this were wrong, and say so.
  static let contentByteCount = pixelByteCount + 1024
  static let recordByteCount = 64
  static let tableName = "torture"

  let path: String
  /// Keeps the folder until its last user goes; absent in a child, which must not remove it.
  private let temporary: TemporaryFolder?

  init() throws {
    let temporary = try TemporaryFolder(prefix: "imagecache-torture")
    self.temporary = temporary
    path = temporary.url.path + "/tables"
  }

  init(path: String) {
    temporary = nil
    self.path = path
  }

  func open(
    slots: Int, geometry: TableGeometry = Self.geometry, system: SystemCalls = .live
  ) throws -> Table {
    try Table(
      name: Self.tableName, in: TableDirectory(path: path, system: system), geometry: geometry,
      capacity: .slots(slots), system: system)
  }

  /// Whether a record in the table's file names content that is not there.
  var isDamaged: Bool {
    get throws {
      try TableDirectory(path: path).tables().contains { !$0.scan().damages.isEmpty }
    }
  }

  var fileName: String {
    get throws { try TableDirectory.safeName(for: Self.tableName) + ".imagetable" }
  }

  var filePath: String { get throws { try path + "/" + fileName } }

  /// All but index files.
  var fileNames: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { !$0.hasSuffix("-index") }.sorted()
    }
  }

  /// Has the next opening read the records, if there is an index file.
  func removeIndex() throws { unlink(try filePath + "-index") }

  /// Marks all slots in hand as free in the index file, if there is one (`Docs/TableFormat.md`).
  func forgetClaims() throws {
    let url = URL(fileURLWithPath: try filePath + "-index")
    guard var bytes = try? Data(contentsOf: url), bytes.count > 512 else { return }
    let slots = Int(bytes[8]) + Int(bytes[9]) << 8
    var buckets = 16
    while buckets * 2 < slots * 3 { buckets *= 2 }
    let marks = 512 + buckets * 4 + slots * 16
    for mark in marks..<marks + slots where bytes[mark] == 2 { bytes[mark] = 0 }
    let file = try FileHandle(forWritingTo: url)
    try file.write(contentsOf: bytes)
    try file.close()
  }

  /// Puts bytes under the table's name, as a new file that only its owner may read.
  func replaceFile(with bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let fresh = path + "/fresh"
    let isMade = FileManager.default.createFile(
      atPath: fresh, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
    guard isMade, rename(fresh, try filePath) == 0 else {
      throw CommandFailure("A file cannot be put in the place of \(try filePath).")
    }
  }

  /// Removes all entries of the folder.
  func clear() {
    // The next opening has to cope with an entry that cannot be removed.
    try? FileManager.default.removeItem(atPath: path)
  }
}

extension Table {
  /// Draws an image and makes it ready to be stored.
  func seal(_ image: ImageVersion, in catalogue: Catalogue) throws -> SealedSlot {
    try seal(image, as: catalogue.key(image))
  }

  /// The same under any key.
  func seal(_ image: ImageVersion, as key: TableKey) throws -> SealedSlot {
    guard let buffer = makeBuffer() else {
      throw CommandFailure("There is no memory for one image.")
    }
    image.fill(buffer.pixels)
    return try buffer.sealed(
      key: key,
      extent: SlotExtent(width: geometry.width, height: geometry.height))
  }

  @discardableResult
  func store(_ image: ImageVersion, in catalogue: Catalogue) throws -> Insertion {
    try insert(seal(image, in: catalogue))
  }
}

extension FileManager {
  /// Puts files into a folder, which is made, so that only their owner may read them.
  func putFiles(_ files: [String: [UInt8]], into path: String) throws {
    try createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for (name, bytes) in files {
      let isMade = createFile(
        atPath: path + "/" + name, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
      guard isMade else { throw CommandFailure("\(path)/\(name) cannot be made.") }
    }
  }
}
