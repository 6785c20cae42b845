import Foundation
import TableStore

/// What stands under a name.
enum FoundFile {
  case missing
  /// Nothing that this folder made: a link, a pipe, a directory, a file of another user or open to
  /// others, one that is too long.
  case foreign
  /// All bytes of a file; changed by nobody else, since the memory is its own.
  case bytes(Data)
}

extension OriginalFolder {
  /// Reads a whole file with one call.
  func readFile(_ name: String, upTo limit: Int) throws(TableError) -> FoundFile {
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
    // A descriptor without a lock, so that closing it is one call.
    defer { SystemCalls.closeFile(file) }
    let status = try wrapping(name) { () throws(SystemError) in try system.status(of: file) }
    guard status.isRegularFile, status.isPrivate, status.byteCount <= limit else { return .foreign }
    // A file can be too long for the memory that there is.
    guard let base = SystemMemory.allocate(byteCount: max(1, status.byteCount), alignment: 16)
    else {
      throw .outOfMemory(byteCount: status.byteCount)
    }
    // The memory is not cleared before the file is read into it, and is not copied afterwards: either
    // would take as long as the proof.
    let memory = UnsafeMutableRawBufferPointer(start: base, count: status.byteCount)
    let byteCount: Int
    do throws(TableError) {
      byteCount = try wrapping(name) { () throws(SystemError) in
        try system.read(file, into: memory, at: 0)
      }
    } catch {
      SystemMemory.deallocate(base)
      throw error
    }
    // Only now: of a few bytes `Data` makes a copy at once, and frees the memory.
    let bytes = Data(bytesNoCopy: base, count: byteCount, deallocator: .free)
    // Files are not changed once they have their names; a shorter one was cut just now.
    return byteCount == status.byteCount ? .bytes(bytes) : .foreign
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

  func readOriginal(
    _ digest: OriginalDigest, _ isWanted: ([UInt8]) -> Bool
  ) throws(TableError) -> OriginalReading {
    let file: Data
    switch try readFile(digest.fileName, upTo: OriginalFile.maximumByteCount) {
    case .missing: return .missing
    case .foreign: return .damaged
    case .bytes(let bytes): file = bytes
    }
    guard let proof = file.withUnsafeBytes({ OriginalFile.proof(of: $0, under: digest) }),
      isWanted(proof.trailer.subject), let id = proof.trailer.id
    else { return .damaged }
    return .whole(
      ProvenOriginal(
        content: file.prefix(proof.contentByteCount), facts: proof.trailer.facts, id: id,
        audienceHash: Array(proof.trailer.subject.prefix(SHA256.byteCount)),
        contentHash: proof.contentHash, byteCount: file.count))
  }
}
