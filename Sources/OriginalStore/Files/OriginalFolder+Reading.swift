import Foundation
import TableStore

/// What stands under a name.
enum FoundFile<Bytes> {
  case missing
  /// Nothing that this folder made: a link, a pipe, a directory, a file of another user or open to
  /// others, one that is too long.
  case foreign
  /// All bytes of a file; changed by nobody else, since the memory is its own.
  case bytes(Bytes)
}

/// A file of the folder's owner and nobody else's, open for reading.
struct OpenFile {
  /// Without a lock, so that closing it is one call.
  let descriptor: Int32
  let byteCount: Int
}

extension OriginalFolder {
  func readFile(_ name: String, upTo limit: Int) throws(TableError) -> FoundFile<Data> {
    switch try readMemory(name, upTo: limit) {
    case .missing: .missing
    case .foreign: .foreign
    case .bytes(let memory): .bytes(Self.data(memory, count: memory.count))
    }
  }

  /// Reads a whole file with one call, into memory that the caller frees.
  ///
  /// The memory is not cleared before the file is read into it, and is not copied afterwards: either would
  /// take as long as the proof.
  func readMemory(
    _ name: String, upTo limit: Int
  ) throws(TableError) -> FoundFile<UnsafeMutableRawBufferPointer> {
    let file: OpenFile
    switch try openFile(name, upTo: limit) {
    case .missing: return .missing
    case .foreign: return .foreign
    case .bytes(let opened): file = opened
    }
    defer { SystemCalls.closeFile(file.descriptor) }
    let memory = try Self.memory(byteCount: file.byteCount)
    do throws(TableError) {
      let byteCount = try wrapping(name) { () throws(SystemError) in
        try system.read(file.descriptor, into: memory, at: 0)
      }
      // Files are not changed once they have their names; a shorter one was cut just now.
      if byteCount == memory.count { return .bytes(memory) }
    } catch {
      memory.baseAddress.map(SystemMemory.deallocate)
      throw error
    }
    memory.baseAddress.map(SystemMemory.deallocate)
    return .foreign
  }

  /// Opens a file that the caller closes.
  func openFile(_ name: String, upTo limit: Int) throws(TableError) -> FoundFile<OpenFile> {
    let file: Int32
    do throws(SystemError) {
      file = try system.openFile(name, in: descriptor, .reading)
    } catch  where error.isMissing {
      return .missing
    } catch  where isForeign(name, error) {
      return .foreign
    } catch {
      throw system.isLock(error) ? .protectedNow(name: name) : TableError(error)
    }
    let status: FileStatus
    do throws(TableError) {
      status = try wrapping(name) { () throws(SystemError) in try system.status(of: file) }
    } catch {
      SystemCalls.closeFile(file)
      throw error
    }
    guard status.isRegularFile, status.isPrivate, status.byteCount <= limit else {
      SystemCalls.closeFile(file)
      return .foreign
    }
    return .bytes(OpenFile(descriptor: file, byteCount: status.byteCount))
  }

  /// Memory to read a file into, not cleared; the caller frees it.
  static func memory(byteCount: Int) throws(TableError) -> UnsafeMutableRawBufferPointer {
    // Large blocks begin 16 bytes into a page otherwise, and some processors then copy from the pages
    // of a file at a fifth of their speed.
    guard let base = SystemMemory.allocate(byteCount: max(1, byteCount), alignment: 64) else {
      // A file can be too long for the memory that there is.
      throw .outOfMemory(byteCount: byteCount)
    }
    return UnsafeMutableRawBufferPointer(start: base, count: byteCount)
  }

  /// Hands memory of ``readMemory(_:upTo:)`` over, of which the first bytes count.
  private static func data(_ memory: UnsafeMutableRawBufferPointer, count: Int) -> Data {
    // Of a few bytes `Data` makes a copy at once, and frees the memory.
    memory.baseAddress.map { Data(bytesNoCopy: $0, count: count, deallocator: .free) } ?? Data()
  }

  /// True when a file could not be opened because it is none of ours. A refusal that owner and mode do
  /// not explain may pass, as that of a locked device does.
  func isForeign(_ name: String, _ error: SystemError) -> Bool {
    if error.isReplaceable { return true }
    guard error.isRefusal, error.call == .open else { return false }
    // Without a status nothing is known of the file, and nothing is to be removed.
    guard let status = try? system.status(of: name, in: descriptor) else { return false }
    return !status.isOpenToUs
  }

  /// - Parameter key: `nil` for whichever key has the name.
  func readOriginal(
    _ digest: OriginalDigest, of key: OriginalKey?
  ) throws(TableError) -> OriginalReading {
    let memory: UnsafeMutableRawBufferPointer
    switch try readMemory(digest.fileName, upTo: OriginalFile.maximumByteCount) {
    case .missing: return .missing
    case .foreign: return .damaged
    case .bytes(let bytes): memory = bytes
    }
    let bytes = UnsafeRawBufferPointer(memory)
    guard let proof = OriginalFile.proof(of: bytes, under: digest, for: key?.subject),
      let id = Self.id(of: proof.trailer, under: digest, for: key)
    else {
      memory.baseAddress.map(SystemMemory.deallocate)
      return .damaged
    }
    return .whole(
      ProvenOriginal(
        content: Self.data(memory, count: proof.contentByteCount), facts: proof.trailer.facts,
        id: id, subject: proof.trailer.subject, contentHash: proof.contentHash,
        byteCount: memory.count))
  }

  /// The id of an original; `nil` where its subject is another key's, or belongs under another name.
  private static func id(
    of trailer: OriginalTrailer, under digest: OriginalDigest, for key: OriginalKey?
  ) -> TableID? {
    if let key { return trailer.subject == key.subject ? key.id : nil }
    let named = trailer.subject.withUnsafeBytes { OriginalDigest(ofSubject: $0) }
    return named == digest ? trailer.id : nil
  }
}
