/// The index file of a table: `StoredIndex` in a file beside the table's, so that most openings read no
/// record. It belongs to the owner of the table, and has no lock of its own.
extension TableOpener {
  private var indexName: String { TableDirectory.indexName(of: fileName) }

  /// The index that an earlier session left; `nil` where there is none that fits.
  func openIndex(of file: TableFile) -> TableIndex? {
    let stored = file.states.stored
    // Any failure costs reading the records.
    guard let opened = try? system.openFile(indexName, in: directory.descriptor, .updating)
    else { return nil }
    let descriptor = FileDescriptor(opened)
    guard let status = try? system.status(of: descriptor.value), status.isRegularFile,
      status.isPrivate, status.linkCount == 1, status.byteCount == stored.layout.byteCount,
      (try? system.protect(descriptor.value, as: protection)) != nil,
      let identity = indexIdentity(of: file),
      (try? system.read(descriptor.value, count: IndexIdentity.byteCount, at: 0)) == identity.bytes,
      // A hole would be filled when it is written to, by a disk that may be full then.
      (try? system.allocate(descriptor.value, byteCount: stored.layout.byteCount)) != nil,
      (try? stored.open(descriptor, system)) == true
    else { return nil }
    return TableIndex(continuing: file.states, readRecord: file.slotReader.recordSource)
  }

  /// Makes an index file, or deletes one that does not tell of this file any more; without effect where it
  /// is in use. The index must not change meanwhile.
  func keepIndex(of file: TableFile) {
    let stored = file.states.stored
    guard !directory.isMemory, !stored.isKept else { return }
    do throws(SystemError) {
      try system.unlink(indexName, in: directory.descriptor)
    } catch  where error.isMissing {
    } catch {
      // It must fit no more: the changes from now on are not in it.
      if let opened = try? system.openFile(indexName, in: directory.descriptor, .updating) {
        let old = FileDescriptor(opened)
        try? system.write(IndexIdentity.begunBytes, to: old.value, at: 0)
      }
    }
    guard let identity = indexIdentity(of: file) else { return }
    do throws(SystemError) {
      let descriptor = FileDescriptor(
        try system.openFile(indexName, in: directory.descriptor, .creating))
      try system.protect(descriptor.value, as: protection)
      try system.write(IndexIdentity.begunBytes, to: descriptor.value, at: 0)
      try system.allocate(descriptor.value, byteCount: stored.layout.byteCount)
      try stored.keep(in: descriptor, as: identity, system)
    } catch {
      // Without room for it the next opening reads the records.
      try? system.unlink(indexName, in: directory.descriptor)
    }
  }

  /// `nil` where no index file is to be had: for a guest file, where files are not mapped, and where
  /// a write to a mapping may find the disk full.
  private func indexIdentity(of file: TableFile) -> IndexIdentity? {
    guard !directory.isMemory, file.base != nil, TableDirectory.tableName(ofGuest: fileName) == nil,
      Platform.writesInPlace(file.descriptor), let boot = system.bootID(),
      let status = try? system.status(of: file.descriptor)
    else { return nil }
    return IndexIdentity(
      boot: boot, file: status.identity, birthTime: Platform.birthTime(of: file.descriptor),
      nonce: file.header.nonce, slotCount: file.layout.slotCount)
  }
}

extension TableDirectory {
  private static let indexMark = "-index"

  private static let timesMark = "-times"

  static func indexName(of fileName: String) -> String { fileName + indexMark }

  static func timesName(of fileName: String) -> String { fileName + timesMark }

  /// The name of the table file that an index file, or a file of times, belongs to; `nil` for other names.
  static func tableName(ofCompanion name: String) -> String? {
    [indexMark, timesMark].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
  }
}
