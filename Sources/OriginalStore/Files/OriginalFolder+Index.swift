import Foundation
package import TableStore

extension OriginalFolder {
  /// Makes this process the owner of the folder, and reads the index; `nil` while another process, or
  /// another object of this one, is the owner.
  ///
  /// Anything under the index's name that is no whole index of this version is made anew, without
  /// records: cut, garbage, a link, another user's.
  ///
  /// - Throws: `protectedNow`, `diskFull`, `occupied` where a directory has the name, or `system`.
  package func ownIndex() throws(TableError) -> IndexFile? {
    let name = IndexFile.name
    return try wrapping(name) { () throws(SystemError) in
      // Each turn but the last lost a race for the name, or removed what had it.
      for _ in 0..<8 {
        guard let file = try openIndex() else { continue }
        let status = try system.status(of: file.value)
        guard status.isRegularFile, status.isPrivate else {
          try unlinkIfPresent(name)
          continue
        }
        guard try system.lock(file.value) else { return nil }
        // A file that was deleted before it was locked belongs to nobody.
        // Its length is asked for only now: the owner before may have written meanwhile.
        guard let locked = try system.status(of: name, in: descriptor),
          locked.identity == status.identity
        else { continue }
        if let contents = try contents(of: file.value, locked.byteCount) {
          return IndexFile(file, locked, in: self, contents)
        }
        try unlinkIfPresent(name)
      }
      throw .lostRaces
    }
  }

  /// Reads the index without owning the folder, for hints; empty where there is none, and none of the
  /// records that are being written.
  package func readIndex() throws(TableError) -> IndexHints {
    switch try openFile(IndexFile.name, upTo: IndexContents.maximumByteCount) {
    case .bytes(let file): try IndexHints(reading: IndexPieces(file, in: self))
    case .missing, .foreign: IndexHints()
    }
  }

  // MARK: Private

  /// Opens the file, or makes it; `nil` when the name is to be looked at again.
  private func openIndex() throws(SystemError) -> FileDescriptor? {
    do throws(SystemError) {
      return FileDescriptor(try system.openFile(IndexFile.name, in: descriptor, .updating))
    } catch  where error.isMissing {
      do throws(SystemError) {
        return FileDescriptor(try system.openFile(IndexFile.name, in: descriptor, .creating))
      } catch  where error.isPresent {
        return nil
      }
    } catch  where isForeign(IndexFile.name, error) {
      try unlinkIfPresent(IndexFile.name)
      return nil
    }
  }

  /// Reads the locked file; a new one, which is empty, gets its header. `nil` for one that is no index.
  private func contents(of file: Int32, _ byteCount: Int) throws(SystemError) -> IndexContents? {
    guard byteCount > 0 else {
      let nonce = UInt64.random(in: .min ... .max)
      try system.protect(file, as: protection)
      try system.write(IndexContents.header(nonce: nonce), to: file, at: 0)
      return IndexContents(nonce: nonce)
    }
    guard byteCount <= IndexContents.maximumByteCount else { return nil }
    let bytes = try system.read(file, count: byteCount, at: 0)
    return bytes.withUnsafeBytes { IndexContents(reading: $0) }
  }

  private func unlinkIfPresent(_ name: String) throws(SystemError) {
    do throws(SystemError) { try system.unlink(name, in: descriptor) } catch  where error.isMissing
    {
      return
    }
  }
}
