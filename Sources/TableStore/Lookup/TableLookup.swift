import Locking
import Synchronization

/// Finds images in an open table: by the hit index without a lock, and otherwise in the current table, under its lock.
/// Lookups write no byte of the table file, and note verification and damage in the current table's index.
final class TableLookup: Sendable {
  let opener: TableOpener
  let pool: PrivateSlots
  /// True for a table without a named file: one in memory, and one whose name this process uses for
  /// another geometry.
  let staysPrivate: Bool
  let current: Lock<CurrentTable>
  /// The hit index of the current file; `nil` once closed.
  private let hitIndex: CurrentHitIndex
  /// Hits on files that were replaced, and on those of other processes.
  let formerHitCount = Atomic<Int>(0)
  /// Damage found in files that were replaced.
  let formerDamageCount = Atomic<Int>(0)
  /// The callbacks of the openings.
  let listeners = Lock<[ObjectIdentifier: @Sendable (TableNotice) -> Void]>([:])
  /// Why this process could not make or write the table's file at its last try; `nil` if it could, and if
  /// another process owns the file.
  private let lastRefusal: Lock<TableError?>
  /// How often the process had forked when the current file became this process's own.
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
    pool = PrivateSlots(layout: opener.layout)
    let current: CurrentTable
    if let opened {
      current = CurrentTable(opened)
    } else {
      var reader: TableReader?
      do throws(SystemError) { if !staysPrivate { reader = try opener.makeReader() } } catch {
        // Without a reader its images are misses, and the next change looks again. A lock of the device would
        // pass unnoticed.
        if opener.system.isLock(error) { throw opener.tableError(error) }
      }
      current = try opener.secondTable(reader: reader, because: refusal)
    }
    hitIndex = CurrentHitIndex(current.file?.states.hitIndex)
    self.current = Lock(current)
  }

  deinit {
    // A file is closed with its last lease only after it was replaced.
    exchange(for: .closed)
  }

  // MARK: Looking up

  /// The image of a key. One that this process stored or has checked before costs no system call,
  /// no lock, no file access, and one allocation. In a child of a fork, `TableWriter.leaveToParent`
  /// comes first.
  @inline(__always)
  func entry(entity: TableID, version: TableID) -> TableEntry? {
    verifiedEntry(entity: entity, version: version)
      ?? entryByIndex(for: TableKey(entity: entity, version: version))
  }

  /// The same, for an image that this process stored or has checked before.
  @inline(__always)
  func verifiedEntry(entity: TableID, version: TableID) -> TableEntry? {
    TableKeyView.lending(entity, version) { hitIndex.load()?.hit($0) }.map { TableEntry($0) }
  }

  /// The image of a key that the hit index does not find: one of an earlier session, of another process, of a file
  /// that is not mapped, far down its chain, or none.
  @inline(never)
  private func entryByIndex(for key: TableKey) -> TableEntry? {
    variant(of: key, isExact: true)?.entry
  }

  /// The entry of a leased slot; it takes the lease over.
  ///
  /// - Parameter copy: The slot's content, shown where the file is not mapped.
  func entry(
    ofLeased slot: Int, in file: TableFile, copy: SlotContent, extent: SlotExtent
  ) -> TableEntry {
    guard let content = file.mappedContent(of: slot) else {
      file.states.release(slot)
      return TableEntry(content: copy, extent: extent)
    }
    return TableEntry(
      HitIndex.Hit(lease: file.states.hitIndex.held(slot), content: content, extent: extent))
  }

  /// True when the device is locked and the table has the key's image, or cannot tell.
  func isProtectedNow(_ key: TableKey) -> Bool {
    guard isLocked else { return false }
    do throws(SystemError) {
      return try image(of: key.entity, version: key.version)?.isStale == false
    } catch { return true }
  }

  /// True when the device is locked and closes the file; costs a system call where files can be
  /// closed, and nothing elsewhere.
  var isLocked: Bool {
    guard !opener.mapsFiles, let file else { return false }
    do throws(SystemError) {
      _ = try file.system.read(file.descriptor, count: 1, at: 0)
      return false
    } catch {
      return file.system.isLock(error)
    }
  }

  /// The file in use; `nil` once closed.
  var file: TableFile? { current.withLock { $0.file } }

  /// Reads the named file where another process owns it.
  var reader: TableReader? { current.withLock { $0.reader } }

  /// Images that the file in use can hold.
  var slotCount: Int { file?.layout.slotCount ?? opener.layout.slotCount }

  // MARK: Notices

  var refusal: TableError? { lastRefusal.withLock { $0 } }

  /// Where the images of this process go.
  var storage: TableStorage {
    guard let refusal else { return .ready }
    return reader == nil ? .unavailable(refusal) : .readOnly(refusal)
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

  /// Calls the listeners. The caller may hold the writer's lock and, in closing, the registry's, but not the
  /// table's.
  func tell(_ notice: TableNotice) {
    for listener in listeners.withLock({ Array($0.values) }) { listener(notice) }
  }

  // MARK: Private

  /// Reads a leased slot from its file and checks it; a damaged one leaves the index. `nil` for that, if it is
  /// another entity's, and without memory.
  func copy(of leased: LeasedSlot, _ entity: TableID) -> SlotCopy? {
    let (file, slot, record) = (leased.file, leased.lease.slot, leased.lease.record)
    let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
    guard let (content, finding) = made else { return nil }
    if case .damaged = finding {
      var isLost = false
      changeIndex(of: file) { isLost = $0.discard(slot, generation: record.generation) }
      if isLost { tell(.damage(entity)) }
    }
    guard let trailer = finding.trailer, trailer.entity.matches(entity) else { return nil }
    return SlotCopy(content: content, record: record, trailer: trailer)
  }

  /// Changes the index, if it still belongs to this file.
  func changeIndex(of file: TableFile, _ change: (inout TableIndex) -> Void) {
    current.withLock { current in
      if current.file === file { change(&current.index) }
    }
  }

  // MARK: The current table

  /// Exchanges the current table, and returns the former one, so that its file is closed outside the lock.
  /// Leases on that file go on, and none begins any more.
  @discardableResult
  func exchange(for fresh: CurrentTable) -> CurrentTable {
    let (former, hitCount) = current.withLock { current in
      defer { current = fresh }
      hitIndex.store(fresh.file?.states.hitIndex)
      // Before the lock is free, so that no count becomes smaller meanwhile.
      let hitCount = current.file?.states.hitCount ?? 0
      formerHitCount.wrappingAdd(hitCount, ordering: .relaxed)
      if current.file != nil {
        formerDamageCount.wrappingAdd(current.index.damageCount, ordering: .relaxed)
      }
      return (current, hitCount)
    }
    if let file = former.file {
      file.states.retire(file)
      // Until it was retired.
      formerHitCount.wrappingAdd(file.states.hitCount - hitCount, ordering: .relaxed)
    }
    return former
  }

  /// True in a child of fork(2) that inherited the table: it has the mapping and the lock's
  /// descriptor, but the parent owns the slots.
  @inline(__always)
  var isChild: Bool { knownForks.load(ordering: .acquiring) != ForkWatch.generation }

  /// Notes that the current table is this process's own, which has forked so often.
  func noteForks(_ count: Int) { knownForks.store(count, ordering: .releasing) }
}

/// A slot with a lease, and its file.
struct LeasedSlot {
  let file: TableFile
  let lease: TableIndex.Lease

  var held: HitIndex.HeldSlot { file.states.hitIndex.held(lease.slot) }
}

/// The content of a slot in private memory, of which every byte was checked.
struct SlotCopy {
  let content: SlotContent
  let record: SlotRecord
  let trailer: SlotTrailer
}
