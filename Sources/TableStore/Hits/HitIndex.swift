import CProcessorClock
import Synchronization

/// The memory that hits read without a lock: an address, so that passing it around costs nothing.
///
/// `SlotStates` owns the memory and states its invariants.
struct HitIndex {
  /// All that a hit reads and writes of a slot, in one cache line.
  struct Cell: ~Copyable {
    let state: Atomic<UInt64>
    let stamp: Atomic<UInt64>
    /// What `tag(_:_:)` makes of the label; 0 where hits are copies, which the index finds.
    let tag: Atomic<UInt64>
    var label: SlotLabel
  }

  struct Memory: ~Copyable {
    // Zeros are a slot that is neither live nor leased, without label and strings. A cell is a cache line, and
    // pages begin with one.
    let cells: ZeroPages<Cell>
    let strings: ZeroPages<SlotStrings>
    let recordMetadata: ZeroPages<RecordMetadata>
    /// The chains of the stored index, which `SlotStates` retains.
    let heads: UnsafeMutablePointer<Atomic<UInt32>>
    let items: UnsafeMutablePointer<StoredIndex.Item>
    let bucketMask: UInt32
    let slotCount: UInt32
    /// The key of the chains; constant while slots are open. Atomic, since a hit reads it before it has a lease, when
    /// the memory may be taken for another file: the chain of a former key is a miss.
    let key = Atomic<UInt64>(0)
    /// A recent stamp; at most `clockGrain` ticks old while images are used.
    let clock = Atomic<UInt64>(0)
    /// Added to the processor's ticks, so that stamps continue those of an earlier session.
    let clockShift = Atomic<UInt64>(0)
    let clockGrain: UInt64
    let retirement = Retirement()
    /// The mapped content of slot 0; constant while slots are open.
    var content: UnsafeRawPointer?
    var contentStride = 0
    var layout: TableLayout?

    /// Reserves address space for `slotCount` slots; a page costs memory once it is touched.
    init(slotCount: Int, stored: StoredIndex, clockGrain: UInt64) {
      cells = ZeroPages(count: slotCount)
      strings = ZeroPages(count: slotCount)
      recordMetadata = ZeroPages(count: slotCount)
      (heads, items) = (stored.heads, stored.items)
      bucketMask = UInt32(stored.layout.bucketCount - 1)
      self.slotCount = UInt32(slotCount)
      self.clockGrain = clockGrain
      startClock(after: 0)
    }
  }

  let memory: UnsafeMutablePointer<Memory>

  /// A lease on a slot, and where its image is.
  struct Hit {
    let lease: HeldSlot
    let content: UnsafeRawPointer
    let extent: SlotExtent
  }

  /// A lease that has not ended.
  ///
  /// `@unchecked Sendable` is safe: the addresses are those of atomics in memory that lives until
  /// the lease ends (invariants 4 and 5 of `SlotStates`).
  struct HeldSlot: @unchecked Sendable {
    fileprivate let memory: UnsafeMutablePointer<Memory>
    fileprivate let cell: UnsafeMutablePointer<Cell>

    /// How the slot's bytes are laid out.
    var layout: TableLayout? { memory.pointee.layout }

    /// Ends the lease, from any thread, once. The image counts as used until now.
    @inline(__always)
    func end() {
      let now = memory.pointee.clock.load(ordering: .relaxed)
      if cell.pointee.stamp.load(ordering: .relaxed) < now {
        // Before the count falls, so that a thread that sees the slot unleased sees this stamp.
        cell.pointee.stamp.store(now, ordering: .relaxed)
      }
      finish(cell.pointee.state.wrappingSubtract(SlotState.lease, ordering: .releasing).oldValue)
    }

    /// Ends the lease and takes back the hit, because no image was shown.
    func undo() {
      let change = SlotState.lease | SlotState.hit
      finish(cell.pointee.state.wrappingSubtract(change, ordering: .releasing).oldValue)
    }

    @inline(__always)
    private func finish(_ old: UInt64) {
      // After this exchange the memory may be gone, unless the old state is retired.
      guard SlotState(bits: old).isRetired else { return }
      memory.pointee.retirement.leaseEnded()
    }
  }

  // MARK: Hits

  /// Two cache lines and the slot's own for nearly all keys; what is farther down its chain is the index's.
  private static var reach: UInt32 { 8 }

  /// Tells the keys of one bucket apart, nearly always; the label decides.
  @inline(__always)
  static func tag(_ entity: TableID.Digest, _ version: TableID.Digest) -> UInt64 {
    // One id may serve as both, so the halves taken differ.
    entity.low ^ version.high
  }

  /// The image of a key, leased, if its slot is open.
  @inline(__always)
  func hit(_ key: TableKeyView) -> Hit? {
    let tag = Self.tag(key.entity, key.version)
    let hash = StoredIndex.hash(key.entity, key: memory.pointee.key.load(ordering: .relaxed))
    let head = memory.pointee.heads + Int(hash & memory.pointee.bucketMask)
    var next = head.pointee.load(ordering: .acquiring)
    // No `for`: iterating allocates in builds without optimisation, and a hit must not.
    var count: UInt32 = 0
    // A chain may lead anywhere while it changes, or in a damaged file.
    while next != 0, next <= memory.pointee.slotCount, count < Self.reach {
      let slot = Int(next) - 1
      let cell = memory.pointee.cells.base + slot
      if cell.pointee.tag.load(ordering: .relaxed) == tag, lease(slot) {
        // The order matters: the lease keeps the mapping that is read after it.
        if cell.pointee.label.matches(key),
          !key.hasStrings || memory.pointee.strings.base[slot].match(key),
          let content = memory.pointee.content
        {
          cell.pointee.stamp.store(nextStamp(), ordering: .relaxed)
          return Hit(
            lease: held(slot), content: content + slot * memory.pointee.contentStride,
            extent: cell.pointee.label.extent)
        }
        held(slot).undo()
      }
      next = memory.pointee.items[slot].next.load(ordering: .acquiring)
      count += 1
    }
    return nil
  }

  /// The lease that the caller has on a slot.
  @inline(__always)
  func held(_ slot: Int) -> HeldSlot {
    HeldSlot(memory: memory, cell: memory.pointee.cells.base + slot)
  }

  /// Takes a lease if the slot is open.
  @inline(__always)
  private func lease(_ slot: Int) -> Bool {
    let cell = memory.pointee.cells.base + slot
    var state = SlotState(bits: cell.pointee.state.load(ordering: .relaxed))
    while state.isOpen {
      // Acquiring: from here on all is seen that was written before the slot was opened.
      let (exchanged, original) = cell.pointee.state.weakCompareExchange(
        expected: state.bits, desired: state.afterHit.bits, successOrdering: .acquiring,
        failureOrdering: .relaxed)
      if exchanged { return true }
      state.bits = original
    }
    return false
  }

  // MARK: Recency

  /// A stamp later than all before.
  @inline(__always)
  func nextStamp() -> UInt64 {
    let ticks = fic_processor_ticks() &+ memory.pointee.clockShift.load(ordering: .relaxed)
    let clock = memory.pointee.clock.load(ordering: .relaxed)
    // Signed, since ticks may begin anew when a machine wakes up; time stands still then.
    let now = max(Int64(bitPattern: ticks), Int64(bitPattern: clock))
    // Seldom, because all hits read the clock, and a write makes them wait.
    if UInt64(now) &- clock > memory.pointee.clockGrain {
      memory.pointee.clock.store(UInt64(now), ordering: .relaxed)
    }
    return UInt64(now)
  }
}

/// The address of the hit index of the current file.
///
/// `@unchecked Sendable` is safe: the address is loaded and stored atomically, and the memory
/// behind it lives as long as the table (invariant 4 of `SlotStates`).
struct CurrentHitIndex: ~Copyable, @unchecked Sendable {
  private let address: Atomic<UnsafeMutablePointer<HitIndex.Memory>?>

  init(_ hitIndex: HitIndex?) { address = Atomic(hitIndex?.memory) }

  @inline(__always)
  func load() -> HitIndex? {
    address.load(ordering: .acquiring).map { HitIndex(memory: $0) }
  }

  func store(_ hitIndex: HitIndex?) { address.store(hitIndex?.memory, ordering: .releasing) }
}

extension HitIndex.Memory {
  /// Lets stamps go on after `stamp`.
  func startClock(after stamp: UInt64) {
    clockShift.store(stamp &+ 1 &- fic_processor_ticks(), ordering: .relaxed)
    clock.store(stamp, ordering: .relaxed)
  }
}
