import Synchronization

/// A lock-free hash table that guesses in which slot a key's picture is.
///
/// A hint may be wrong or missing, so a hit compares keys afterwards, and asks the index when no
/// hint was right. That keeps the table simple: a hint is one word within a few buckets of its
/// home, and a hint that finds no room there is left out.
///
/// Invariants:
/// 1. Hints are added and removed under the index lock; any thread reads them at any time.
/// 2. The memory lives as long as the `SlotStates` that owns it, outgrown blocks included.
struct HintBlock {
  /// The bucket count less one, and the buckets: the key's tag in the upper half, the slot plus one
  /// in the lower; 0 is empty.
  private let words: UnsafeMutablePointer<Atomic<UInt64>>

  /// Two cache lines. Of 1000 hints in 2048 buckets 0.02 % find no room within 16 buckets, and 0.4 % none
  /// within 8; each hit on those takes the index lock.
  private static let reach: UInt64 = 16

  init(_ address: UnsafeMutableRawPointer) {
    words = address.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  /// An empty block; `nil` when there is no memory.
  ///
  /// - Parameter bucketCount: A power of two.
  static func make(bucketCount: Int) -> HintBlock? {
    let byteCount = (bucketCount + 1) * MemoryLayout<Atomic<UInt64>>.stride
    // A word of zeros is an atomic 0.
    guard let memory = SystemMemory.allocateZeros(byteCount: byteCount) else { return nil }
    _ = memory.bindMemory(to: Atomic<UInt64>.self, capacity: bucketCount + 1)
    let block = HintBlock(memory)
    block.words.pointee.store(UInt64(bucketCount - 1), ordering: .relaxed)
    return block
  }

  var address: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words) }
  var bucketCount: Int { Int(words.pointee.load(ordering: .relaxed)) + 1 }

  func deallocate() { SystemMemory.deallocate(address) }

  /// The hash of a key: its low bits are the home, its upper half is the tag.
  @inline(__always)
  static func hash(_ entity: TableID.Digest, _ version: TableID.Digest) -> UInt64 {
    // Digests are well mixed. One id may serve as both, so the halves taken differ.
    entity.low ^ version.high
  }

  /// Calls `isIt` with each slot under a hint of this hash, until it returns true.
  @inline(__always)
  func forEachSlot(for hash: UInt64, until isIt: (Int) -> Bool) {
    let mask = words.pointee.load(ordering: .relaxed)
    // No `for`: iterating allocates in builds without optimisation, and a hit must not.
    var distance: UInt64 = 0
    // The mask is never smaller. `min` hides the length, or the loop is unrolled into sixteen hits.
    let reach = min(Self.reach, mask)
    while distance < reach {
      let bucket = (words + 1 + Int((hash &+ distance) & mask)).pointee.load(ordering: .acquiring)
      distance += 1
      // Removing leaves holes, so there may be a hint behind an empty bucket.
      guard (bucket ^ hash) >> 32 == 0, bucket != 0 else { continue }
      if isIt(Int(truncatingIfNeeded: bucket & 0xffff_ffff) - 1) { return }
    }
  }

  /// Adds a hint; false when there is no room for it near its home.
  func insert(_ slot: Int, for hash: UInt64) -> Bool {
    let hint = Self.hint(slot, hash)
    var room: UnsafeMutablePointer<Atomic<UInt64>>?
    for bucket in buckets(of: hash) {
      let found = bucket.pointee.load(ordering: .relaxed)
      if found == hint { return true }
      if found == 0, room == nil { room = bucket }
    }
    guard let room else { return false }
    // Releasing: the slot's label is visible before the hint is.
    room.pointee.store(hint, ordering: .releasing)
    return true
  }

  /// Takes a hint out, if it is there.
  func remove(_ slot: Int, for hash: UInt64) {
    let hint = Self.hint(slot, hash)
    for bucket in buckets(of: hash) where bucket.pointee.load(ordering: .relaxed) == hint {
      bucket.pointee.store(0, ordering: .relaxed)
    }
  }

  private static func hint(_ slot: Int, _ hash: UInt64) -> UInt64 {
    hash & 0xffff_ffff_0000_0000 | UInt64(slot + 1)
  }

  private func buckets(
    of hash: UInt64
  ) -> some Sequence<UnsafeMutablePointer<Atomic<UInt64>>> {
    let (words, mask) = (words, words.pointee.load(ordering: .relaxed))
    return (0..<Self.reach).lazy.map { words + 1 + Int((hash &+ $0) & mask) }
  }
}
