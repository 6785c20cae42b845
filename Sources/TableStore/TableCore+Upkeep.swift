import Locking
import Synchronization

extension TableCore {
  /// Takes an entity's picture out, and tells whether there was one.
  ///
  /// The system has the change when this returns; the device has it after `flush()`.
  func remove(_ entity: TableID) throws(TableError) -> Bool {
    try writer.withLock { writer throws(TableError) in
      try settle(&writer)
      let (file, slot, reader) = shelf.withLock { shelf in
        (shelf.file, shelf.change { $0.remove(entity) }, shelf.reader)
      }
      let isHidden = reader?.hide(entity) ?? false
      guard let file else { return isHidden }
      if let slot { writer.noteUnerased(slot) }
      // Records that could not be erased before may be older ones of this entity.
      try TableError.wrapping { () throws(SystemError) in try eraseRest(in: file, &writer) }
      return isHidden || slot != nil
    }
  }

  /// Empties the table by putting a new file in the place of the old one, which lives on for those
  /// who look at its pictures.
  func removeAll() throws(TableError) {
    try writer.withLock { writer throws(TableError) in
      try settle(&writer)
      let (isOwner, reader) = shelf.withLock { ($0.isOwner, $0.reader) }
      let fresh: TableShelf
      if isOwner {
        fresh = TableShelf(try opener.replaceEmpty())
      } else {
        reader?.hideAll()
        fresh = TableShelf(nameless: try opener.makeNameless(), reader: reader)
      }
      // Nobody finds the old file any more, so its lock would only burden a suspended process.
      exchange(for: fresh).file?.unlock()
      writer.restart(generation: 0)
    }
  }

  /// Writes what is still to be written, and brings all of it to the device.
  func flush() throws(TableError) {
    try writer.withLock { writer throws(TableError) in
      try settle(&writer)
      guard let file = ownedFile else { return }
      try writePending(to: file, &writer)
      try TableError.wrapping { () throws(SystemError) in
        try file.synchronize()
        // The file may have got its name a moment ago, and an older one may have had it before.
        try opener.directory.synchronize()
      }
    }
  }

  /// Ends the table: readers miss, writers throw, and those who look at pictures go on.
  ///
  /// Returns the owned file, which lives as long as they do.
  func close() -> TableFile? {
    writer.withLock { writer in
      if isChild { becomeSecondOpener(&writer) }
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
        leasedCount: shelf.index.leasedCount,
        unprovenCount: shelf.index.unprovenCount,
        evictionCount: shelf.index.evictionCount,
        damageCount: shelf.index.damageCount,
        hitCount: formerHitCount.load(ordering: .relaxed) + shelf.index.board.hitCount,
        diskByteCount: diskByteCount,
        mappedByteCount: shelf.file?.mappedByteCount ?? 0,
        isOwner: shelf.isOwner)
    }
  }

  /// Reads every slot and checks every byte of it; damaged ones leave the index. No picture counts
  /// as used by this.
  func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    guard let file = shelf.withLock({ $0.file }) else { return ([], []) }
    var entries: [TableEntryInfo] = []
    var damages: [TableDamage] = []
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
        changeIndex(of: file) { $0.discard(slot, generation: record.generation) }
      case .damaged, nil:
        // A file that was let go meanwhile is another process's to write.
        break
      }
      file.board.releaseSilently(slot)
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
      hitBoard.store(fresh.file?.board)
      return shelf
    }
    if let file = former.file {
      file.board.retire(file)
      formerHitCount.wrappingAdd(file.board.hitCount, ordering: .relaxed)
    }
    return former
  }

  // MARK: Private

  /// Writes the zeros that are still to be written.
  private func eraseRest(in file: TableFile, _ writer: inout TableWriter) throws(SystemError) {
    changeIndex(of: file) { index in
      for slot in index.takeStale() { writer.noteUnerased(slot) }
    }
    for slot in writer.unerased.sorted() {
      if let error = erase(slot, in: file, &writer) { throw error }
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
