internal import CMemoryHints

/// Finds the slot of an entity by its digest: a hash table with open addressing.
///
/// A bucket keeps 32 bits of the digest beside the slot, so that a search touches a slot's own
/// data only when it has most likely found it, and growing or deleting touches none.
///
/// Invariants:
/// 1. The bucket count is a power of two and at least 8/5 of the entries, so every search ends.
/// 2. From the home of an entry to the entry there is no empty bucket. Deletion keeps this by
///    moving later entries back, so no markers of deleted entries are left.
struct DigestTable {
  /// Tag in the upper half, slot plus one in the lower; 0 is empty.
  private var buckets: [UInt64] = [UInt64](repeating: 0, count: 16)
  private(set) var count = 0

  /// Makes room for this many entries without growing on the way.
  init(minimumCapacity: Int = 0) {
    var size = 16
    while size * 5 < minimumCapacity * 8 { size *= 2 }
    if size > 16 { buckets = [UInt64](repeating: 0, count: size) }
  }

  /// The first slot under this digest that `matches`, which compares in full.
  @inline(__always)
  func slot(for digest: TableID.Digest, where matches: (Int) -> Bool) -> Int? {
    bucket(for: digest, where: matches).map { slot(in: buckets[$0]) }
  }

  /// Prefetches the bucket of a digest, for an insertion a little later. With many entries, an
  /// insertion mostly waits for memory.
  @inline(__always)
  func prefetch(_ digest: TableID.Digest) {
    let index = Int(tag(of: digest)) & (buckets.count - 1)
    buckets.withUnsafeBufferPointer { fic_expect($0.baseAddress.map { $0 + index }) }
  }

  /// Adds a slot, or returns the one under this digest that `matches`.
  @inline(__always)
  mutating func insert(
    _ slot: Int, for digest: TableID.Digest, unless matches: (Int) -> Bool
  ) -> Int? {
    if (count + 1) * 8 > buckets.count * 5 { grow() }
    switch search(for: digest, where: matches) {
    case .found(let bucket): return self.slot(in: buckets[bucket])
    case .missing(let index):
      buckets[index] = entry(slot, digest)
      count += 1
      return nil
    }
  }

  /// Adds a slot; false if there is one under the part of the digest that is kept here.
  @inline(__always)
  mutating func insertFirst(_ slot: Int, for digest: TableID.Digest) -> Bool {
    if (count + 1) * 8 > buckets.count * 5 { grow() }
    guard case .missing(let index) = search(for: digest, where: { _ in true }) else { return false }
    buckets[index] = entry(slot, digest)
    count += 1
    return true
  }

  /// Adds a slot that is not in the table.
  mutating func insert(_ slot: Int, for digest: TableID.Digest) {
    if (count + 1) * 8 > buckets.count * 5 { grow() }
    put(entry(slot, digest))
    count += 1
  }

  /// Removes a slot, and tells whether it was there.
  @discardableResult
  mutating func remove(_ slot: Int, for digest: TableID.Digest) -> Bool {
    guard var hole = bucket(for: digest, where: { $0 == slot }) else { return false }
    let mask = buckets.count - 1
    var next = (hole + 1) & mask
    while buckets[next] != 0 {
      // An entry may fill the hole when its home is not between the hole and itself.
      let distance = (next - home(of: buckets[next])) & mask
      if distance >= (next - hole) & mask {
        buckets[hole] = buckets[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    buckets[hole] = 0
    count -= 1
    return true
  }

  /// Removes the slots that `isUnwanted`, by building the table anew.
  mutating func removeAll(where isUnwanted: (Int) -> Bool) {
    let old = buckets
    buckets = [UInt64](repeating: 0, count: old.count)
    count = 0
    for bucket in old where bucket != 0 && !isUnwanted(slot(in: bucket)) {
      put(bucket)
      count += 1
    }
  }

  // MARK: Private

  private enum Search {
    case found(bucket: Int)
    /// The empty bucket for an entry of the digest.
    case missing(bucket: Int)
  }

  @inline(__always)
  private func bucket(for digest: TableID.Digest, where matches: (Int) -> Bool) -> Int? {
    if case .found(let bucket) = search(for: digest, where: matches) { bucket } else { nil }
  }

  @inline(__always)
  private func search(for digest: TableID.Digest, where matches: (Int) -> Bool) -> Search {
    let wanted = tag(of: digest)
    let mask = buckets.count - 1
    var index = Int(wanted) & mask
    while true {
      let bucket = buckets[index]
      if bucket == 0 { return .missing(bucket: index) }
      if UInt32(truncatingIfNeeded: bucket >> 32) == wanted, matches(slot(in: bucket)) {
        return .found(bucket: index)
      }
      index = (index + 1) & mask
    }
  }

  private mutating func put(_ bucket: UInt64) {
    let mask = buckets.count - 1
    var index = home(of: bucket)
    while buckets[index] != 0 { index = (index + 1) & mask }
    buckets[index] = bucket
  }

  private mutating func grow() {
    let old = buckets
    buckets = [UInt64](repeating: 0, count: old.count * 2)
    for bucket in old where bucket != 0 { put(bucket) }
  }

  @inline(__always)
  private func tag(of digest: TableID.Digest) -> UInt32 { UInt32(truncatingIfNeeded: digest.low) }

  @inline(__always)
  private func entry(_ slot: Int, _ digest: TableID.Digest) -> UInt64 {
    UInt64(tag(of: digest)) << 32 | UInt64(slot + 1)
  }

  @inline(__always)
  private func home(of bucket: UInt64) -> Int { Int(bucket >> 32) & (buckets.count - 1) }

  @inline(__always)
  private func slot(in bucket: UInt64) -> Int { Int(bucket & 0xffff_ffff) - 1 }
}
