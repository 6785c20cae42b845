/// Finds the least recently used slot in constant time on average.
///
/// A hit only writes a stamp; no list is reordered. A search selects a batch of the oldest slots in
/// one pass over the table, and later searches use the batch up.
///
/// The order is exact. At the selection, every slot outside the batch was leased or newer than the
/// whole batch. A slot of the batch that was used since has a new stamp, and the search skips it. A
/// slot that was leased has a stamp later than the batch once its lease ended.
struct RecencyQueue {
  private struct Candidate {
    let stamp: UInt64
    let slot: Int
  }

  /// The oldest candidates, the very oldest last.
  private var batch: [Candidate] = []

  /// The least recently used slot among `slots` that `isEvictable`, or `nil` when none is.
  mutating func oldest(
    among slots: Range<Int>, stamp: (Int) -> UInt64, isEvictable: (Int) -> Bool
  ) -> Int? {
    if let slot = next(stamp: stamp, isEvictable: isEvictable) { return slot }
    select(among: slots, stamp: stamp, isEvictable: isEvictable)
    return next(stamp: stamp, isEvictable: isEvictable)
  }

  /// Forgets the batch, because a slot that a search skipped may be evictable again.
  mutating func reset() { batch.removeAll(keepingCapacity: true) }

  // MARK: Private

  private mutating func next(stamp: (Int) -> UInt64, isEvictable: (Int) -> Bool) -> Int? {
    while let candidate = batch.popLast() {
      if stamp(candidate.slot) == candidate.stamp, isEvictable(candidate.slot) {
        return candidate.slot
      }
    }
    return nil
  }

  private mutating func select(
    among slots: Range<Int>, stamp: (Int) -> UInt64, isEvictable: (Int) -> Bool
  ) {
    batch.removeAll(keepingCapacity: true)
    for slot in slots where isEvictable(slot) {
      batch.append(Candidate(stamp: stamp(slot), slot: slot))
    }
    let wanted = min(batch.count, max(16, slots.count / 16))
    Self.partition(&batch, smallest: wanted)
    batch.removeSubrange(wanted...)
    batch.sort { $0.stamp > $1.stamp }
  }

  /// Moves the `count` oldest candidates to the front, in linear time on average (quickselect).
  private static func partition(_ items: inout [Candidate], smallest count: Int) {
    var lower = 0
    var upper = items.count - 1
    while lower < upper {
      let pivot = median(items[lower], items[(lower + upper) / 2], items[upper])
      var left = lower
      var right = upper
      while left <= right {
        while items[left].stamp < pivot { left += 1 }
        while items[right].stamp > pivot { right -= 1 }
        if left <= right {
          items.swapAt(left, right)
          left += 1
          right -= 1
        }
      }
      if count <= right + 1 {
        upper = right
      } else if count > left {
        lower = left
      } else {
        return
      }
    }
  }

  private static func median(_ first: Candidate, _ second: Candidate, _ third: Candidate) -> UInt64
  {
    max(min(first.stamp, second.stamp), min(max(first.stamp, second.stamp), third.stamp))
  }
}
