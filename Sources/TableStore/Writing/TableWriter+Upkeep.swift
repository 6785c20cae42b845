import Locking

extension TableWriter {
  /// Removes an entity's picture, and tells whether there was one.
  ///
  /// The system has the change when this returns; the device has it after `flush()`. Where another
  /// process owns the file, a tombstone makes the picture a miss until this process owns it.
  mutating func remove(_ entity: TableID) throws(TableError) -> Bool {
    try ensureWritable()
    // First, since it may fail, and then nothing is removed.
    let isBuried =
      try addTombstones { reader throws(SystemError) in try reader.addTombstone(for: entity) }
      ?? false
    let ((file, slot), lost) = try opener.wrapping { () throws(SystemError) in
      try lookup.askOrLose(about: entity.digest) { ($0.file, $0.change { $0.remove(entity) }) }
    }
    guard let file else { return isBuried }
    if let slot { noteUnerased(slot) }
    // Records that could not be erased before, or read now, may be of this entity.
    try eraseRest(in: file)
    return isBuried || slot != nil || !lost.isEmpty
  }

  /// Removes those of the listed pictures in whose place no other one was stored, and returns them.
  ///
  /// On an error those before it are removed.
  mutating func remove(_ listed: [TableEntryInfo]) throws(TableError) -> [TableEntryInfo] {
    try ensureWritable()
    var removed: [TableEntryInfo] = []
    for entry in listed {
      let slot = try opener.wrapping { () throws(SystemError) in
        try lookup.ask(about: entry.digest) { shelf in
          shelf.change { $0.remove(entry.digest, generation: entry.generation) }
        }
      }
      if let slot { noteUnerased(slot) }
      let isBuried = try addTombstones { $0.addTombstone(for: entry, isOwn: slot != nil) }
      if slot != nil || isBuried == true { removed.append(entry) }
    }
    if let file = lookup.shelf.withLock({ $0.file }) { try eraseRest(in: file) }
    return removed
  }

  /// Empties the table by replacing its file; the old one stays mapped for its leases.
  mutating func removeAll() throws(TableError) {
    try ensureWritable()
    let fresh: TableShelf
    if ownedFile != nil {
      fresh = TableShelf(try opener.replaceEmpty())
    } else {
      let privateFile = try opener.makePrivateFile()
      try addTombstones { reader throws(SystemError) in try reader.addTombstonesForAll() }
      fresh = TableShelf(privateFile: privateFile, reader: lookup.shelf.withLock { $0.reader })
    }
    // The old file has no name any more; held, its lock would only get a suspended process killed.
    exchange(for: fresh).file?.unlock()
  }

  /// Writes erasures and the order of use, and brings the file to the device.
  ///
  /// - Throws: `TableError.inUse` when changes wait for another process; the errors of every
  ///   change; the error that lost private pictures when this process took the file over.
  mutating func flush() throws(TableError) {
    try ensureWritable()
    if suspension.isSuspended {
      try flushSuspended()
    } else if let file = ownedFile {
      try synchronize(file)
    }
    if let loss = loss.take() { throw loss }
    if hasWaiting { throw .inUse }
  }

  /// Writes erasures and the order of use, and brings file and name to the device.
  mutating func synchronize(_ file: TableFile) throws(TableError) {
    try eraseRest(in: file)
    try opener.wrapping { () throws(SystemError) in
      try writeRecency(to: file)
      try file.synchronize()
      // The name too: an older file may have had it until a moment ago.
      try opener.directory.synchronize()
    }
  }

  /// Ends the table: readers miss, writers throw, leases go on.
  ///
  /// Returns the owned file, which lives as long as its leases.
  mutating func close() -> TableFile? {
    leaveToParent()
    // The last chance for private pictures and tombstones.
    if hasWaiting { try? becomeOwner() }
    let file = ownedFile
    if let file {
      // Ignored: losing recency is harmless, and a failed removal was reported to its caller.
      try? eraseRest(in: file)
      try? writeRecency(to: file)
      try? file.synchronize()
    }
    exchange(for: .closed)
    return file
  }

  /// Adds tombstones for pictures of another owner's file; `nil` where there is no such file.
  @discardableResult
  func addTombstones<Result>(
    _ body: (TableReader) throws(SystemError) -> Result
  ) throws(TableError) -> Result? {
    try opener.wrapping { () throws(SystemError) in
      try findReader()
      return try lookup.shelf.withLock { $0.reader }.map { reader throws(SystemError) in
        try body(reader)
      }
    }
  }

  // MARK: Private

  /// Writes the stamps of last use, so that the order of eviction outlives this process.
  private func writeRecency(to file: TableFile) throws(SystemError) {
    var next = 0
    // A few records at a time, since readers wait meanwhile.
    while let (slot, records) = lookup.shelf.withLock({ shelf in
      shelf.change { $0.takeOutdatedRecords(from: next, limit: 256) }
    }) {
      try file.writeRecords(records, from: slot)
      next = slot + records.count
    }
  }
}
