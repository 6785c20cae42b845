package import Foundation
package import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The folder of one store, open for as long as this object lives: originals, partials and the index,
/// each by its name.
///
/// Any thread and any process may read. Changes are the business of the process that owns the index
/// (``ownIndex()``), one at a time. All calls block, and there is no state between them, so that
/// nothing here needs a lock.
///
/// Invariants:
/// 1. All names are looked up below one descriptor, and no link is followed.
/// 2. A file gets the name of an original by `renameat(2)` only, after its last byte was written, and
///    is never changed afterwards.
package final class OriginalFolder: Sendable {
  package let path: String
  package let system: SystemCalls
  package let protection: FileProtection
  let descriptor: Int32
  private let identity: FileStatus.Identity

  /// Opens the folder at `path`, making it and those above it, for their owner only, where they are
  /// missing.
  ///
  /// - Parameter protection: The class that new files get, where a locked device closes files.
  /// - Throws: `TableError.occupied` when the path leads to something else, a link included;
  ///   `.system` or `.diskFull` otherwise.
  package init(
    path: String, protection: FileProtection = .untilFirstUnlock, system: SystemCalls = .live
  ) throws(TableError) {
    (self.path, self.protection, self.system) = (path, protection, system)
    (descriptor, identity) = try TableDirectory.open(path, system)
  }

  deinit { SystemCalls.closeFile(descriptor) }

  /// False once the folder was deleted or moved away: then nothing is found in it, and a store that
  /// goes on opens another.
  package func isInPlace() throws(TableError) -> Bool {
    try TableError.wrapping { () throws(SystemError) in
      try system.status(ofPath: path)?.identity == identity
    }
  }

  // MARK: Originals

  /// Reads an original, and proves each of its bytes.
  ///
  /// - Throws: `protectedNow` while the device is locked, `outOfMemory`, or `system` when a call
  ///   fails: nothing is known then, and nothing is to be removed.
  package func read(_ key: OriginalKey) throws(TableError) -> OriginalReading {
    try readOriginal(key.digest, of: key)
  }

  /// Reads an original whose key is not known, in a folder without an index; proves it as
  /// ``read(_:)`` does, its id and audience by its name.
  package func adopt(_ digest: OriginalDigest) throws(TableError) -> OriginalReading {
    try readOriginal(digest, of: nil)
  }

  /// The bytes of the file that `write(_:_:_:)` will make, at least one more than `content`.
  package static func fileByteCount(
    content: Int, _ key: OriginalKey, _ facts: OriginalFacts
  ) throws(TableError) -> Int {
    content + (try OriginalTrailer(key, facts)).byteCount + OriginalFile.proofByteCount
  }

  /// Writes an original under its name, in the place of an older one.
  ///
  /// An older one stays as it is after an error. A process that is killed meanwhile leaves a file
  /// that the sweep deletes.
  ///
  /// - Parameter leavesFile: Called before an error is thrown where such a file may be left.
  /// - Returns: The hash that the index's record needs, and the bytes of the file.
  /// - Throws: `metadataTooLarge`, `diskFull`, `protectedNow`, `occupied` where a directory has the
  ///   name, or `system`; its error is `isMissing` when the folder is gone (``isInPlace()``).
  package func write(
    _ content: Data, _ key: OriginalKey, _ facts: OriginalFacts, leavesFile: () -> Void = {}
  ) throws(TableError) -> (contentHash: UInt64, byteCount: Int) {
    let trailer = try OriginalTrailer(key, facts)
    return try wrapping(key.digest.fileName) { () throws(SystemError) in
      let begun = BegunName.random()
      let file = try create(begun)
      do throws(SystemError) {
        let written = try writeRest(
          of: content, from: 0, trailer, key.digest, to: file.value)
        try system.rename(begun, to: key.digest.fileName, in: descriptor)
        return written
      } catch {
        // The sweep removes it if this fails.
        if (try? system.unlink(begun, in: descriptor)) == nil { leavesFile() }
        throw error
      }
    }
  }

  /// Removes whatever stands under the name of an original, except a directory; no file is no error.
  package func remove(_ digest: OriginalDigest) throws(TableError) {
    try remove(digest.fileName)
  }

  /// Brings the names to the device: only then a removal outlasts a power cut.
  package func synchronize() throws(TableError) {
    try TableError.wrapping { () throws(SystemError) in
      try system.synchronizeNames(in: descriptor)
    }
  }

  // MARK: For the other files of the folder

  /// Writes the content from an offset on, then trailer and proof.
  func writeRest(
    of content: Data, from offset: Int, _ trailer: OriginalTrailer, _ digest: OriginalDigest,
    to file: Int32
  ) throws(SystemError) -> (contentHash: UInt64, byteCount: Int) {
    let result = content.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in
        let (tail, contentHash) = OriginalFile.tail(of: bytes, trailer, digest)
        let byteCount = bytes.count + tail.count
        guard byteCount <= OriginalFile.maximumByteCount else {
          throw SystemError(call: .write, code: EFBIG)
        }
        try system.write(bytes.part(offset..<bytes.count), to: file, at: offset)
        try system.write(tail, to: file, at: bytes.count)
        return (contentHash, byteCount)
      }
    }
    return try result.get()
  }

  /// Makes a file that has its class before its first byte.
  func create(_ name: String) throws(SystemError) -> FileDescriptor {
    let file = FileDescriptor(try system.openFile(name, in: descriptor, .creating))
    do throws(SystemError) {
      try system.protect(file.value, as: protection)
    } catch {
      try? system.unlink(name, in: descriptor)
      throw error
    }
    return file
  }

  func remove(_ name: String) throws(TableError) {
    try wrapping(name) { () throws(SystemError) in
      do throws(SystemError) {
        try system.unlink(name, in: descriptor)
      } catch  where error.isMissing {
        return
      } catch {
        // Directories are refused with different errors by different systems.
        guard try system.status(of: name, in: descriptor)?.isDirectory == true else { throw error }
      }
    }
  }

  /// Runs system calls on a file, and translates their errors.
  func wrapping<Result: ~Copyable>(
    _ name: String, _ body: () throws(SystemError) -> Result
  ) throws(TableError) -> Result {
    do throws(SystemError) {
      return try body()
    } catch  where system.isLock(error) {
      throw .protectedNow(name: name)
    } catch  where error.isOccupied {
      throw .occupied(path: path + "/" + name)
    } catch {
      throw TableError(error)
    }
  }
}

/// The name of a file before it gets the one by which it is found.
enum BegunName {
  private static let mark = "new-"

  static func random() -> String { mark + OriginalDigest.digits(.random(in: .min ... .max)) }

  static func isOne(_ name: String) -> Bool {
    guard name.hasPrefix(mark), let number = UInt64(name.dropFirst(mark.count), radix: 16) else {
      return false
    }
    return name == mark + OriginalDigest.digits(number)
  }
}
