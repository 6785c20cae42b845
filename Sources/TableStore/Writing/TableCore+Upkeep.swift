import Locking
import Synchronization

extension TableCore {
  /// Takes an entity's picture out, and tells whether there was one.
  ///
  /// The system has the change when this returns; the device has it after `flush()`. Where another
  /// process owns the table, it is a miss here, and is taken out once the file is ours.
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

  /// Empties the table by putting a new file in the place of the old one, which lives on for those
  /// who look at its pictures.
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
      // Nobody finds the old file any more, so its lock would only burden a suspended process.
      exchange(for: fresh).file?.unlock()
      writer.restart(fresh)
    }
  }

  /// Writes what is still to be written, and brings all of it to the device.
  ///
  /// - Throws: `TableError.inUse` when some of it waits for another process; as all changes do; and
  ///   why pictures could not be brought along when the file became ours.
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

  /// Writes what is known here and not yet in the file, and brings the file to the device.
  func synchronize(_ file: TableFile, _ writer: inout TableWriter) throws(TableError) {
    try writePending(to: file, &writer)
    try TableError.wrapping { () throws(SystemError) in
      try file.synchronize()
      // The file may have got its name a moment ago, and an older one may have had it before.
      try opener.directory.synchronize()
    }
  }

  /// Ends the table: readers miss, writers throw, and those who look at pictures go on.
  ///
  /// Returns the owned file, which lives as long as they do.
  func close() -> TableFile? {
    writer.withLock { writer in
      if isChild { becomeSecondOpener(&writer) }
      // The last chance for what was stored and removed while the file was another's.
      if hasWaiting { becomeOwner(&writer) }
      let file = ownedFile
      if let file {
        // What could not be written is an order of eviction, or a removal whose caller knows.
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

  /// Reads every slot and checks every byte of it; damaged ones leave the index. No picture counts
  /// as used by this. Finds nothing while the device is locked.
  func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    guard let file = shelf.withLock({ $0.file }) else { return ([], []) }
    let lost: [Int]
    do throws(SystemError) {
      lost = try readRecords(of: file)
    } catch {
      if file.system.isLock(error) { return ([], []) }
      lost = []
    }
    // What cannot be read is no picture for anybody, but stays for who may be able to.
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
        // A file that was let go meanwhile is another process's to write.
        break
      }
      file.states.releaseSilently(slot)
    }
    return (entries, damages)
  }

  /// Writes what is known here and not yet in the file: removals, and the order of use.
  func writePending(to file: TableFile, _ writer: inout TableWriter) throws(TableError) {
    try TableError.wrapping { () throws(SystemError) in
      try eraseRest(in: file, &writer)
      try writeRecency(to: file)
    }
  }

  var ownedFile: TableFile? {
    shelf.withLock { $0.isOwner ? $0.file : nil }
  }

  /// Replaces what readers see, and returns what they saw before, so that a file that goes with it
  /// is closed after the lock was left. Leases on that file go on, and none begins any more.
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

  /// Notes the records that stand in the file though the index does not have them.
  func noteRecordsToErase(in file: TableFile, _ writer: inout TableWriter) {
    changeIndex(of: file) { index in
      for slot in index.takeRecordsToErase() { writer.noteUnerased(slot) }
    }
  }

  /// Writes the zeros that are still to be written.
  func eraseRest(in file: TableFile, _ writer: inout TableWriter) throws(SystemError) {
    noteRecordsToErase(in: file, &writer)
    for slot in writer.unerased.sorted() {
      if let error = erase(slot, in: file, &writer) { throw error }
    }
  }

  // MARK: Private

  /// Removes pictures from what is found in another's file; `nil` where there is none.
  @discardableResult
  private func addTombstones<Result>(
    _ body: (TableReader) throws(SystemError) -> Result
  ) throws(TableError) -> Result? {
    try TableError.wrapping { () throws(SystemError) in
      try findReader()
      return try shelf.withLock { $0.reader }.map { reader throws(SystemError) in try body(reader) }
    }
  }

  /// Writes when each picture was used last, so that the order of eviction outlives this process.
  private func writeRecency(to file: TableFile) throws(SystemError) {
    var next = 0
    // A few records at a time, since readers wait while they are gathered.
    while let (slot, records) = shelf.withLock({ shelf in
      shelf.change { $0.takeOutdatedRecords(from: next, limit: 256) }
    }) {
      try file.writeRecords(records, from: slot)
      next = slot + records.count
    }
  }
}
