import Locking
import Synchronization

/// Finds pictures in an open table: by the hit index without a lock, and otherwise on the shelf
/// under its lock.
///
/// Lookups write nothing to a file. They note proof and damage in the shelf's index, which
/// `TableWriter` changes under the same lock.
final class TableLookup: Sendable {
  let opener: TableOpener
  let pool: SlotBufferPool
  /// True for a table without a named file: one in memory, and one whose name this process uses for
  /// another geometry.
  let staysPrivate: Bool
  let shelf: Lock<TableShelf>
  /// The hit index of the file on the shelf; `nil` once closed.
  private let hitIndex: CurrentHitIndex
  /// Hits on files that left the shelf, and on those of other processes.
  let formerHitCount = Atomic<Int>(0)
  /// Damage found in files that left the shelf.
  let formerDamageCount = Atomic<Int>(0)
  /// The callbacks of the openings.
  let listeners = Lock<[ObjectIdentifier: @Sendable (TableNotice) -> Void]>([:])
  /// Why this process could not make or write the table's file at its last try; `nil` if it could, and if
  /// another process owns the file.
  private let lastRefusal: Lock<TableError?>
  /// How often the process had forked when the file on the shelf became this process's own.
  private let knownForks = Atomic<Int>(ForkWatch.start())

  /// - Parameters:
  ///   - opened: The file that this process owns, or `nil` to begin as a second opener.
  ///   - refusal: Why this process cannot own the file, if no other process does.
  init(
    opener: TableOpener, opened: TableOpener.Opened?, staysPrivate: Bool, refusal: TableError? = nil
  ) throws(TableError) {
    lastRefusal = Lock(refusal)
    self.opener = opener
    self.staysPrivate = staysPrivate
    pool = SlotBufferPool(layout: opener.layout)
    let shelf: TableShelf
    if let opened {
      shelf = TableShelf(opened)
    } else {
      // Without a reader its pictures are misses; the next change looks again.
      let reader = try TableError.unlessProtected { () throws(TableError) in
        try staysPrivate
          ? nil : opener.wrapping { () throws(SystemError) in try opener.makeReader() }
      }
      shelf = try opener.secondShelf(reader: reader, because: refusal)
    }
    hitIndex = CurrentHitIndex(shelf.file?.states.hitIndex)
    self.shelf = Lock(shelf)
  }

  deinit {
    // A file is closed with its last lease only after it left the shelf.
    exchange(for: .closed)
  }

  // MARK: Looking up

  /// The picture of a key. One that this process stored or has checked before costs no system call,
  /// no lock, no file access, and one allocation. In a child of a fork, `TableWriter.leaveToParent`
  /// comes first.
  @inline(__always)
  func entry(entity: TableID, version: TableID) -> TableEntry? {
    let hit = TableKeyView.lending(entity, version) { hitIndex.load()?.hit($0) }
    guard let hit else {
      return entryByIndex(for: TableKey(entity: entity, version: version))
    }
    return TableEntry(hit)
  }

  /// The picture of a key without a hint: one of an earlier session, of another process, or none.
  @inline(never)
  private func entryByIndex(for key: TableKey) -> TableEntry? {
    // A record that cannot be read now is a miss now, and stays for later lookups.
    let answer = try? ask(about: key.entity.digest) { ($0.index.lease(key), $0.file, $0.reader) }
    guard let (found, file, reader) = answer, let file else { return nil }
    guard let (slot, record, isProven) = found else {
      guard let entry = reader?.entry(for: key) else { return nil }
      formerHitCount.wrappingAdd(1, ordering: .relaxed)
      return entry
    }
    guard isProven, file.base != nil else {
      // Without a mapping every hit is a copy.
      return checkedEntry(for: key, LeasedSlot(file: file, slot: slot, record: record))
    }
    let extent = file.states.label(of: slot).extent
    return entry(ofLeased: slot, in: file, copy: nil, extent: extent)
  }

  /// The entry of a leased slot; it takes the lease over.
  ///
  /// - Parameter copy: The slot's content, shown where the file is not mapped.
  func entry(
    ofLeased slot: Int, in file: TableFile, copy: SlotContent?, extent: SlotExtent
  ) -> TableEntry? {
    guard let content = file.mappedContent(of: slot) else {
      file.states.release(slot)
      return copy.map { TableEntry(content: $0, extent: extent) }
    }
    return TableEntry(
      HitIndex.Hit(lease: file.states.hitIndex.held(slot), content: content, extent: extent))
  }

  /// True when the device is locked and the table has the key's picture, or cannot tell.
  func isProtectedNow(_ key: TableKey) -> Bool {
    guard isLocked else { return false }
    do throws(SystemError) {
      return try picture(of: key.entity, version: key.version)?.isStale == false
    } catch { return true }
  }

  /// True when the device is locked and closes the file; costs a system call where files can be
  /// closed, and nothing elsewhere.
  var isLocked: Bool {
    guard !opener.mapsFiles, let file = shelf.withLock({ $0.file }) else { return false }
    do throws(SystemError) {
      _ = try file.system.read(file.descriptor, count: 1, at: 0)
      return false
    } catch {
      return file.system.isLock(error)
    }
  }

  /// Pictures that the file in use can hold.
  var slotCount: Int { shelf.withLock { $0.file }?.layout.slotCount ?? opener.layout.slotCount }

  // MARK: Notices

  /// Calls the listeners after a picture was found damaged. The caller may hold the writer's lock
  /// and, in closing, the registry's, but not the shelf's.
  func tellOfDamage(to entity: TableID?) { tell(.damage(entity)) }

  var refusal: TableError? { lastRefusal.withLock { $0 } }

  /// Where the pictures of this process go.
  var storage: TableStorage {
    guard let refusal else { return .ready }
    return shelf.withLock { $0.reader == nil } ? .unavailable(refusal) : .readOnly(refusal)
  }

  /// Notes whether the file could be made and written, and tells the listeners if that has changed. The caller
  /// may hold the writer's lock.
  func noteRefusal(_ refusal: TableError?) {
    let former = lastRefusal.withLock { last in
      defer { last = refusal }
      return last
    }
    if former != refusal { tell(.storage(storage)) }
  }

  private func tell(_ notice: TableNotice) {
    for listener in listeners.withLock({ Array($0.values) }) { listener(notice) }
  }

  // MARK: Private

  /// The entry of a leased slot after a check; the lease ends where there is none.
  private func checkedEntry(for key: TableKey, _ leased: LeasedSlot) -> TableEntry? {
    let (file, slot) = (leased.file, leased.slot)
    guard let copy = copy(of: leased, key.entity), copy.trailer.matches(key) else {
      file.states.hitIndex.held(slot).undo()
      return nil
    }
    let extent = copy.trailer.extent
    changeIndex(of: file) {
      $0.prove(slot, generation: leased.record.generation, key: key, extent: extent)
    }
    return entry(ofLeased: slot, in: file, copy: copy.content, extent: extent)
  }

  /// Reads a leased slot from its file and checks it; `nil` where it is damaged, and if it is another entity's.
  func copy(of leased: LeasedSlot, _ entity: TableID) -> SlotCopy? {
    guard let (content, finding) = read(leased, of: entity), let trailer = finding.trailer,
      trailer.entity.matches(entity)
    else { return nil }
    return SlotCopy(content: content, record: leased.record, trailer: trailer)
  }

  /// Reads a leased slot from its file and checks it; a damaged one leaves the index. `nil` without memory.
  ///
  /// - Parameter entity: The one that listeners are told of.
  func read(
    _ leased: LeasedSlot, of entity: TableID?
  ) -> (content: SlotContent, result: SlotReader.Finding)? {
    let (file, slot, record) = (leased.file, leased.slot, leased.record)
    let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
    guard case .damaged? = made?.result else { return made }
    var isLost = false
    changeIndex(of: file) { isLost = $0.discard(slot, generation: record.generation) }
    if isLost { tellOfDamage(to: entity) }
    return made
  }

  /// Changes the index, if it still belongs to this file.
  func changeIndex(of file: TableFile, _ change: (inout TableIndex) -> Void) {
    shelf.withLock { shelf in
      guard shelf.file === file else { return }
      shelf.change(change)
    }
  }

  // MARK: The shelf

  /// Exchanges the shelf, and returns the former one, so that its file is closed outside the lock.
  /// Leases on that file go on, and none begins any more.
  @discardableResult
  func exchange(for fresh: TableShelf) -> TableShelf {
    let former = shelf.withLock { shelf in
      defer { shelf = fresh }
      hitIndex.store(fresh.file?.states.hitIndex)
      return shelf
    }
    if let file = former.file {
      file.states.retire(file)
      formerHitCount.wrappingAdd(file.states.hitCount, ordering: .relaxed)
      formerDamageCount.wrappingAdd(former.index.damageCount, ordering: .relaxed)
    }
    return former
  }

  /// True in a child of fork(2) that inherited the table: it has the mapping and the lock's
  /// descriptor, but the parent owns the slots.
  @inline(__always)
  var isChild: Bool { knownForks.load(ordering: .acquiring) != ForkWatch.generation }

  /// Notes that the shelf is this process's own, which has forked so often.
  func noteForks(_ count: Int) { knownForks.store(count, ordering: .releasing) }
}

/// A slot with a lease.
struct LeasedSlot {
  let file: TableFile
  let slot: Int
  let record: SlotRecord
}

/// The content of a slot in private memory, of which every byte was checked.
struct SlotCopy {
  let content: SlotContent
  let record: SlotRecord
  let trailer: SlotTrailer
}
