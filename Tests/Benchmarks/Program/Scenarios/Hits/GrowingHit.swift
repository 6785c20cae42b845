import CBenchPeers
import CommandSupport
import FastImageCache

/// The synchronous hit in a large table.
struct GrowingHit: Scenario {
  static let id = "P2"
  static let name = "growing-hit"
  static let summary = """
    the synchronous hit in a table of 100 000 small photos, against the same in one of 1 000: what \
    is left of the difference is the memory that a lookup touches. Its growth, round by round, is \
    compared with that of the C floor, a hash table and a mapping, whose turns stand between ours. \
    Before each turn 8 MB of other memory are read, so that no table is in the near caches. LMDB's \
    growth is shown beside them
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let small = try await setting.smallGallery()
    let large = try await setting.largeGallery()
    let peers = zip(small.stores(.handle), large.stores(.handle))
    let batch = setting.effort.hitBatch
    let (few, many) = (small.hits, large.hits)
    // Each image is hit once before, so that no timed hit is a first one.
    try few.hit(few.images.indices)
    try many.hit(many.images.indices)
    var contenders = [
      small.contender(batch: batch) { try few.hit($0) },
      large.contender(batch: batch) { try many.hit($0) },
    ]
    for (smallStore, largeStore) in peers {
      contenders.append(small.contender(smallStore, reads: false))
      contenders.append(large.contender(largeStore, reads: false))
    }
    let contest = Contest(
      contenders.map { contender in contender.prepared { Self.takeNearCaches() } })
    let rounds = try await contest.rounds(
      roundCount: setting.effort.roundCount, warmUpCount: 3)
    let results = rounds.map { Distribution($0) }
    let counts = "\(many.images.count) entries"
    var measures = [
      Measure(
        Self.id, "synchronous hit, \(counts)", ours: results[1], reference: results[0],
        named: "ours with \(few.images.count)")
    ]
    for (index, peer) in small.stores(.handle).enumerated() {
      measures.append(
        Measure(
          Self.id, "growth of a hit to \(counts)", unit: "x",
          ours: Distribution(rounds[1], by: rounds[0]),
          reference: Distribution(rounds[2 * index + 3], by: rounds[2 * index + 2]),
          named: "growth of \(peer.name)", bar: peer.isFloor ? .ratioAtMost(1.25) : nil))
      measures.append(
        Measure(
          Self.id, "synchronous hit, \(counts)", ours: results[1],
          reference: results[2 * index + 3], named: "\(peer.name) with as many"))
    }
    return Findings(measures)
  }

  /// Does as a program's other work does before a frame's first hit: takes the processor's caches that are
  /// nearest. A table of 1000 images would stay in them from turn to turn, or not, as this run has peers.
  private static func takeNearCaches() {
    otherMemory.withUnsafeBytes { _ = bench_sum($0.baseAddress, $0.count) }
  }

  /// Several times such a cache.
  private static let otherMemory = [UInt64](repeating: 1, count: 1 << 20)
}
