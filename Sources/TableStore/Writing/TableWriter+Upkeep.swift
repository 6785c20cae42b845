import Locking

extension TableWriter {
  /// Removes an entity's image, and tells whether there was one.
  mutating func remove(_ entity: TableID) throws(TableError) -> Bool {
    try ensureWritable()
    // First, since it may fail, and then nothing is removed.
    let hasTombstone =
      try addTombstones { reader, generation throws(SystemError) in
        try reader.addTombstone(for: .entity(entity.digest), upTo: generation)
      } ?? false
    let (file, isRemoved) = try withRecordsLoaded(of: entity.digest) {
      ($0.file, $0.index.remove(entity.digest))
    }
    guard let file else { return hasTombstone }
    // A frame that came back would be found by nothing, since its animation is removed too.
    if !lookup.staysPrivate, !entity.isFrame {
      unlogged.note(.entity(entity.digest), upTo: nextGeneration())
    }
    // Records that could not be erased before may be of this entity.
    try eraseRest(in: file)
    return hasTombstone || isRemoved
  }

  /// Removes those of the listed images in whose place no other one was stored, and returns them.
  ///
  /// On an error those before it are removed.
  mutating func remove(_ listed: [TableEntryInfo]) throws(TableError) -> [TableEntryInfo] {
    try ensureWritable()
    // First, since it may fail, and then nothing is removed.
    try opener.wrapping { () throws(SystemError) in try findReader() }
    var removed: [TableEntryInfo] = []
    var failure: TableError?
    do throws(TableError) {
      for entry in listed where try remove(entry) { removed.append(entry) }
    } catch { failure = error }
    // After an error too: those before it are out of the index, and a later session must not find them.
    if let file = lookup.file { try eraseRest(in: file) }
    if let failure { throw failure }
    return removed
  }

  /// Removes one image unless another one was stored in its place.
  private mutating func remove(_ listed: TableEntryInfo) throws(TableError) -> Bool {
    let generations = listed.generation...listed.generation
    let isOwn = try withRecordsLoaded(of: listed.digest) {
      $0.index.remove(listed.digest, generations: generations)
    }
    let hasTombstone = try addTombstones { reader, _ throws(SystemError) in
      reader.addTombstone(for: listed, isOwn: isOwn)
    }
    guard isOwn || hasTombstone == true else { return false }
    // Up to the listed generation: a guest file may have a later image.
    if !lookup.staysPrivate {
      unlogged.note(.entity(listed.digest), upTo: listed.generation)
    }
    return true
  }

  /// Empties the table by replacing its file; the old one stays mapped for its leases.
  mutating func removeAll() throws(TableError) {
    try ensureWritable()
    let fresh: CurrentTable
    let removed: UInt64
    if let (_, opener) = lockedFile {
      try addTombstonesForAll()
      removed = nextGeneration()
      let removal = RemovalLog.Entry(subject: .all, generation: removed)
      fresh = renewed(with: try opener.replaceEmpty(noting: [removal]))
    } else {
      let privateFile = try opener.makeSecondFile(because: lookup.refusal)
      try addTombstonesForAll()
      removed = nextGeneration()
      fresh = CurrentTable(privateFile: privateFile, reader: lookup.reader)
    }
    unlogged = Removals()
    if !lookup.staysPrivate { unlogged.note(.all, upTo: removed) }
    // The old file has no name any more; held, its lock would only get a suspended process killed.
    exchange(for: fresh).file?.unlock()
  }

  /// Brings everything to the device.
  ///
  /// - Throws: Also why the table's file cannot be made or written, where changes wait for that, and the error
  ///   that lost private images when this process took the file over.
  mutating func flush() throws(TableError) {
    try ensureWritable()
    if !suspensions.isEmpty {
      try flushSuspended()
    } else if let (file, _) = lockedFile {
      try takeInGuests()
      try synchronize(file)
    }
    if let loss = loss.take() { throw loss }
    if let refusal = lookup.refusal, needsOwner || lookup.staysPrivate { throw refusal }
    if needsOwner { throw .inUse }
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
    deleteTakenIn()
  }

  /// Ends the table: readers miss, writers throw, leases go on, on pages of their own.
  mutating func close() {
    leaveToParent()
    // The last chance for private images and tombstones.
    if hasWaiting { try? becomeOwner() }
    try? takeInGuests()
    keepIndex()
    let locked = lockedFile?.file
    if let file = locked {
      // Ignored: losing recency is harmless, and a failed removal was reported to its caller. Guest
      // files that were taken in stay until the images are on the device.
      try? eraseRest(in: file)
      try? writeRecency(to: file)
      if (try? file.synchronize()) != nil { deleteTakenIn() }
    }
    deleteEmptyGuest()
    guard let locked else {
      exchange(for: .closed)
      return
    }
    // Without room for leased slots the lock goes with the last lease.
    try? letGo(of: locked, for: .closed)
  }

  /// Adds tombstones for images of another owner's file; `nil` where there is no such file.
  @discardableResult
  mutating func addTombstones<Result>(
    _ body: (TableReader, _ generation: UInt64) throws(SystemError) -> Result
  ) throws(TableError) -> Result? {
    try opener.wrapping { () throws(SystemError) in
      try findReader()
      let reader = lookup.reader
      // Removals come after every store that is known, whatever the clock says.
      defer { generation = max(generation, reader?.newestGeneration ?? 0) }
      let removed = nextGeneration()
      return try reader.map { reader throws(SystemError) in try body(reader, removed) }
    }
  }

  private mutating func addTombstonesForAll() throws(TableError) {
    try addTombstones { reader, generation throws(SystemError) in
      _ = try reader.addTombstone(for: .all, upTo: generation)
    }
  }

  /// Writes the stamps of last use, so that the order of eviction outlives this process.
  func writeRecency(to file: TableFile) throws(SystemError) {
    var next = 0
    // A few records at a time, since readers wait meanwhile.
    while let (slot, records) = lookup.current.withLock({
      $0.index.takeOutdatedRecords(from: next, limit: 256)
    }) {
      do throws(SystemError) { try file.writeRecords(records, from: slot) } catch {
        // The next attempt writes them again: an image whose use is lost would be removed too early.
        lookup.current.withLock { $0.index.noteUnwritten(records, from: slot) }
        throw error
      }
      next = slot + records.count
    }
  }
}
