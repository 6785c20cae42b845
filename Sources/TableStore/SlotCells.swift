import Synchronization

/// The part of each slot that changes without the index lock: how many leases it has, and when it
/// was last used.
///
/// Invariants:
/// 1. A lease count rises from zero only under the index lock, and only for a slot in the index.
///    It falls anywhere, at any time.
/// 2. A lease's end stores a fresh stamp before it lowers the count, so that whoever sees the slot
///    unleased also sees that it was in use until now.
/// 3. Each hit has a stamp of its own, later than all before; the clock moves under the index lock
///    only. Leases that end between two hits share the stamp between those of the hits: they were
///    all in use until then.
/// 4. `cells` holds `slotCount` places, of which the first `preparedCount` are initialised; that
///    number grows under the index lock only.
///
/// `@unchecked Sendable` is safe: the cells are atomic, and the one plain number is covered by
/// invariant 4.
final class SlotCells: @unchecked Sendable {
  fileprivate struct Cell: ~Copyable {
    let stamp = Atomic<UInt64>(0)
    let leases = Atomic<Int>(0)
  }

  /// A lease that somebody has; it may end it without asking the object, which they keep alive.
  ///
  /// `@unchecked Sendable` is safe: both pointers lead to atomics in memory that lives as long as
  /// the table's file, which the holder of a lease retains.
  struct Lease: @unchecked Sendable {
    fileprivate let clock: UnsafeMutablePointer<Atomic<UInt64>>
    fileprivate let cell: UnsafeMutablePointer<Cell>

    /// Gives the lease back, from any thread, once.
    @inline(__always)
    func end() {
      cell.pointee.stamp.store(clock.pointee.load(ordering: .relaxed) | 1, ordering: .relaxed)
      // Releasing orders every read of the slot before the count that lets it be overwritten.
      cell.pointee.leases.wrappingSubtract(1, ordering: .releasing)
    }
  }

  private let cells: UnsafeMutablePointer<Cell>
  private let slotCount: Int
  private(set) var preparedCount = 0
  private let clock: UnsafeMutablePointer<Atomic<UInt64>>

  init(slotCount: Int) {
    // Untouched memory of a large allocation costs address space only, so a big table that is
    // nearly empty takes little.
    cells = .allocate(capacity: slotCount)
    self.slotCount = slotCount
    clock = .allocate(capacity: 1)
    clock.initialize(to: Atomic(0))
  }

  deinit {
    clock.deinitialize(count: 1)
    clock.deallocate()
    cells.deinitialize(count: preparedCount)
    cells.deallocate()
  }

  /// Makes the cells below `count` usable.
  func prepare(_ count: Int) {
    precondition(count <= slotCount, "Slot \(count - 1) is beyond the table's \(slotCount) slots.")
    while preparedCount < count {
      (cells + preparedCount).initialize(to: Cell())
      preparedCount += 1
    }
  }

  // MARK: Leases

  /// Takes a lease; the caller holds the index lock and has found the slot in the index.
  @inline(__always)
  func lease(_ slot: Int) {
    cells[slot].leases.wrappingAdd(1, ordering: .relaxed)
    let now = clock.pointee.load(ordering: .relaxed) &+ 2
    clock.pointee.store(now, ordering: .relaxed)
    setStamp(now, of: slot)
  }

  /// Gives a lease back, from any thread.
  func release(_ slot: Int) { held(slot).end() }

  /// The lease that the caller has on a slot.
  @inline(__always)
  func held(_ slot: Int) -> Lease { Lease(clock: clock, cell: cells + slot) }

  /// Takes a lease that is no use of the picture, so that looking after a table does not change the
  /// order of eviction.
  func leaseSilently(_ slot: Int) { cells[slot].leases.wrappingAdd(1, ordering: .relaxed) }

  /// Ends a lease that was no use of the picture.
  func releaseSilently(_ slot: Int) { cells[slot].leases.wrappingSubtract(1, ordering: .releasing) }

  /// True when nobody looks at the slot, and everybody who did has finished.
  @inline(__always)
  func isUnleased(_ slot: Int) -> Bool { cells[slot].leases.load(ordering: .acquiring) == 0 }

  // MARK: Recency

  /// A stamp between the last hit's and the next one's.
  @inline(__always)
  var now: UInt64 { clock.pointee.load(ordering: .relaxed) | 1 }

  @inline(__always)
  func stamp(of slot: Int) -> UInt64 { cells[slot].stamp.load(ordering: .relaxed) }

  @inline(__always)
  func setStamp(_ stamp: UInt64, of slot: Int) {
    cells[slot].stamp.store(stamp, ordering: .relaxed)
  }

  /// Lets stamps go on after `stamp`, which an earlier session left.
  func resumeClock(after stamp: UInt64) {
    // Even, as after a hit, so that `now` is later.
    let next = (stamp &+ 1) & ~1
    if clock.pointee.load(ordering: .relaxed) < next {
      clock.pointee.store(next, ordering: .relaxed)
    }
  }
}
