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

  static let maximumPlace = (1 << 21) - 2

  init(minimumCapacity: Int = 0) {
    buckets = [UInt32](repeating: 0, count: Self.size(for: minimumCapacity))
  }

  var byteCount: Int { buckets.capacity * MemoryLayout<UInt32>.stride }

  /// The first place under a hash that `matches`, which compares in full.
  func place(for hash: UInt64, where matches: (Int) -> Bool) -> Int? {
    var index = home(hash)
    while buckets[index] != 0 {
      if isTagged(buckets[index], hash), matches(place(in: buckets[index])) {
        return place(in: buckets[index])
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
    while buckets[hole] != 0, self.place(in: buckets[hole]) != place { hole = next(hole) }
    guard buckets[hole] != 0 else { return }
    var later = next(hole)
    while buckets[later] != 0 {
      // An entry may fill the hole when its home is not between the hole and itself.
      let distance = cyclic(later - home(hash(self.place(in: buckets[later]))))
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
    for bucket in old where bucket != 0 { put(place(in: bucket), hash(place(in: bucket))) }
  }

  private mutating func put(_ place: Int, _ hash: UInt64) {
    var index = home(hash)
    while buckets[index] != 0 { index = next(index) }
    buckets[index] = UInt32(truncatingIfNeeded: hash) << 21 | UInt32(place + 1)
  }

  /// The upper bits of the hash; the tag is made of the lower ones.
  private func home(_ hash: UInt64) -> Int {
    Int(hash.multipliedFullWidth(by: UInt64(buckets.count)).high)
  }

  private func next(_ index: Int) -> Int { index + 1 == buckets.count ? 0 : index + 1 }

  private func cyclic(_ distance: Int) -> Int {
    distance < 0 ? distance + buckets.count : distance
  }

  private func isTagged(_ bucket: UInt32, _ hash: UInt64) -> Bool {
    bucket >> 21 == UInt32(truncatingIfNeeded: hash) & 0x7ff
  }

  private func place(in bucket: UInt32) -> Int { Int(bucket & 0x1f_ffff) - 1 }
}
