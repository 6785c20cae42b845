import CProcessorClock
import Synchronization

/// The part of a `SlotBoard` that hits use: an address, so that passing it around costs nothing.
///
/// The invariants are those of `SlotBoard`, whose memory this is.
struct HitBoard {
  /// All that a hit reads and writes of a slot, in one cache line.
  struct Cell: ~Copyable {
    let state: Atomic<UInt64>
    let stamp: Atomic<UInt64>
    var label: SlotLabel
    private let padding: UInt64
  }

  struct Memory: ~Copyable {
    let cells: UnsafeMutablePointer<Cell>
    private let cellMemory: ZeroPages
    let strings: UnsafeMutablePointer<SlotStrings>
    private let stringMemory: ZeroPages
    let facts: UnsafeMutablePointer<SlotFacts>
    private let factMemory: ZeroPages
    /// The address of the current `HintBlock`.
    let hints: Atomic<UnsafeMutableRawPointer>
    /// A time not long ago, for who needs no more exact one.
    let clock = Atomic<UInt64>(0)
    /// What makes stamps of the processor's ticks, so that they go on where an earlier session ended.
    let clockShift = Atomic<UInt64>(0)
    let clockGrain: UInt64
    /// Leases to be waited for before a retired file is let go.
    let debt = Atomic<Int>(0)
    /// The mapped content of slot 0; constant while slots are open.
    var content: UnsafeRawPointer?
    var contentStride = 0
    var layout: TableLayout?
    /// The board, which lives as long as anybody reads this.
    var owner: Unmanaged<SlotBoard>?

    /// Takes memory for so many slots, of which a large part costs nothing before it is touched.
    init(slotCount: Int, clockGrain: UInt64) {
      // Zeros are a slot that is neither live nor leased, without label and strings.
      let count = max(1, slotCount)
      // A cell is a cache line, and pages begin with one.
      guard let cellPages = ZeroPages(byteCount: count * MemoryLayout<Cell>.stride),
        let stringPages = ZeroPages(byteCount: count * MemoryLayout<SlotStrings>.stride),
        let factPages = ZeroPages(byteCount: count * MemoryLayout<SlotFacts>.stride)
      else { preconditionFailure("There is no memory for \(slotCount) slots.") }
      cells = cellPages.base.bindMemory(to: Cell.self, capacity: count)
      cellMemory = cellPages
      strings = stringPages.base.bindMemory(to: SlotStrings.self, capacity: count)
      stringMemory = stringPages
      facts = factPages.base.bindMemory(to: SlotFacts.self, capacity: count)
      factMemory = factPages
      guard let hints = HintBlock.make(bucketCount: 64) else {
        preconditionFailure("There is no memory for the hints of a table.")
      }
      self.hints = Atomic(hints.address)
      self.clockGrain = clockGrain
      startClock(after: 0)
    }

    deinit {
      HintBlock(hints.load(ordering: .relaxed)).deallocate()
    }
  }

  let memory: UnsafeMutablePointer<Memory>

  /// A lease on a slot, and where its picture is.
  struct Hit {
    let lease: HeldSlot
    let content: UnsafeRawPointer
    let extent: SlotExtent
  }

  /// A lease that somebody has.
  ///
  /// `@unchecked Sendable` is safe: the addresses are those of atomics in memory that lives until
  /// the lease ends (invariants 4 and 5 of `SlotBoard`).
  struct HeldSlot: @unchecked Sendable {
    fileprivate let memory: UnsafeMutablePointer<Memory>
    fileprivate let cell: UnsafeMutablePointer<Cell>

    /// How the slot's bytes are laid out.
    var layout: TableLayout? { memory.pointee.layout }

    /// Gives the lease back, from any thread, once. The picture counts as used until now.
    @inline(__always)
    func end() {
      let now = memory.pointee.clock.load(ordering: .relaxed)
      if cell.pointee.stamp.load(ordering: .relaxed) < now {
        // Before the count falls, so that whoever sees the slot unleased sees this too.
        cell.pointee.stamp.store(now, ordering: .relaxed)
      }
      endSilently()
    }

    /// Gives a lease back that was no use of the picture.
    @inline(__always)
    func endSilently() {
      finish(cell.pointee.state.wrappingSubtract(SlotState.lease, ordering: .releasing).oldValue)
    }

    /// Takes a hit back that turned out to be none.
    func undo() {
      let change = SlotState.lease | SlotState.hit
      finish(cell.pointee.state.wrappingSubtract(change, ordering: .releasing).oldValue)
    }

    @inline(__always)
    private func finish(_ old: UInt64) {
      // After this exchange the memory may be gone, unless the old state promised to wait.
      guard SlotState(bits: old).isRetired else { return }
      memory.pointee.owner?.takeUnretainedValue().retiredLeaseEnded()
    }
  }

  // MARK: Hits

  /// A picture that is there and may be shown at once, leased.
  @inline(__always)
  func hit(_ key: TableKeyView) -> Hit? {
    let hints = HintBlock(memory.pointee.hints.load(ordering: .acquiring))
    var found: Hit?
    hints.forEachSlot(for: HintBlock.hash(key.entity, key.source)) { slot in
      guard lease(slot) else { return false }
      let cell = memory.pointee.cells + slot
      // The order matters: the mapping is asked for under the lease, which keeps it there.
      guard cell.pointee.label.matches(key),
        !key.hasStrings || memory.pointee.strings[slot].match(key),
        let content = memory.pointee.content
      else {
        held(slot).undo()
        return false
      }
      cell.pointee.stamp.store(nextStamp(), ordering: .relaxed)
      found = Hit(
        lease: held(slot), content: content + slot * memory.pointee.contentStride,
        extent: cell.pointee.label.extent)
      return true
    }
    return found
  }

  /// The lease that the caller has on a slot.
  @inline(__always)
  func held(_ slot: Int) -> HeldSlot { HeldSlot(memory: memory, cell: memory.pointee.cells + slot) }

  /// Takes a lease if the slot is open.
  @inline(__always)
  private func lease(_ slot: Int) -> Bool {
    let cell = memory.pointee.cells + slot
    var state = SlotState(bits: cell.pointee.state.load(ordering: .relaxed))
    while state.isOpen {
      // Acquiring: what was written before the slot was opened is seen from here on.
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
    // Seldom, because writing what all hits read makes them wait for each other.
    if UInt64(now) &- clock > memory.pointee.clockGrain {
      memory.pointee.clock.store(UInt64(now), ordering: .relaxed)
    }
    return UInt64(now)
  }
}

/// Where hits find the board of the file that a table reads at present.
///
/// `@unchecked Sendable` is safe: the address is loaded and stored atomically, and what it leads to
/// lives as long as the table (invariant 4 of `SlotBoard`).
struct CurrentHitBoard: ~Copyable, @unchecked Sendable {
  private let address: Atomic<UnsafeMutablePointer<HitBoard.Memory>?>

  init(_ board: SlotBoard?) { address = Atomic(board?.memory) }

  @inline(__always)
  func load() -> HitBoard? {
    address.load(ordering: .acquiring).map { HitBoard(memory: $0) }
  }

  func store(_ board: SlotBoard?) { address.store(board?.memory, ordering: .releasing) }
}

extension HitBoard.Memory {
  /// Lets stamps go on after `stamp`.
  func startClock(after stamp: UInt64) {
    clockShift.store(stamp &+ 1 &- fic_processor_ticks(), ordering: .relaxed)
    clock.store(stamp, ordering: .relaxed)
  }
}
