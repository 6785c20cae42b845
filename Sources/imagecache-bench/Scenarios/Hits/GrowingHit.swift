import CommandSupport
import FastImageCache

/// The synchronous hit in a large table.
struct GrowingHit: Scenario {
  static let id = "P2"
  static let name = "growing-hit"
  static let summary = """
    the synchronous hit in a table of 100 000 small pictures, against the same in one of 1 000: what \
    is left of the difference is the memory that a lookup touches, so the peers' own growth in the \
    same run is shown beside it
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let small = try await setting.smallGallery()
    let large = try await setting.largeGallery()
    let peers = zip(small.stores(.handle), large.stores(.handle))
    let batch = setting.effort.hitBatch
    let (few, many) = (small.hits, large.hits)
    // Each picture is hit once before, so that no timed hit is a first one.
    try few.hit(few.pictures.indices)
    try many.hit(many.pictures.indices)
    let contest = Contest(
      [
        small.contender(batch: batch) { try few.hit($0) },
        large.contender(batch: batch) { try many.hit($0) },
      ]
        + peers.flatMap {
          [small.contender($0, reads: false), large.contender($1, reads: false)]
        })
    let results = try await contest.run(roundCount: setting.effort.roundCount, warmUpCount: 3)
    let counts = "\(many.pictures.count) entries"
    var measures = [
      Measure(
        Self.id, "synchronous hit, \(counts)", ours: results[1], reference: results[0],
        named: "ours with \(few.pictures.count)", bar: .ratioAtMost(1.5))
    ]
    for (index, name) in small.stores(.handle).map(\.name).enumerated() {
      measures.append(
        Measure(
          Self.id, "\(name), \(counts)", ours: results[2 * index + 3],
          reference: results[2 * index + 2], named: "itself with \(few.pictures.count)"))
      measures.append(
        Measure(
          Self.id, "synchronous hit, \(counts)", ours: results[1],
          reference: results[2 * index + 3], named: "\(name) with as many"))
    }
    return Findings(measures)
  }
}
