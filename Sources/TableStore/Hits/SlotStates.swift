import Synchronization

/// The memory that a table's index shares with hits: for each slot its state, its stamp and its label, and
/// the chains of the stored index.
///
/// A hit writes no memory that hits on other slots write, so threads do not wait for each other. After a miss
/// here the caller asks the index, under its lock.
///
/// Invariants:
/// 1. A slot is leased only while it is live, by exchanging a state that says so, or under the
///    index lock. It is claimed only without leases, in one exchange too. So no slot is written
///    while a thread reads it.
/// 2. A label is written before its slot becomes open, or under a claim; strings and sizes in it
///    before the slot is verified.
/// 3. Everything but taking and ending leases happens under the index lock, or while no other
///    thread has this object.
/// 4. The memory keeps its address while this object lives, and no slot of a closed file is open.
///    So a hit that still reads the states of a replaced file misses; the table's pool keeps them.
/// 5. A slot is *known* once its record was read or written in this session. The state of any other slot is
///    zero, and its label and stamp mean nothing: their memory was never touched.
///
/// `@unchecked Sendable` is safe: invariants 2 and 3 cover all memory that is not atomic or locked.
final class SlotStates: @unchecked Sendable {
  let memory: UnsafeMutablePointer<HitIndex.Memory>
  let slotCount: Int
  /// The part of the index that outlives the process.
  let stored: StoredIndex
  private(set) var preparedCount = 0
  /// No use before this session of a file has a later stamp, and each one since then has.
  private(set) var earlierStamp: UInt64 = 0
  /// One for a known slot. Not in the memory that hits read: by Swift's rule of exclusive access, a change
  /// of one part of that is a change of all of it, during which no hit might read.
  private let known: UnsafeMutablePointer<UInt8>
  private let knownMemory: ZeroPages<UInt8>
  /// False while a file uses this memory.
  private let isResting = Atomic<Bool>(false)

  /// - Parameter clockGrain: Ticks by which the clock of ending leases may be behind; the default
  ///   is a fraction of a millisecond.
  init(slotCount: Int, clockGrain: UInt64 = 1 << 20) {
    self.slotCount = slotCount
    stored = StoredIndex(slotCount: slotCount)
    knownMemory = ZeroPages(count: slotCount)
    known = knownMemory.base
    memory = .allocate(capacity: 1)
    memory.initialize(
      to: HitIndex.Memory(slotCount: slotCount, stored: stored, clockGrain: clockGrain))
  }

  deinit {
    for slot in knownSlots { memory.pointee.strings.base[slot].release() }
    memory.deinitialize(count: 1)
    memory.deallocate()
  }

  var hitIndex: HitIndex { HitIndex(memory: memory) }

  /// Makes the slots below `count` usable.
  func prepare(_ count: Int) {
    precondition(count <= slotCount, "Slot \(count - 1) is beyond the table's \(slotCount) slots.")
    preparedCount = max(preparedCount, count)
  }

  func hasRecord(_ slot: Int) -> Bool { known[slot] != 0 }

  var knownSlots: LazyFilterSequence<Range<Int>> { knownSlots(from: 0) }

  func knownSlots(from slot: Int) -> LazyFilterSequence<Range<Int>> {
    // Of other slots no memory is touched.
    (slot..<max(slot, preparedCount)).lazy.filter { [known] in known[$0] != 0 }
  }

  // MARK: States

  func state(of slot: Int) -> SlotState {
    SlotState(bits: memory.pointee.cells.base[slot].state.load(ordering: .acquiring))
  }

  /// True when every lease on the slot has ended.
  func isUnleased(_ slot: Int) -> Bool { state(of: slot).leaseCount == 0 }

  /// Claims a slot, with or without an image; false while it is leased.
  func claim(_ slot: Int) -> Bool {
    let state = state(of: slot)
    guard let claimed = state.claimed else { return false }
    // Acquiring: all reads under leases that ended are over.
    let isClaimed = memory.pointee.cells.base[slot].state.compareExchange(
      expected: state.bits, desired: claimed.bits, ordering: .acquiringAndReleasing
    ).exchanged
    if isClaimed { known[slot] = 1 }
    return isClaimed
  }

  /// Ends a claim without an image.
  func unclaim(_ slot: Int) { clear(SlotState.claimed, of: slot) }

  /// Opens a claimed slot after its image was written, and takes one lease.
  func publish(_ slot: Int, key: TableKey, extent: SlotExtent) {
    setDigests(key.entity.digest, key.version.digest, of: slot)
    setKey(key, extent, of: slot)
    setStamp(hitIndex.nextStamp(), of: slot)
    let change = SlotState.live &+ SlotState.verified &+ SlotState.lease &- SlotState.claimed
    // Releasing: a thread that leases the slot sees all that was written.
    memory.pointee.cells.base[slot].state.wrappingAdd(change, ordering: .acquiringAndReleasing)
  }

  /// Makes a claimed slot live after its image was written, for its first lookup to verify; takes no
  /// lease.
  func publishUnverified(_ slot: Int, entity: TableID.Digest, version: TableID.Digest) {
    setDigests(entity, version, of: slot)
    setStamp(hitIndex.nextStamp(), of: slot)
    let change = SlotState.live &- SlotState.claimed
    memory.pointee.cells.base[slot].state.wrappingAdd(change, ordering: .acquiringAndReleasing)
  }

  /// Makes a slot live whose record was read and whose content was not.
  func adopt(_ slot: Int, entity: TableID.Digest, version: TableID.Digest) {
    known[slot] = 1
    setDigests(entity, version, of: slot)
    // No other thread writes the state of a slot that is neither open nor leased.
    memory.pointee.cells.base[slot].state.store(SlotState.live, ordering: .releasing)
  }

  /// Notes that the content of a live slot matches its record.
  func verify(_ slot: Int, key: TableKey, extent: SlotExtent) {
    guard !state(of: slot).isVerified else { return }
    setKey(key, extent, of: slot)
    memory.pointee.cells.base[slot].state.bitwiseOr(
      SlotState.verified, ordering: .acquiringAndReleasing)
  }

  /// Closes a slot to hits; leases go on, and its image stays what it was.
  func close(_ slot: Int) { clear(SlotState.live, of: slot) }

  /// Closes a slot to hits and to the index; leases go on.
  func withdraw(_ slot: Int) {
    clear(SlotState.live | SlotState.verified, of: slot)
  }

  private func clear(_ bits: UInt64, of slot: Int) {
    memory.pointee.cells.base[slot].state.bitwiseAnd(~bits, ordering: .acquiringAndReleasing)
  }

  // MARK: Labels

  func label(of slot: Int) -> SlotLabel { memory.pointee.cells.base[slot].label }

  func strings(of slot: Int) -> SlotStrings { memory.pointee.strings.base[slot] }

  /// The fields of the slot's record that only the index needs.
  func recordMetadata(of slot: Int) -> RecordMetadata { memory.pointee.recordMetadata.base[slot] }

  func setRecordMetadata(_ metadata: RecordMetadata, of slot: Int) {
    memory.pointee.recordMetadata.base[slot] = metadata
  }

  private func setDigests(_ entity: TableID.Digest, _ version: TableID.Digest, of slot: Int) {
    let cell = memory.pointee.cells.base + slot
    (cell.pointee.label.entity, cell.pointee.label.version) = (entity, version)
    let tag = memory.pointee.content == nil ? 0 : HitIndex.tag(entity, version)
    cell.pointee.tag.store(tag, ordering: .relaxed)
  }

  private func setKey(_ key: TableKey, _ extent: SlotExtent, of slot: Int) {
    let cell = memory.pointee.cells.base + slot
    let strings = memory.pointee.strings.base + slot
    cell.pointee.label.entityKind = key.entity.kind
    cell.pointee.label.versionKind = key.version.kind
    cell.pointee.label.width = UInt16(extent.width)
    cell.pointee.label.height = UInt16(extent.height)
    let hasStrings = key.entity.bytes != nil || key.version.bytes != nil
    guard hasStrings || !strings.pointee.isEmpty else { return }
    strings.pointee.release()
    strings.pointee = SlotStrings(retaining: key)
  }

  // MARK: Leases

  /// Takes a lease on a slot with an image; the caller holds the index lock.
  ///
  /// - Parameter isHit: Counts in the statistics.
  func lease(_ slot: Int, isHit: Bool) {
    let change = SlotState.lease | (isHit ? SlotState.hit : 0)
    memory.pointee.cells.base[slot].state.wrappingAdd(change, ordering: .acquiring)
    setStamp(hitIndex.nextStamp(), of: slot)
  }

  /// Ends a lease, from any thread.
  func release(_ slot: Int) { hitIndex.held(slot).end() }

  /// The hits that found an image here, since the file was opened.
  var hitCount: Int {
    knownSlots.reduce(0) { $0 + state(of: $1).hitCount }
  }

  // MARK: Recency

  func stamp(of slot: Int) -> UInt64 {
    hasRecord(slot)
      ? memory.pointee.cells.base[slot].stamp.load(ordering: .relaxed) : stored.stamp(of: slot)
  }

  func setStamp(_ stamp: UInt64, of slot: Int) {
    memory.pointee.cells.base[slot].stamp.store(stamp, ordering: .relaxed)
  }

  /// A stamp later than all before; a lease that ends from now on leaves no earlier one.
  func advanceClock() -> UInt64 {
    let now = hitIndex.nextStamp()
    memory.pointee.clock.store(now, ordering: .relaxed)
    return now
  }

  /// Has all stamps from now on be later than this one, also while the processor's ticks stand behind the clock.
  func advanceClock(beyond stamp: UInt64) {
    memory.pointee.clock.store(stamp &+ 1, ordering: .relaxed)
  }

  /// Lets stamps go on after `stamp`, which an earlier session left.
  func resumeClock(after stamp: UInt64) {
    earlierStamp = stamp
    guard memory.pointee.clock.load(ordering: .relaxed) < stamp else { return }
    memory.pointee.startClock(after: stamp)
  }

  // MARK: Files

  /// Begins the use by a file.
  ///
  /// - Parameters:
  ///   - content: The mapped content of slot 0; `nil` without a mapping.
  ///   - nonce: The file's.
  func attach(
    content: UnsafeRawPointer?, layout: TableLayout, nonce: UInt64 = 0,
    indexStep: (@Sendable () -> Void)? = nil
  ) {
    stored.attach(nonce: nonce, step: indexStep)
    memory.pointee.key.store(stored.key, ordering: .relaxed)
    memory.pointee.content = content
    memory.pointee.contentStride = layout.stride
    memory.pointee.layout = layout
  }

  /// Ends the use by a file; no lease on it is left.
  func detach() { isResting.store(true, ordering: .releasing) }

  /// Empties this memory for another file; false while a file uses it.
  func reuse() -> Bool {
    guard isResting.compareExchange(expected: true, desired: false, ordering: .acquiring).exchanged
    else { return false }
    stored.clear()
    for slot in knownSlots {
      memory.pointee.cells.base[slot].state.store(0, ordering: .relaxed)
      memory.pointee.strings.base[slot].release()
      memory.pointee.strings.base[slot] = SlotStrings()
      known[slot] = 0
    }
    (preparedCount, earlierStamp) = (0, 0)
    return true
  }

  /// Lets no slot of `file` be leased any more, and keeps the file until the last lease ends.
  func retire(_ file: any AnyObject & Sendable) {
    // Another process may own the table from now on, and its index file.
    stored.letGo()
    memory.pointee.retirement.begin(keeping: file) {
      knownSlots.reduce(0) { sum, slot in
        let old = memory.pointee.cells.base[slot].state.bitwiseOr(
          SlotState.retired, ordering: .acquiringAndReleasing
        ).oldValue
        return sum + SlotState(bits: old).leaseCount
      }
    }
  }
}
