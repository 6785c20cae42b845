import Locking

extension TableWriter {
  /// Goes on with a new file, with the whole slots of the owned one, if that was truncated.
  ///
  /// Called before each change, for the price of one `fstat(2)`: a slot written behind the cut
  /// would make the file long again, and the lost slots between would read as zeros. Reading an entry
  /// behind the cut faults, or gives zeros with the `FaultGuard`.
  ///
  /// When no new file can be made, the table is a second opener until its last entry is gone.
  ///
  /// - Throws: `TableError.diskFull` or `.system` when there is no room for a private file either;
  ///   `.protectedDataUnavailable`.
  ///
  /// - Parameter looksAtIndex: Goes on with a new file also where the index file was truncated, which only
  ///   a fault tells in time.
  mutating func mendIfCut(looksAtIndex: Bool = false) throws(TableError) {
    guard let (file, opener) = lockedFile,
      isCut(file) || (looksAtIndex && file.states.stored.isCut(file.system))
    else { return }
    // What is in the index is not needed any more, and may be cut too.
    file.states.stored.letGo()
    let removed = lookup.current.withLock { $0.index.recordsToErase }
    // On any error there is no new file, and the table becomes a second opener.
    guard (try? opener.directory.leads(opener.fileName, to: file.descriptor)) == true,
      let opened = try? opener.replaceEmpty()
    else {
      let reader = try currentReader()
      let replacement = CurrentTable(privateFile: try opener.makePrivateFile(), reader: reader)
      // Removed images stay removed in this process.
      for slot in removed {
        if let record = (try? file.slotReader.record(of: slot)) ?? nil {
          reader?.addTombstone(for: record)
        }
      }
      exchange(for: replacement)
      return
    }
    // The old file has lost its name, so no process can open it.
    exchange(for: renewed(with: opened))
    file.unlock()
    // Without room for all, the rest is drawn again.
    _ = try? importSlots(file.slotReader, without: removed) { file.recency(of: $0, $1) }
    try? synchronize(opened.file)
  }

  /// The same, after the fault guard found pages missing.
  mutating func mend() {
    guard !lookup.isChild else { return }
    // The next change tries again and throws the error.
    try? mendIfCut(looksAtIndex: true)
  }

  private func isCut(_ file: TableFile) -> Bool {
    // A status that cannot be read is no sign of a cut.
    guard let status = try? file.system.status(of: file.descriptor) else { return false }
    return status.byteCount < max(byteCount, TableLayout.headerByteCount)
  }
}

extension CurrentTable {
  /// Bytes that the file must have: up to the end of the last image.
  var byteCount: Int {
    guard let file, let last = index.lastTakenSlot else { return 0 }
    return file.layout.slotOffset(last) + file.layout.contentByteCount
  }
}
