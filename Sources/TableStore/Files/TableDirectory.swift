#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A directory of table files, open for as long as this object lives.
///
/// All names are looked up below its descriptor, so that an exchanged directory is not followed.
/// Only files that begin with the magic are ever deleted.
package final class TableDirectory: Sendable {
  package let path: String
  /// Where systems that have no files of memory make files without names.
  private let memoryFolder: String
  /// Why the tables are in memory, if their user wants them on disk.
  let refusal: TableError?
  let descriptor: Int32
  let identity: FileStatus.Identity
  package let system: SystemCalls

  /// True for the directory of tables that are nowhere but in memory.
  var isMemory: Bool { descriptor == Self.noDescriptor }

  private static let suffix = ".imagetable"
  private static let noDescriptor: Int32 = -1

  /// Opens the directory at `path`, making it and those above it, for their owner only, where they
  /// are missing.
  ///
  /// - Parameter memoryFolder: Where systems that have no files of memory make those of tables whose own
  ///   file cannot be made; `path` by default.
  /// - Throws: `TableError.noFolder` when the path leads to something else, a link included;
  ///   `.foreignFolder` when it is another user's, `.system` or `.diskFull` otherwise.
  package init(
    path: String, memoryFolder: String? = nil, system: SystemCalls = .live
  ) throws(TableError) {
    (self.path, self.system) = (path, system)
    self.memoryFolder = memoryFolder ?? path
    refusal = nil
    (descriptor, identity) = try Self.open(path, system)
    sweep()
  }

  /// Opens a directory as the initialiser does, for the caller to close.
  ///
  /// - Throws: `TableError.foreignFolder` where it is another user's, too.
  package static func open(
    _ path: String, _ system: SystemCalls
  ) throws(TableError) -> (descriptor: Int32, identity: FileStatus.Identity) {
    let descriptor: Int32
    do throws(SystemError) { descriptor = try openMakingMissing(path, system) } catch {
      throw failure(error, at: path, system)
    }
    do throws(TableError) {
      let status = try TableError.wrapping(path) { () throws(SystemError) in
        try system.status(of: descriptor)
      }
      // The superuser may use any folder, as in a container whose folders are a user's of the machine.
      if status.isForeign, geteuid() != 0 { throw .foreignFolder(path: path) }
      return (descriptor, status.identity)
    } catch {
      SystemCalls.closeFile(descriptor)
      throw error
    }
  }

  /// Why a folder could not be opened or made, with the last part of its path that is there.
  package static func failure(
    _ error: SystemError, at path: String, _ system: SystemCalls
  ) -> TableError {
    var there = path
    while there != "/", there != ".", ((try? system.status(ofPath: there)) ?? nil) == nil {
      let above = there.lastIndex(of: "/").map { there[..<$0] } ?? "."
      there = above.isEmpty ? "/" : String(above)
    }
    return error.isOccupied ? .noFolder(path: there) : TableError(error, path: there)
  }

  /// The directory and the one above it, where other users may exchange what is in it: a sentence for each.
  package var warnings: [String] {
    [("..", path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }), (".", path)]
      .compactMap { name, path in
        // What cannot be looked at is no reason to warn.
        guard let status = try? system.status(of: name, in: descriptor) else { return nil }
        if status.isForeign { return TableError.foreignFolder(path: path).description }
        return status.isOpenToAll ? "Every user may change the files in \(path)." : nil
      }
  }

  /// Stands for the directory of tables in memory; no file has a name there, and calls by name fail.
  ///
  /// - Parameters:
  ///   - folder: Where systems that have no files of memory make files without names.
  ///   - refusal: Why the tables have no folder, if their user wants one.
  package init(
    inMemoryOr folder: String, because refusal: TableError? = nil, system: SystemCalls = .live
  ) {
    (path, memoryFolder, self.refusal) = (folder, folder, refusal)
    self.system = system
    descriptor = Self.noDescriptor
    identity = FileStatus.Identity(device: 0, inode: 0)
  }

  deinit {
    if !isMemory { SystemCalls.closeFile(descriptor) }
  }

  /// A file name for any name: a readable part, and a hash of the exact bytes that tells names
  /// apart on file systems that fold case or normalise.
  ///
  /// Throws `invalidName` for an empty name and for one above 255 bytes of UTF-8.
  package static func safeName(for name: String) throws(TableError) -> String {
    guard (1...TableHeader.maximumNameByteCount).contains(name.utf8.count) else {
      throw .invalidName(name)
    }
    let readable = name.utf8.prefix(24).map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        Character(UnicodeScalar(byte))
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        Character(UnicodeScalar(byte | 0x20))
      default:
        Character("-")
      }
    }
    let hash = SHA256.hash(Array(name.utf8)).prefix(8)
    return String(readable) + "-" + hash.map(hexadecimal).joined()
  }

  /// Deletes the tables whose names are not among `names`, and returns their number.
  ///
  /// Their guest files, index files and files of times go too. Keeps tables that any process has open, with those
  /// files, and files that are no tables.
  @discardableResult
  package func removeTables(except names: Set<String>) throws(TableError) -> Int {
    var kept: Set<String> = []
    for name in names { kept.insert(try Self.fileName(for: name)) }
    return try TableError.wrapping(path) { () throws(SystemError) in
      var count = 0
      for name in try system.names(in: descriptor).sorted() {
        let isTable = name.hasSuffix(Self.suffix)
        let owner = Self.tableName(ofGuest: name) ?? Self.tableName(ofCompanion: name)
        guard let table = isTable ? name : owner,
          table.hasSuffix(Self.suffix),
          !kept.contains(table)
        else { continue }
        let isGone = try remove(name)
        // A table comes before its guest files, which are its owner's to take in, and the others.
        if isTable { if isGone { count += 1 } else { kept.insert(table) } }
      }
      return count
    }
  }

  /// Brings the names of the files to the device.
  func synchronize() throws(SystemError) { try system.synchronizeNames(in: descriptor) }

  /// Makes a file of memory.
  func makeMemoryFile() throws(SystemError) -> FileDescriptor {
    FileDescriptor(try system.makeMemoryFile(in: memoryFolder))
  }

  /// Makes a file without a name, in the place of one called `fileName`.
  func makePrivateFile(for fileName: String) throws(SystemError) -> FileDescriptor {
    let temporary = Self.temporaryName(for: fileName)
    let file = FileDescriptor(try system.openFile(temporary, in: descriptor, .creating))
    do throws(SystemError) {
      try system.unlink(temporary, in: descriptor)
    } catch  where error.isMissing {
      // Another process has swept the name as a left-over.
    }
    return file
  }

  // MARK: Names

  static func fileName(for name: String) throws(TableError) -> String {
    try safeName(for: name) + suffix
  }

  /// A name for a file that is about to replace `fileName`, unlike all others. For a guest file it
  /// is made of its table's name, so that all left-overs are called alike.
  static func temporaryName(for fileName: String) -> String {
    (tableName(ofGuest: fileName) ?? fileName) + temporaryMark
      + hexadecimal(UInt64.random(in: .min ... .max))
  }

  func tableFileNames() throws(TableError) -> [String] {
    try TableError.wrapping(path) { () throws(SystemError) in
      try system.names(in: descriptor).filter { $0.hasSuffix(Self.suffix) }.sorted()
    }
  }

  // MARK: Private

  private static let temporaryMark = "-new-"

  private static func hexadecimal<Number: FixedWidthInteger>(_ number: Number) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
  }

  private static func openMakingMissing(
    _ path: String, _ system: SystemCalls
  ) throws(SystemError) -> Int32 {
    do throws(SystemError) {
      return try system.openDirectory(path)
    } catch  where error.isMissing {
      let parts = path.split(separator: "/")
      for count in 1...max(1, parts.count) {
        let ancestor = (path.hasPrefix("/") ? "/" : "") + parts.prefix(count).joined(separator: "/")
        try system.makeDirectory(ancestor)
      }
      return try system.openDirectory(path)
    }
  }

  /// Deletes unfinished replacements, and index files and files of times without a table.
  private func sweep() {
    // Left-overs take space and do no harm, so errors are ignored.
    guard let names = try? system.names(in: descriptor) else { return }
    for name in names {
      let isAlone = Self.tableName(ofCompanion: name).map {
        $0.hasSuffix(Self.suffix) && !names.contains($0)
      }
      if isAlone == true || name.contains(Self.suffix + Self.temporaryMark) {
        _ = try? remove(name)
      }
    }
  }

  /// Deletes a file of ours that no process has locked; false for all others.
  func remove(_ name: String) throws(SystemError) -> Bool {
    guard let status = try system.status(of: name, in: descriptor), status.isRegularFile else {
      return false
    }
    let file: FileDescriptor
    do throws(SystemError) {
      file = FileDescriptor(try system.openFile(name, in: descriptor, .updating))
    } catch  where error.isMissing || error.isReplaceable || error.isRefusal {
      // Gone by now, or not to be opened.
      return false
    }
    guard try system.lock(file.value) else { return false }
    // The name may lead to another's new file by now, as in `TableOpener`.
    guard try leads(name, to: file.value) else { return false }
    let start: [UInt8]
    do throws(SystemError) {
      start = try system.read(file.value, count: TableHeader.magic.count, at: 0)
    } catch  where system.isLock(error) {
      // Not known to be ours while the device is locked.
      return false
    }
    let isOurs = start == TableHeader.magic
    // A replacement, a guest, an index or times whose process died before a first byte are empty; only they have
    // such names. So is the file that names a namespace.
    let isBegun =
      start.isEmpty
      && (name.contains(Self.suffix + Self.temporaryMark) || Self.tableName(ofGuest: name) != nil
        || Self.tableName(ofCompanion: name) != nil || name == NamespaceFile.fileName)
    guard isOurs || isBegun else { return false }
    try system.unlink(name, in: descriptor)
    return true
  }
}
