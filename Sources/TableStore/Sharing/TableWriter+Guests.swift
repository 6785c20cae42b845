import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Takes images and removals of other files of the table into the one that this process has the lock of, by
/// the steps of `Docs/TableFormat.md`, *Guest files*.
///
/// A generation is the time of a store or a removal, so the later of two changes of one entity counts, whichever
/// file has it. A placeholder counts as earlier than any image, as far as the records tell: they tell one of the
/// same version. Every step may be done twice, so a kill at any moment loses nothing.
///
/// A removal for which the log has no room forbids all earlier images of other files. So the log is
/// written after the images, and where it forgets more than before, after they are on the device:
/// a power cut keeps them there or where they came from.
extension TableWriter {
  /// Takes in every guest file that its process left; has no effect unless this process owns the
  /// table under its name.
  ///
  /// - Throws: `TableError.protectedDataUnavailable` where the lock of the device keeps images from coming.
  mutating func takeInGuests() throws(TableError) {
    guard let file = ownedFile else { return }
    // Files that cannot be listed or read now are taken in later, by this owner or the next.
    let names = try? opener.directory.guestNames(of: opener.fileName)
    guard let names, !names.isEmpty,
      (try? opener.directory.leads(opener.fileName, to: file.descriptor)) == true
    else { return }
    keepIndex()
    var isResized = false
    for name in names {
      let found: ReadableFile?
      do throws(SystemError) { found = try opener.lockLeftGuest(name) } catch {
        if opener.system.isLock(error) { throw opener.tableError(error) }
        continue
      }
      guard let guest = found else { continue }
      isResized = isResized || guest.header.layout != opener.layout
      do throws(TableError) {
        try importSlots(guest.slotReader) { _, record in record.recency }
        takenIn.append((name, guest.slotReader.descriptor, guest))
      } catch .system(let error, _) where error.call == .read {
        continue
      } catch .protectedDataUnavailable(let name) {
        throw .protectedDataUnavailable(name: name)
      } catch {
        // A full disk, or no free slot: the other files would not fare better.
        return
      }
    }
    // A table of another capacity may be large; else the next flush does that.
    if isResized { try? synchronize(file) }
  }

  /// Takes in the images that this process stored as a second opener.
  mutating func importSlots(_ former: CurrentTable) {
    guard let file = former.file else { return }
    do throws(TableError) {
      let whole = try importSlots(file.slotReader) { slot, record in
        file.recency(of: slot, record)
      }
      let slots = 0..<file.states.preparedCount
      if slots.contains(where: { former.index.hasImage($0) && !whole.contains($0) }) {
        loss = opener.tableError(SystemError(call: .read, code: EIO))
      }
      guard let guest = former.guest else { return }
      takenIn.append((guest.fileName, file.descriptor, file))
    } catch {
      // Images that cannot be moved can be drawn again; only the next flush reports them.
      loss = error
    }
  }

  /// Gives a second opener with a private file a guest file, if one is free.
  mutating func becomeGuest() {
    // A suspended process goes on with its former file when it resumes.
    guard !lookup.staysPrivate, suspensions.isEmpty else { return }
    let former = formerFile
    formerFile = nil
    let reader = lookup.current.withLock { $0.isOwner || $0.guest != nil ? nil : $0.reader }
    let guest = opener.guestTable(reader: reader, former: former) { unlogged.covers($0) }
    guard let guest else { return }
    importSlots(exchange(for: guest))
  }

  /// Deletes the guest files that were taken in; what they had is on the device.
  mutating func deleteTakenIn() {
    // One that stays is taken in again by the next owner.
    for guest in takenIn {
      guard (try? opener.directory.unlink(guest.name, ifItIs: guest.descriptor)) != nil else {
        continue
      }
      // Leases may keep it open; held, its lock would only get a suspended process killed.
      (guest.file as? TableFile)?.unlock()
    }
    takenIn = []
  }

  /// Deletes the guest file of this process if nothing is in it.
  func deleteEmptyGuest() {
    let (file, guest, isEmpty) = lookup.current.withLock { current in
      (current.file, current.guest, current.index.liveCount == 0)
    }
    guard let file, let guest, isEmpty, unlogged.isEmpty,
      (try? self.removals(in: file))?.isEmpty == true
    else { return }
    // One that stays is taken in.
    try? guest.directory.unlink(guest.fileName, ifItIs: file.descriptor)
  }

  // MARK: Private

  /// Takes in the images and removals of a file to which no process writes.
  ///
  /// - Returns: The slots whose images were found intact, or are not wanted any more.
  @discardableResult
  mutating func importSlots(
    _ source: SlotReader, without removed: Set<Int> = [], recency: (Int, SlotRecord) -> UInt64
  ) throws(TableError) -> Set<Int> {
    guard let (file, _) = lockedFile else { return [] }
    let (removals, records) = try opener.wrapping { () throws(SystemError) in
      (try source.removals(), try source.records())
    }
    for entry in removals.entries where entry.subject != .forgotten {
      try importSlots(entry, in: file)
    }
    let log = try opener.wrapping { () throws(SystemError) in
      try self.removals(in: file)
    }
    // After the last generation no store is possible: such a file is forged.
    let isForged = records.contains { $0.record.generation >= SlotRecord.maximumGeneration }
    let wanted = SlotReader.newestPerEntity(isForged ? [] : records).values
      .filter { slot, record in
        !removed.contains(slot) && !log.forbids(record) && !unlogged.covers(record)
      }
      .sorted { recency($0.slot, $0.record) < recency($1.slot, $1.record) }
      .suffix(opener.layout.slotCount)
    var whole = Set(records.map(\.slot))
    for (slot, record) in wanted where try !importSlots(record, in: slot, of: source) {
      whole.remove(slot)
    }
    // Removals that the source forgot are of other files' images, and must not forbid its own.
    for entry in removals.entries where entry.subject == .forgotten {
      try importSlots(entry, in: file)
    }
    if !wanted.isEmpty, forgetsMore(than: log) {
      try opener.wrapping { () throws(SystemError) in try file.synchronize() }
    }
    try eraseRest(in: file)
    return whole
  }

  private mutating func importSlots(
    _ removal: RemovalLog.Entry, in file: TableFile
  ) throws(TableError) {
    unlogged.note(removal.subject, upTo: removal.generation)
    let generation = removal.generation
    switch removal.subject {
    case .entity(let entity):
      try remove(entity, upTo: generation)
    case .all:
      let records = try opener.wrapping { () throws(SystemError) in try file.slotReader.records() }
      for (_, record) in records { try remove(record.entity, upTo: generation) }
    case .forgotten:
      break
    }
  }

  private func remove(_ entity: TableID.Digest, upTo generation: UInt64) throws(TableError) {
    _ = try withRecordsLoaded(of: entity) { $0.index.remove(entity, generations: 0...generation) }
  }

  /// - Returns: False for a damaged image, which is a miss, as it would be where it lies.
  private mutating func importSlots(
    _ record: SlotRecord, in slot: Int, of source: SlotReader
  ) throws(TableError) -> Bool {
    let own = try withRecordsLoaded(of: record.entity) { current in
      current.index.find(record.entity).map { current.index.record(of: $0) }
    }
    if let own, record.generation <= own.generation,
      own.version != record.version.placeholder.digest
    {
      return true
    }
    let made = lookup.pool.makeContent { source.read(slot, record: record, into: $0) }
    guard let (content, finding) = made else {
      throw .outOfMemory(byteCount: opener.layout.contentByteCount)
    }
    switch finding {
    case .intact(let trailer):
      if own != nil, trailer.version.known?.isPlaceholder == true { return true }
      let sealed = SealedSlot(
        entity: record.entity, version: record.version, key: nil, extent: trailer.extent,
        content: content)
      _ = try store(sealed, drawn: record.generation)
      return true
    case .damaged:
      return false
    case .refused(let error):
      throw opener.tableError(error)
    }
  }
}

extension TableFile {
  /// The last use of an image, which the file may not have yet.
  func recency(of slot: Int, _ record: SlotRecord) -> UInt64 {
    states.hasRecord(slot) ? states.stamp(of: slot) : record.recency
  }
}
