/// Finds places of the index by a hash: open addressing with linear probing.
///
/// A bucket has four bytes: a place, and eleven bits of the hash, so that a search looks at a record
/// only when it has most likely found it. The home of a place is computed from its record's hash,
/// which the caller lends as `hash`.
///
/// Invariants:
/// 1. There are at least 5/4 as many buckets as entries, so every search ends.
/// 2. From the home of an entry to the entry there is no empty bucket. Removal keeps this by moving
///    later entries back, so no markers of removed entries are left.
struct PlaceTable {
  /// Place plus one in the lower 21 bits; 0 is empty.
  private var buckets: [UInt32]
  private(set) var count = 0

  init(minimumCapacity: Int = 0) {
    buckets = [UInt32](repeating: 0, count: Self.size(for: minimumCapacity))
  }

  /// A table of many places at once, which takes a fraction of the time of as many insertions.
  ///
  /// - Parameters:
  ///   - places: Those without a hash are left out.
  ///   - choose: Which of two places stays, of which the first came first; `nil` for both. Called where
  ///     they are likely to have equal hashes.
  init(
    _ places: Range<Int>, hash: (Int) -> UInt64?,
    choose: (_ known: Int, _ new: Int) -> Int? = { _, _ in nil }
  ) {
    self.init(minimumCapacity: places.count)
    let size = buckets.count
    var count = 0
    buckets.withUnsafeMutableBufferPointer { buckets in
      place: for place in places {
        guard let hash = hash(place) else { continue }
        var index = Self.home(hash, size)
        while buckets[index] != 0 {
          if Self.isTagged(buckets[index], hash),
            let chosen = choose(Self.place(in: buckets[index]), place)
          {
            buckets[index] = Self.bucket(chosen, hash)
            continue place
          }
          index = index + 1 == size ? 0 : index + 1
        }
        buckets[index] = Self.bucket(place, hash)
        count += 1
      }
    }
    self.count = count
  }

  var byteCount: Int { buckets.capacity * MemoryLayout<UInt32>.stride }

  /// The first place under a hash that `matches`, which compares in full.
  func place(for hash: UInt64, where matches: (Int) -> Bool) -> Int? {
    var index = home(hash)
    while buckets[index] != 0 {
      if Self.isTagged(buckets[index], hash), matches(Self.place(in: buckets[index])) {
        return Self.place(in: buckets[index])
      }
      index = next(index)
    }
    return nil
  }

  /// Adds a place that is not there.
  mutating func insert(_ place: Int, hash: (Int) -> UInt64) {
    // By an eighth at a time: growing touches each record, and doubling would waste memory.
    if (count + 1) * 5 > buckets.count * 4 { rebuild(Self.size(for: count + count / 8 + 1), hash) }
    put(place, hash(place))
    count += 1
  }

  /// Removes a place that is there.
  mutating func remove(_ place: Int, hash: (Int) -> UInt64) {
    var hole = home(hash(place))
    while buckets[hole] != 0, Self.place(in: buckets[hole]) != place { hole = next(hole) }
    guard buckets[hole] != 0 else { return }
    var later = next(hole)
    while buckets[later] != 0 {
      // An entry may fill the hole when its home is not between the hole and itself.
      let distance = cyclic(later - home(hash(Self.place(in: buckets[later]))))
      if distance >= cyclic(later - hole) {
        buckets[hole] = buckets[later]
        hole = later
      }
      later = next(later)
    }
    buckets[hole] = 0
    count -= 1
  }

  // MARK: Private

  private static func size(for count: Int) -> Int { max(16, count * 5 / 4 + 1) }

  private mutating func rebuild(_ size: Int, _ hash: (Int) -> UInt64) {
    let old = buckets
    buckets = [UInt32](repeating: 0, count: size)
    for bucket in old where bucket != 0 {
      put(Self.place(in: bucket), hash(Self.place(in: bucket)))
    }
  }

  private mutating func put(_ place: Int, _ hash: UInt64) {
    var index = home(hash)
    while buckets[index] != 0 { index = next(index) }
    buckets[index] = Self.bucket(place, hash)
  }

  private static func bucket(_ place: Int, _ hash: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: hash) << 21 | UInt32(place + 1)
  }

  private func home(_ hash: UInt64) -> Int { Self.home(hash, buckets.count) }

  /// The upper bits of the hash; the tag is made of the lower ones.
  private static func home(_ hash: UInt64, _ size: Int) -> Int {
    Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(size)).high)
  }

  private func next(_ index: Int) -> Int { index + 1 == buckets.count ? 0 : index + 1 }

  private func cyclic(_ distance: Int) -> Int {
    distance < 0 ? distance + buckets.count : distance
  }

  private static func isTagged(_ bucket: UInt32, _ hash: UInt64) -> Bool {
    bucket >> 21 == UInt32(truncatingIfNeeded: hash) & 0x7ff
  }

  private static func place(in bucket: UInt32) -> Int { Int(bucket & 0x1f_ffff) - 1 }
}
