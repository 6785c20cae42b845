import Locking
import Synchronization

/// What everybody may see of a table's slots without a lock: their states, when they were last
/// used, whose pictures they hold, and hints at where to look.
///
/// A hit is a hint, a lease taken by one exchange of the slot's state, and a comparison of keys.
/// None of the three writes memory that hits on other slots write, so that threads do not wait for
/// each other. What a hit does not find, the index is asked for, under its lock.
///
/// Invariants:
/// 1. A slot is leased only while it is live, by exchanging a state that says so, or under the index
///    lock. It is claimed only without leases, in one exchange too. So nobody writes what somebody
///    looks at.
/// 2. A label is written before its slot becomes open, or under a claim; strings and sizes in it
///    before the slot is proven. Parts that are what they shall be are left alone, so that no
///    reader is disturbed when a file is opened again.
/// 3. All but leasing and ending leases happens under the index lock, or before and after the time
///    in which others know this board.
/// 4. The memory stays where it is as long as this object lives, and slots of a file that is gone
///    are not open. So whoever reads the board of a file that was just replaced reads something
///    harmless; the pool of a table keeps its boards for that.
/// 5. A retired file stays mapped until its last lease ends: `debt` counts the leases that had not
///    ended when it was retired, less those that ended since.
/// 6. The state of an unread slot is zero, and nothing else of it says anything: its memory was never
///    touched, or belongs to a file that is gone.
///
/// `@unchecked Sendable` is safe by these: what is not atomic or locked is covered by 2 and 3.
final class SlotBoard: @unchecked Sendable {
  let memory: UnsafeMutablePointer<HitBoard.Memory>
  let slotCount: Int
  private(set) var preparedCount = 0
  private var outgrownHints: [HintBlock] = []
  private var hintCount = 0
  private var carriedHitCount = 0
  /// Beside the memory that hits read, and not in it: to change a part of that is, by the language's
  /// rules, to change all of it, while somebody reads.
  private var unread: SlotSet
  /// The file, from its retirement until its last lease ends.
  private let retiredFile = Lock<TableFile?>(nil)
  /// False while a file uses this board.
  private let isResting = Atomic<Bool>(false)

  /// - Parameter clockGrain: Ticks by which the clock of ending leases may be behind; the default
  ///   is a fraction of a millisecond.
  init(slotCount: Int, clockGrain: UInt64 = 1 << 20) {
    self.slotCount = slotCount
    unread = SlotSet(slotCount: slotCount)
    memory = .allocate(capacity: 1)
    memory.initialize(to: HitBoard.Memory(slotCount: slotCount, clockGrain: clockGrain))
    memory.pointee.owner = Unmanaged.passUnretained(self)
  }

  deinit {
    for slot in readSlots { memory.pointee.strings[slot].release() }
    for block in outgrownHints { block.deallocate() }
    memory.deinitialize(count: 1)
    memory.deallocate()
  }

  var hitBoard: HitBoard { HitBoard(memory: memory) }

  /// Makes the slots below `count` usable.
  func prepare(_ count: Int) {
    precondition(count <= slotCount, "Slot \(count - 1) is beyond the table's \(slotCount) slots.")
    preparedCount = max(preparedCount, count)
  }

  // MARK: Unread slots

  /// How many slots there are whose records were checked when the file was opened, and are to be
  /// read when they are needed.
  var unreadCount: Int { unread.count }

  func isUnread(_ slot: Int) -> Bool { unread.contains(slot) }

  /// Leaves a slot's record in the file for now.
  func leaveUnread(_ slot: Int) { unread.insert(slot) }

  /// Takes a slot whose record is lost for one without a picture.
  func giveUpUnread(_ slot: Int) { unread.remove(slot) }

  /// The slots of which something may be known here.
  var readSlots: SlotSet.Others { readSlots(in: 0..<preparedCount) }

  func readSlots(in range: Range<Int>) -> SlotSet.Others { unread.others(in: range) }

  // MARK: States

  func state(of slot: Int) -> SlotState {
    SlotState(bits: memory.pointee.cells[slot].state.load(ordering: .acquiring))
  }

  /// True when nobody looks at the slot, and everybody who did has finished.
  func isUnleased(_ slot: Int) -> Bool { state(of: slot).leaseCount == 0 }

  /// Makes a slot, and whatever picture it holds, its writer's own; false while anybody looks at it.
  func claim(_ slot: Int) -> Bool {
    let state = state(of: slot)
    guard let claimed = state.claimed else { return false }
    forgetHint(of: slot)
    // Acquiring: all reads of those whose leases ended are over.
    return memory.pointee.cells[slot].state.compareExchange(
      expected: state.bits, desired: claimed.bits, ordering: .acquiringAndReleasing
    ).exchanged
  }

  /// Gives a claim up without having written a picture.
  func unclaim(_ slot: Int) { clear(SlotState.claimed, of: slot) }

  /// Opens a claimed slot whose picture was written, with one lease taken.
  func publish(_ slot: Int, key: TableKey, extent: SlotExtent) {
    setDigests(key.entity.digest, key.source.digest, of: slot)
    setKey(key, extent, of: slot)
    setStamp(hitBoard.nextStamp(), of: slot)
    let change = SlotState.live &+ SlotState.proven &+ SlotState.lease &- SlotState.claimed
    // Releasing: whoever leases the slot sees all that was written.
    memory.pointee.cells[slot].state.wrappingAdd(change, ordering: .acquiringAndReleasing)
    giveHint(of: slot)
  }

  /// Makes a slot live of which only the record was read.
  func adopt(_ slot: Int, entity: TableID.Digest, source: TableID.Digest) {
    giveUpUnread(slot)
    let state = state(of: slot)
    // Nobody else writes the state of a slot that is neither open nor leased.
    if state.bits == 0 {
      setDigests(entity, source, of: slot)
      return memory.pointee.cells[slot].state.store(SlotState.live, ordering: .releasing)
    }
    // With leases from before, and the same ids, all that was known is still true.
    let label = memory.pointee.cells[slot].label
    let isKnown =
      state.leaseCount > 0 && state.isProven && label.entity == entity && label.source == source
    if !isKnown {
      clear(SlotState.proven, of: slot)
      setDigests(entity, source, of: slot)
    }
    memory.pointee.cells[slot].state.bitwiseOr(SlotState.live, ordering: .acquiringAndReleasing)
  }

  /// Notes that a live slot holds what its record says.
  func prove(_ slot: Int, key: TableKey, extent: SlotExtent) {
    guard !state(of: slot).isProven else { return }
    setKey(key, extent, of: slot)
    memory.pointee.cells[slot].state.bitwiseOr(SlotState.proven, ordering: .acquiringAndReleasing)
    giveHint(of: slot)
  }

  /// Lets nobody find a slot's picture any more; leases go on.
  func withdraw(_ slot: Int) {
    forgetHint(of: slot)
    clear(SlotState.live | SlotState.proven, of: slot)
  }

  private func clear(_ bits: UInt64, of slot: Int) {
    memory.pointee.cells[slot].state.bitwiseAnd(~bits, ordering: .acquiringAndReleasing)
  }

  // MARK: Labels

  func label(of slot: Int) -> SlotLabel { memory.pointee.cells[slot].label }

  func strings(of slot: Int) -> SlotStrings { memory.pointee.strings[slot] }

  /// What the index knows of the file's record, beside the label.
  func facts(of slot: Int) -> SlotFacts { memory.pointee.facts[slot] }

  func setFacts(_ facts: SlotFacts, of slot: Int) { memory.pointee.facts[slot] = facts }

  private func setDigests(_ entity: TableID.Digest, _ source: TableID.Digest, of slot: Int) {
    let cell = memory.pointee.cells + slot
    if cell.pointee.label.entity != entity { cell.pointee.label.entity = entity }
    if cell.pointee.label.source != source { cell.pointee.label.source = source }
  }

  private func setKey(_ key: TableKey, _ extent: SlotExtent, of slot: Int) {
    let cell = memory.pointee.cells + slot
    let strings = memory.pointee.strings + slot
    let isSame = key.lend { cell.pointee.label.matches($0) && strings.pointee.match($0) }
    if isSame, cell.pointee.label.extent == extent { return }
    cell.pointee.label.entityKind = key.entity.kind
    cell.pointee.label.sourceKind = key.source.kind
    cell.pointee.label.width = UInt16(extent.width)
    cell.pointee.label.height = UInt16(extent.height)
    let hasStrings = key.entity.bytes != nil || key.source.bytes != nil
    guard hasStrings || !strings.pointee.isEmpty else { return }
    strings.pointee.release()
    strings.pointee = SlotStrings(retaining: key)
  }

  // MARK: Hints

  /// Lets hits find an open slot without the index. Where slots are not mapped, a hit is a copy and
  /// has to go through the index anyway.
  func giveHint(of slot: Int) {
    guard memory.pointee.content != nil else { return }
    if hintCount * 2 >= hints.bucketCount, hints.bucketCount < slotCount * 4 { growHints() }
    if hints.insert(slot, for: hash(of: slot)) { hintCount += 1 }
  }

  private func forgetHint(of slot: Int) { hints.remove(slot, for: hash(of: slot)) }

  private var hints: HintBlock { HintBlock(memory.pointee.hints.load(ordering: .relaxed)) }

  private func hash(of slot: Int) -> UInt64 {
    HintBlock.hash(memory.pointee.cells[slot].label.entity, memory.pointee.cells[slot].label.source)
  }

  /// Moves to a block large enough for the hints that there are, which may be fewer than were given.
  private func growHints() {
    let open = readSlots.filter { state(of: $0).isOpen }
    hintCount = open.count
    guard hintCount * 4 >= hints.bucketCount,
      let larger = HintBlock.make(bucketCount: hints.bucketCount * 2)
    else { return }
    for slot in open { _ = larger.insert(slot, for: hash(of: slot)) }
    outgrownHints.append(hints)
    memory.pointee.hints.store(larger.address, ordering: .releasing)
  }

  // MARK: Leases

  /// Takes a lease on a live slot, as a use of its picture; the caller holds the index lock.
  func lease(_ slot: Int) {
    let change = SlotState.lease | SlotState.hit
    let old = memory.pointee.cells[slot].state.wrappingAdd(change, ordering: .acquiring).oldValue
    setStamp(hitBoard.nextStamp(), of: slot)
    guard old & SlotState.manyHits != 0 else { return }
    carriedHitCount += SlotState(bits: SlotState.manyHits).hitCount
    clear(SlotState.manyHits, of: slot)
  }

  /// Gives a lease back, from any thread.
  func release(_ slot: Int) { hitBoard.held(slot).end() }

  /// Takes a lease that is no use of the picture, so that looking after a table does not change the
  /// order of eviction; the caller holds the index lock.
  func leaseSilently(_ slot: Int) {
    memory.pointee.cells[slot].state.wrappingAdd(SlotState.lease, ordering: .acquiring)
  }

  /// Ends a lease that was no use of the picture.
  func releaseSilently(_ slot: Int) { hitBoard.held(slot).endSilently() }

  /// The hits that found a picture here, since the file was opened.
  var hitCount: Int {
    readSlots.reduce(carriedHitCount) { $0 + state(of: $1).hitCount }
  }

  // MARK: Recency

  func stamp(of slot: Int) -> UInt64 { memory.pointee.cells[slot].stamp.load(ordering: .relaxed) }

  func setStamp(_ stamp: UInt64, of slot: Int) {
    memory.pointee.cells[slot].stamp.store(stamp, ordering: .relaxed)
  }

  /// A stamp later than all before, which leases that end from now on have at least.
  func advanceClock() -> UInt64 {
    let now = hitBoard.nextStamp()
    memory.pointee.clock.store(now, ordering: .relaxed)
    return now
  }

  /// Lets stamps go on after `stamp`, which an earlier session left.
  func resumeClock(after stamp: UInt64) {
    guard memory.pointee.clock.load(ordering: .relaxed) < stamp else { return }
    memory.pointee.startClock(after: stamp)
  }

  // MARK: Files

  /// Lets a file use this board, if no other does.
  ///
  /// - Parameter content: Where the mapped content of slot 0 is, `nil` without a mapping.
  func attach(content: UnsafeRawPointer?, layout: TableLayout) {
    memory.pointee.content = content
    memory.pointee.contentStride = layout.stride
    memory.pointee.layout = layout
  }

  /// The file is gone, and with it every lease.
  func detach() { isResting.store(true, ordering: .releasing) }

  /// Takes a board that no file uses any more back into use, empty.
  func reuse() -> Bool {
    guard isResting.compareExchange(expected: true, desired: false, ordering: .acquiring).exchanged
    else { return false }
    for slot in readSlots {
      forgetHint(of: slot)
      memory.pointee.cells[slot].state.store(0, ordering: .relaxed)
      memory.pointee.strings[slot].release()
      memory.pointee.strings[slot] = SlotStrings()
    }
    unread.removeAll()
    (preparedCount, hintCount, carriedHitCount) = (0, 0, 0)
    return true
  }

  /// Lets no slot of `file` be leased any more, and keeps the file until the last lease ends.
  func retire(_ file: TableFile) {
    let released = retiredFile.withLock { retired -> TableFile? in
      retired = file
      let leases = readSlots.reduce(0) { sum, slot in
        let old = memory.pointee.cells[slot].state.bitwiseOr(
          SlotState.retired, ordering: .acquiringAndReleasing
        ).oldValue
        let state = SlotState(bits: old)
        return state.isRetired ? sum : sum + state.leaseCount
      }
      let debt = memory.pointee.debt.wrappingAdd(leases, ordering: .acquiringAndReleasing)
      guard debt.newValue == 0 else { return nil }
      defer { retired = nil }
      return retired
    }
    withExtendedLifetime(released) {}
  }

  /// Opens a retired file's slots to be adopted anew, where leases on it go on.
  func resume() {
    let released = retiredFile.withLock { retired -> TableFile? in
      carriedHitCount = 0
      let leases = readSlots.reduce(0) { sum, slot in
        let old = memory.pointee.cells[slot].state.bitwiseAnd(
          SlotState.leases | SlotState.proven | SlotState.hits, ordering: .acquiringAndReleasing
        ).oldValue
        let state = SlotState(bits: old)
        // Not set to zero: a hit of before may still be taken back.
        carriedHitCount -= state.hitCount
        return state.isRetired ? sum + state.leaseCount : sum
      }
      memory.pointee.debt.wrappingSubtract(leases, ordering: .acquiringAndReleasing)
      unread.removeAll()
      // Whoever opens the file again has it.
      defer { retired = nil }
      return retired
    }
    withExtendedLifetime(released) {}
  }

  /// A lease on a retired file has ended.
  func retiredLeaseEnded() {
    let debt = memory.pointee.debt.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    guard debt.newValue == 0 else { return }
    let released = retiredFile.withLock { retired -> TableFile? in
      // The file may have been opened and retired again since.
      guard memory.pointee.debt.load(ordering: .acquiring) == 0 else { return nil }
      defer { retired = nil }
      return retired
    }
    // Outside the lock, because unmapping may take its time.
    withExtendedLifetime(released) {}
  }
}
