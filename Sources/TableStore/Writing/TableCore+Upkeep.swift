import Locking
import Synchronization

extension TableCore {
  /// Takes an entity's picture out, and tells whether there was one.
  ///
  /// The system has the change when this returns; the device has it after `flush()`. Where another
  /// process owns the file, a tombstone makes the picture a miss until the file is ours.
  func remove(_ entity: TableID) throws(TableError) -> Bool {
    try writer.withLock { writer throws(TableError) in
      try ensureWritable(&writer)
      // First, since it may fail, and then nothing is removed.
      let isBuried =
        try addTombstones { reader throws(SystemError) in try reader.addTombstone(for: entity) }
        ?? false
      let ((file, slot), lost) = askOrLose(about: entity) { shelf in
        (shelf.file, shelf.change { $0.remove(entity) })
      }
      guard let file else { return isBuried }
      if let slot { writer.noteUnerased(slot) }
      // Records that could not be erased before, or read now, may be of this entity.
      try TableError.wrapping { () throws(SystemError) in try eraseRest(in: file, &writer) }
      return isBuried || slot != nil || !lost.isEmpty
    }
  }

  /// Empties the table by replacing its file; the old one stays mapped for its leases.
  func removeAll() throws(TableError) {
    try writer.withLock { writer throws(TableError) in
      try ensureWritable(&writer)
      let fresh: TableShelf
      if ownedFile != nil {
        fresh = TableShelf(try opener.replaceEmpty())
      } else {
        let nameless = try opener.makeNameless()
        try addTombstones { reader throws(SystemError) in try reader.addTombstonesForAll() }
        fresh = TableShelf(nameless: nameless, reader: shelf.withLock { $0.reader })
      }
      // The old file has no name any more; held, its lock would only get a suspended process killed.
      exchange(for: fresh).file?.unlock()
      writer.restart(fresh)
    }
  }

  /// Writes erasures and the order of use, and brings the file to the device.
  ///
  /// - Throws: `TableError.inUse` when changes wait for another process; the errors of every change;
  ///   the reason why private pictures were lost when the file became ours.
  func flush() throws(TableError) {
    try writer.withLock { writer throws(TableError) in
      try ensureWritable(&writer)
      if writer.suspension.isSuspended {
        try flushSuspended(&writer)
      } else if let file = ownedFile {
        try synchronize(file, &writer)
      }
      if let loss = writer.loss.take() { throw loss }
      if hasWaiting { throw .inUse }
    }
  }

  /// Writes erasures and the order of use, and brings file and name to the device.
  func synchronize(_ file: TableFile, _ writer: inout TableWriter) throws(TableError) {
    try writePending(to: file, &writer)
    try TableError.wrapping { () throws(SystemError) in
      try file.synchronize()
      // The name too: an older file may have had it until a moment ago.
      try opener.directory.synchronize()
    }
  }

  /// Ends the table: readers miss, writers throw, leases go on.
  ///
  /// Returns the owned file, which lives as long as its leases.
  func close() -> TableFile? {
    writer.withLock { writer in
      if isChild { becomeSecondOpener(&writer) }
      // The last chance for private pictures and tombstones.
      if hasWaiting { becomeOwner(&writer) }
      let file = ownedFile
      if let file {
        // Ignored: losing recency is harmless, and a failed removal was reported to its caller.
        try? eraseRest(in: file, &writer)
        try? writeRecency(to: file)
        try? file.synchronize()
      }
      exchange(for: .closed)
      return file
    }
  }

  // MARK: Looking inside

  var statistics: TableStatistics {
    let file = shelf.withLock { $0.file }
    let diskByteCount = file?.diskByteCount ?? 0
    return shelf.withLock { shelf in
      TableStatistics(
        slotCount: opener.layout.slotCount,
        liveCount: shelf.index.liveCount,
        leasedCount: shelf.index.leasedSlots.count,
        unprovenCount: shelf.index.unprovenCount,
        evictionCount: shelf.index.evictionCount,
        damageCount: formerDamageCount.load(ordering: .relaxed) + shelf.index.damageCount,
        hitCount: formerHitCount.load(ordering: .relaxed) + shelf.index.states.hitCount,
        diskByteCount: diskByteCount,
        mappedByteCount: shelf.file?.mappedByteCount ?? 0,
        isOwner: shelf.isOwner)
    }
  }

  /// Reads every slot and checks every byte; damaged slots leave the index. Counts as no use of a
  /// picture. Finds nothing while the device is locked.
  func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    guard let file = shelf.withLock({ $0.file }) else { return ([], []) }
    let lost: [Int]
    do throws(SystemError) {
      lost = try readRecords(of: file)
    } catch {
      if file.system.isLock(error) { return ([], []) }
      lost = []
    }
    // Slots that cannot be read are reported as damaged, but stay in the index.
    let unread = shelf.withLock { $0.file === file ? $0.index.unreadSlots : [] }
    var entries: [TableEntryInfo] = []
    var damages = (lost + unread).map { TableDamage(slot: $0, entity: nil) }
    for slot in 0..<file.layout.slotCount {
      let leased = shelf.withLock { shelf in
        shelf.file === file ? shelf.index.leaseSilently(slot) : nil
      }
      guard let record = leased else { continue }
      let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
      switch made?.result {
      case .intact(let trailer)?:
        entries.append(TableEntryInfo(slot: slot, trailer: trailer, recency: record.recency))
      case .damaged(let entity)? where shelf.withLock({ $0.file === file }):
        damages.append(TableDamage(slot: slot, entity: entity))
        var isLost = false
        changeIndex(of: file) { isLost = $0.discard(slot, generation: record.generation) }
        if isLost { tellOfDamage(to: nil) }
      case .damaged, .refused, nil:
        // Another process may write to a file that was let go meanwhile.
        break
      }
      file.states.releaseSilently(slot)
    }
    return (entries, damages)
  }

  /// Writes erasures and the order of use.
  func writePending(to file: TableFile, _ writer: inout TableWriter) throws(TableError) {
    try TableError.wrapping { () throws(SystemError) in
      try eraseRest(in: file, &writer)
      try writeRecency(to: file)
    }
  }

  var ownedFile: TableFile? {
    shelf.withLock { $0.isOwner ? $0.file : nil }
  }

  /// Exchanges the shelf, and returns the former one, so that its file is closed outside the lock.
  /// Leases on that file go on, and none begins any more.
  @discardableResult
  func exchange(for fresh: TableShelf) -> TableShelf {
    let former = shelf.withLock { shelf in
      defer { shelf = fresh }
      hitIndex.store(fresh.file?.states)
      return shelf
    }
    if let file = former.file {
      file.states.retire(file)
      formerHitCount.wrappingAdd(file.states.hitCount, ordering: .relaxed)
      formerDamageCount.wrappingAdd(former.index.damageCount, ordering: .relaxed)
    }
    return former
  }

  /// Notes the records to erase: those in the file that the index does not have.
  func noteRecordsToErase(in file: TableFile, _ writer: inout TableWriter) {
    changeIndex(of: file) { index in
      for slot in index.takeRecordsToErase() { writer.noteUnerased(slot) }
    }
  }

  /// Erases all records that are noted for it.
  func eraseRest(in file: TableFile, _ writer: inout TableWriter) throws(SystemError) {
    noteRecordsToErase(in: file, &writer)
    for slot in writer.unerased.sorted() {
      if let error = erase(slot, in: file, &writer) { throw error }
    }
  }

  // MARK: Private

  /// Adds tombstones for pictures of another owner's file; `nil` where there is no such file.
  @discardableResult
  private func addTombstones<Result>(
    _ body: (TableReader) throws(SystemError) -> Result
  ) throws(TableError) -> Result? {
    try TableError.wrapping { () throws(SystemError) in
      try findReader()
      return try shelf.withLock { $0.reader }.map { reader throws(SystemError) in try body(reader) }
    }
  }

  /// Writes the stamps of last use, so that the order of eviction outlives this process.
  private func writeRecency(to file: TableFile) throws(SystemError) {
    var next = 0
    // A few records at a time, since readers wait meanwhile.
    while let (slot, records) = shelf.withLock({ shelf in
      shelf.change { $0.takeOutdatedRecords(from: next, limit: 256) }
    }) {
      try file.writeRecords(records, from: slot)
      next = slot + records.count
    }
  }
}
