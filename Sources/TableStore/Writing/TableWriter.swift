import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Changes an open table: each change is one method, called under the writer's lock, with the state
/// that changes leave for the next one.
///
/// Invariants:
/// 1. Only this writes to the current file.
/// 2. A slot is written only while it is claimed, so that no slot is read while it is written
///    (invariant 1 of `SlotStates`).
/// 3. A process writes to a named file only while it has that file's lock, and never in a child
///    that inherited it.
struct TableWriter: Sendable {
  let lookup: TableLookup
  /// The generation given last. It rises from store to store, across sessions and files of the
  /// table, so that a higher one always belongs to a later store. Each is the time of day in
  /// microseconds, or one more than the last where the clock stands behind that.
  var generation: UInt64
  var backOff = BackOff()
  /// The openings that suspended the table: it owns no file while there is one. A closed opening counts as
  /// resumed, but closing takes nothing back: the next change does, as in any second opener.
  var suspensions: Set<ObjectIdentifier> = []
  /// The error that lost private images when this process took the file over; the next flush
  /// throws it.
  var loss: TableError?
  /// True after an attempt to keep the index of the current file.
  var hasKeptIndex = false
  /// Bytes that the current file must have; with fewer it was cut.
  var byteCount: Int
  /// The removals that the current file remembers; `nil` for a file without a name, and until
  /// they can be read. Read ahead, so that a removal needs no call that reads.
  var log: RemovalLog?
  /// Removals that no file remembers yet.
  var unlogged = Removals()
  /// The images that are stale for the rest of the session: of each entity those up to this generation.
  var stale: [TableID.Digest: UInt64] = [:]
  /// The times of stamps; `nil` before the first is noted of the current file.
  var useTimes: UseTimes?
  /// Guest files whose images are in the owned file, until those are on the device.
  var takenIn: [(name: String, descriptor: Int32, file: any AnyObject & Sendable)] = []
  /// The file that a suspension took; without an owner's lock this process wants a guest file again.
  var formerFile: String?

  init(_ lookup: TableLookup) {
    self.lookup = lookup
    (generation, byteCount) = lookup.current.withLock { current in
      let newest = max(current.index.newestGeneration, current.reader?.newestGeneration ?? 0)
      return (newest, current.byteCount)
    }
    // After an error the first removal tries again.
    log = try? lockedFile?.file.slotReader.removals()
  }

  var opener: TableOpener { lookup.opener }

  var ownedFile: TableFile? { lookup.current.withLock { $0.isOwner ? $0.file : nil } }

  /// The file that this process has the lock of, the table's or a guest file, and its opener.
  var lockedFile: (file: TableFile, opener: TableOpener)? {
    lookup.current.withLock { current in
      guard let file = current.file, current.isOwner || current.guest != nil else { return nil }
      return (file, current.guest ?? opener)
    }
  }

  /// Makes the table ready for a change: open, unlocked, owned if it can be, and whole.
  mutating func ensureWritable() throws(TableError) {
    leaveToParent()
    let (isOpen, isOwner) = lookup.current.withLock { ($0.file != nil, $0.isOwner) }
    guard isOpen else { throw .closed }
    // Before anything is evicted: a change that fails half-way costs images.
    if lookup.isLocked { throw .protectedDataUnavailable(name: opener.name) }
    if !isOwner, !lookup.staysPrivate, suspensions.isEmpty { try becomeOwner() }
    try mendIfCut()
    keepIndex()
  }

  /// Keeps the index of a file that was opened without one, once, before the first change: of an index file
  /// that is not used any more nothing is left.
  mutating func keepIndex() {
    guard !hasKeptIndex, let file = ownedFile else { return }
    hasKeptIndex = true
    lookup.changeIndex(of: file) { _ in opener.keepIndex(of: file) }
  }

  /// Puts another current file and index, and starts over for them; returns the former ones.
  @discardableResult
  mutating func exchange(for fresh: CurrentTable) -> CurrentTable {
    let former = lookup.exchange(for: markingStale(in: fresh))
    var next = TableWriter(lookup)
    next.generation = max(next.generation, generation)
    next.suspensions = suspensions
    next.loss = loss
    next.unlogged = unlogged
    next.stale = stale
    next.formerFile = formerFile
    if fresh.isOwner { next.takenIn = takenIn }
    self = next
    return former
  }

  /// Asks the current table about one entity, as `TableLookup.ask`.
  func withRecordsLoaded<Answer>(
    of entity: TableID.Digest, _ question: (inout CurrentTable) -> Answer
  ) throws(TableError) -> Answer {
    try opener.wrapping { () throws(SystemError) in
      try lookup.withRecordsLoaded(of: entity, question)
    }
  }

  // MARK: Erasing

  /// Makes the record of a slot without an image zero; after a failure the next change repeats it.
  @discardableResult
  func erase(_ slot: Int, in file: TableFile) -> SystemError? {
    do throws(SystemError) { try file.writeRecord(nil, to: slot) } catch { return error }
    lookup.changeIndex(of: file) { $0.noteErased(slot) }
    return nil
  }

  /// Erases the records of all slots without an image, and has the file remember all removals.
  ///
  /// The removals are written even when a record cannot be erased, and the other way round; the
  /// first error is thrown.
  mutating func eraseRest(in file: TableFile) throws(TableError) {
    let failure = writeRemovals(to: file)
    for slot in lookup.current.withLock({ $0.index.recordsToErase }).sorted() {
      if let error = erase(slot, in: file) { throw opener.tableError(error) }
    }
    if let failure { throw opener.tableError(failure) }
  }

  /// Microseconds since 1970; 0 for a clock so wrong that too few generations would be left.
  static var timeOfDay: UInt64 {
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0, now.tv_sec >= 0 else { return 0 }
    let (seconds, overflow) = UInt64(now.tv_sec).multipliedReportingOverflow(by: 1_000_000)
    guard !overflow, seconds < SlotRecord.maximumGeneration / 2 else { return 0 }
    return seconds + UInt64(now.tv_nsec / 1000)
  }
}
