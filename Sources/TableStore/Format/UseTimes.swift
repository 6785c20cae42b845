/// When which stamp was current: with these pairs the order of use, which is no clock, tells times.
///
/// A hit writes a stamp and no time, so that it costs no look at the clock. The sweeps of a cache note pairs
/// instead. They lie in a file of their own beside the table: its header never changes, and its index file goes with
/// each start of the system. Any loss of pairs has images count as used later than they were, and never earlier.
///
/// Invariant: neither stamps nor times fall from one pair to the next.
struct UseTimes: Hashable, Sendable {
  struct Pair: Hashable, Sendable {
    var stamp: UInt64
    /// Seconds since 1970.
    let time: Int64
  }

  private(set) var pairs: [Pair] = []

  /// Whether the clock stood behind a pair in this session. Nobody knows which of them was right.
  private var isDoubtful = false

  init() {}

  /// Notes that a stamp is current; forgets what no image of this lifetime in seconds needs.
  mutating func note(_ stamp: UInt64, at time: Int64, lifetime: Int64) {
    // A pair of a clock that stands too early would call all uses up to now earlier than they are.
    if pairs.contains(where: { $0.time > time }) { isDoubtful = true }
    pairs.removeAll { $0.time > time || $0.stamp > stamp }
    if isDoubtful { return }
    if let ended = pairs.lastIndex(where: { $0.time <= time - lifetime }) {
      pairs.removeFirst(ended)
    }
    // Sweeps come each hour and at openings. The second bound keeps the file small.
    let pause = max(1800, lifetime / 500)
    if let last = pairs.last, last.time > time - pause { return }
    pairs.append(Pair(stamp: stamp, time: time))
    pairs.removeFirst(max(0, pairs.count - Self.maximumCount))
  }

  /// The latest stamp that was noted by then: images up to this one were not used since.
  func stamp(at time: Int64) -> UInt64? { pairs.last { $0.time <= time }?.stamp }

  /// Takes up the pairs in a session that goes on from a stamp, which an eviction may have made an earlier one than
  /// theirs. Images of this session, whose stamps are later, do not count as of before then.
  mutating func resume(after stamp: UInt64) {
    for index in pairs.indices { pairs[index].stamp = min(pairs[index].stamp, stamp) }
  }

  // MARK: The file

  private static let maximumCount = 1024
  private static let revision: UInt32 = 1
  private static let pairsOffset = 24
  static let maximumByteCount = pairsOffset + maximumCount * 16 + 8

  /// - Parameter nonce: Of the table file whose stamps these are.
  func bytes(nonce: UInt64) -> [UInt8] {
    // The magic of tables, so that the file may be deleted like one.
    var bytes = TableHeader.magic
    bytes.put(Self.revision)
    bytes.put(UInt32(pairs.count))
    bytes.put(nonce)
    for pair in pairs {
      bytes.put(pair.stamp)
      bytes.put(pair.time)
    }
    bytes.put(bytes.withUnsafeBytes { LaneHash.hash($0, seed: LaneHash.keys.0) })
    return bytes
  }

  /// Reads pairs; `nil` for anything that `bytes(nonce:)` does not make.
  init?(_ bytes: [UInt8], nonce: UInt64) {
    let room = Self.pairsOffset..<max(Self.pairsOffset, bytes.count - 8)
    bytes.withUnsafeBytes { bytes in
      for offset in stride(from: room.lowerBound, to: room.upperBound - 15, by: 16) {
        pairs.append(
          Pair(
            stamp: bytes.number(at: offset, as: UInt64.self),
            time: bytes.number(at: offset + 8, as: Int64.self)))
      }
    }
    if self.bytes(nonce: nonce) != bytes { return nil }
  }
}
