import Locking

extension TableCore {
  /// Notices that somebody cut the owned file, and goes on with a new one that has what is left.
  ///
  /// Looked at before each change, for the price of one `fstat(2)`: a slot written behind the cut
  /// would make the file long again, and what was lost between would read as zeros. The slots that
  /// are whole are copied, each checked on the way. Entries of the old file stay what they were; of
  /// those behind the cut that is a fault, or zeros with the `FaultGuard`.
  ///
  /// When no new file can be made, the table is a second opener until its last entry is gone.
  ///
  /// - Throws: `TableError.diskFull` or `.system` when there is no room for a private file either.
  func mendIfCut(_ writer: inout TableWriter) throws(TableError) {
    guard let file = ownedFile, isCut(file, writer) else { return }
    noteRecordsToErase(in: file, &writer)
    // Why it cannot be salvaged makes no difference to what is done then.
    let unerased = writer.unerased
    let salvage = try? opener.salvage(file) { slot, _ in unerased.contains(slot) }
    guard let opened = salvage ?? nil else {
      let reader = try TableError.wrapping { () throws(SystemError) in try opener.makeReader() }
      let replacement = TableShelf(nameless: try opener.makeNameless(), reader: reader)
      // What was removed stays so, for as long as this process knows.
      for slot in writer.unerased {
        if let record = (try? file.slotReader.record(of: slot)) ?? nil {
          reader?.addTombstone(for: record)
        }
      }
      writer.restart(replacement)
      exchange(for: replacement)
      return
    }
    let shelf = TableShelf(opened)
    writer.restart(shelf)
    // It has lost its name, so nobody else can come to own it.
    exchange(for: shelf).file?.unlock()
  }

  /// As above, for when pages were found missing.
  func mend() {
    writer.withLock { writer in
      guard !isChild else { return }
      // The next change tries again, and says why it cannot be made.
      try? mendIfCut(&writer)
    }
  }

  private func isCut(_ file: TableFile, _ writer: TableWriter) -> Bool {
    // A status that cannot be had is no sign of a cut.
    guard let status = try? file.system.status(of: file.descriptor) else { return false }
    return status.byteCount < max(writer.byteCount, TableLayout.headerByteCount)
  }
}

extension TableShelf {
  /// Bytes that the file has at least: up to the end of the last picture.
  var byteCount: Int {
    guard let file, let last = index.lastTakenSlot else { return 0 }
    return file.layout.slotOffset(last) + file.layout.contentByteCount
  }
}
