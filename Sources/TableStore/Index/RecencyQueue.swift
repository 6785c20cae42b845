/// Finds the least recently used slot in constant time on average.
///
/// A hit only writes a stamp; no list is reordered. A search selects a batch of the oldest slots in
/// one pass over the table, and later searches use the batch up.
///
/// The order is exact. At the selection, every slot outside the batch was newer than the whole batch. A
/// slot of the batch that was used since has a new stamp, and the search drops it. A leased slot stays in
/// the batch: the end of a lease is a use and gives it a later stamp, but for a silent one.
struct RecencyQueue {
  private struct Candidate {
    let stamp: UInt64
    let slot: Int
  }

  /// The oldest candidates, the very oldest last.
  private var batch: [Candidate] = []

  /// The least recently used slot among `slots` that `isEvictable`, or `nil` when none is.
  ///
  /// - Parameter isCandidate: True for slots that may become evictable without a new stamp.
  mutating func oldest(
    among slots: Range<Int>, stamp: (Int) -> UInt64, isCandidate: (Int) -> Bool,
    isEvictable: (Int) -> Bool
  ) -> Int? {
    if let slot = next(stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable) {
      return slot
    }
    select(among: slots, stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable)
    return next(stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable)
  }

  /// Forgets the batch, because a slot that a search skipped may be evictable again.
  mutating func reset() { batch.removeAll(keepingCapacity: true) }

  // MARK: Private

  private mutating func next(
    stamp: (Int) -> UInt64, isCandidate: (Int) -> Bool, isEvictable: (Int) -> Bool
  ) -> Int? {
    var index = batch.count
    while index > 0 {
      index -= 1
      let candidate = batch[index]
      let isCurrent = stamp(candidate.slot) == candidate.stamp
      if isCurrent, isEvictable(candidate.slot) {
        batch.remove(at: index)
        return candidate.slot
      }
      if !isCurrent || !isCandidate(candidate.slot) { batch.remove(at: index) }
    }
    return nil
  }

  private mutating func select(
    among slots: Range<Int>, stamp: (Int) -> UInt64, isCandidate: (Int) -> Bool,
    isEvictable: (Int) -> Bool
  ) {
    batch.removeAll(keepingCapacity: true)
    var kept: [Candidate] = []
    for slot in slots where isCandidate(slot) {
      let candidate = Candidate(stamp: stamp(slot), slot: slot)
      if isEvictable(slot) { batch.append(candidate) } else { kept.append(candidate) }
    }
    let wanted = min(batch.count, max(16, slots.count / 16))
    Self.partition(&batch, smallest: wanted)
    batch.removeSubrange(wanted...)
    let newest = batch.lazy.map(\.stamp).max() ?? 0
    batch += kept.lazy.filter { $0.stamp <= newest }
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
