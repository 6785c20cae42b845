import Locking

/// The result of storing a picture.
package struct Insertion: Sendable {
  /// The picture, leased.
  package let entry: TableEntry
  /// The picture that was evicted for it.
  package let eviction: Eviction?
}

extension TableCore {
  /// Stores a picture; from its return on it is found, in this process and after a crash of it.
  ///
  /// The order of the calls is what makes a picture whole or absent after a kill at any instant:
  ///
  /// 1. The record of the slot becomes zero, if it is not yet: nothing names the slot while it is
  ///    written.
  /// 2. The content is written.
  /// 3. The record is written. It names content that the system has already.
  /// 4. Readers see the picture.
  /// 5. The record of the entity's older picture becomes zero.
  ///
  /// A power cut may keep any mixture of these writes; then the hashes decide.
  func insert(_ sealed: SealedSlot) throws(TableError) -> Insertion {
    guard sealed.content.layout.hasSameSlots(as: opener.layout) else { throw .foreignSlot }
    return try writer.withLock { writer throws(TableError) in
      try ensureWritable(&writer)
      try writer.backOff.admit()
      return try store(sealed, &writer)
    }
  }

  /// Makes the table ready for a change: open, unlocked, owned if it can be, and whole.
  func ensureWritable(_ writer: inout TableWriter) throws(TableError) {
    if isChild { becomeSecondOpener(&writer) }
    let (isOpen, isOwner) = shelf.withLock { ($0.file != nil, $0.isOwner) }
    guard isOpen else { throw .closed }
    // Before anything is evicted: a change that fails half-way costs pictures.
    if isLocked { throw .protectedNow(name: opener.name) }
    if !isOwner, !isNameless, !writer.suspension.isSuspended { becomeOwner(&writer) }
    try mendIfCut(&writer)
  }

  /// Makes the record of a slot zero; on failure, notes the slot for the next change.
  @discardableResult
  func erase(_ slot: Int, in file: TableFile, _ writer: inout TableWriter) -> SystemError? {
    do throws(SystemError) {
      try file.writeRecord(nil, to: slot)
      writer.noteErased(slot)
      return nil
    } catch {
      writer.noteUnerased(slot)
      return error
    }
  }

  /// Stores a picture; the caller holds the writer's lock and has made the table writable.
  func store(
    _ sealed: SealedSlot, _ writer: inout TableWriter
  ) throws(TableError) -> Insertion {
    let key = sealed.key
    guard let (file, reservation) = try reserve(for: key.entity, &writer) else {
      throw .allSlotsLeased
    }
    let slot = reservation.slot
    writer.generation += 1
    let record = SlotRecord(
      entity: key.entity.digest, version: key.version.digest, generation: writer.generation,
      contentHash: sealed.contentHash, recency: file.states.hitIndex.nextStamp(),
      at: file.slotAddress(of: slot))
    do throws(SystemError) {
      if writer.erased != slot { try file.writeRecord(nil, to: slot) }
      writer.noteErased(slot)
      try file.writeContent(sealed.content.bytes, to: slot)
      writer.byteCount = max(
        writer.byteCount, file.layout.slotOffset(slot) + file.layout.contentByteCount)
      writer.noteRecord(of: slot)
      try file.writeRecord(record, to: slot)
    } catch {
      erase(slot, in: file, &writer)
      changeIndex(of: file) { $0.abandon(slot) }
      writer.backOff.fail()
      throw TableError(error)
    }
    writer.backOff.succeed()
    let older = shelf.withLock { shelf in
      shelf.change { $0.publish(slot, record: record, key: key, extent: sealed.extent) }
    }
    if let older { erase(older, in: file, &writer) }
    let entry = entry(ofLeased: slot, in: file, copy: sealed.content, extent: sealed.extent)
    return Insertion(
      entry: entry ?? TableEntry(keepingPrivate: sealed), eviction: reservation.eviction)
  }

  // MARK: Private

  private func reserve(
    for entity: TableID, _ writer: inout TableWriter
  ) throws(TableError) -> (TableFile, TableIndex.Reservation)? {
    var failure: SystemError?
    while true {
      let ((file, room), _) = askOrLose(about: entity) { shelf in
        let mayGuess = writer.hasReadRecords
        return (shelf.file, shelf.change { $0.reserve(for: entity, mayGuess: mayGuess) })
      }
      guard let file else { return nil }
      switch room {
      case .reserved(let reservation): return (file, reservation)
      case .full: return nil
      case .unread:
        if let failure {
          writer.backOff.fail()
          throw TableError(failure)
        }
        // Records that failed once are not read again while others can be evicted.
        writer.hasReadRecords = true
        do throws(SystemError) { try readRecords(of: file) } catch { failure = error }
      }
    }
  }
}
