import CommandSupport
import FastImageCache

/// `cachedImage(for:format:)` of a picture that is there: lookup, lease, handle, release.
struct SynchronousHit: Scenario {
  static let id = "P1"
  static let name = "synchronous-hit"
  static let summary = """
    cachedImage(for:format:) of a picture that is there, against a get of LMDB and the C floor: all \
    yield a pointer to mapped pixels and read none, in the same random order; ours also keeps the \
    picture from being overwritten, which LMDB does only as long as its transaction is open
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let what = "synchronous hit, \(setting.effort.pictureCount) entries"
    let rows = try await Self.contest(gallery, setting).map { reference in
      Measure(
        Self.id, what, ours: reference.ours, reference: reference.distribution,
        named: reference.name, bar: reference.name.hasPrefix("LMDB") ? .ratioAtMost(1) : nil)
    }
    guard !setting.peers.isComplete, let ours = rows.first?.ours else { return Findings(rows) }
    let missing = Measure(
      Self.id, what, ours: ours, named: "LMDB (Tests/Benchmarks/run measures it)",
      bar: .ratioAtMost(1))
    return Findings([missing] + rows)
  }

  struct Reference {
    let name: String
    let ours: Distribution
    let distribution: Distribution
  }

  /// Hits of ours in turns with all peers that yield a pointer.
  nonisolated(nonsending) static func contest(
    _ gallery: Gallery, _ setting: BenchSetting
  ) async throws -> [Reference] {
    let hits = gallery.hits
    let peers = gallery.stores(.handle)
    let contest = Contest(
      [gallery.contender(batch: setting.effort.hitBatch) { try hits.hit($0) }]
        + peers.map { gallery.contender($0, reads: false) })
    let results = try await contest.run(roundCount: setting.effort.roundCount, warmUpCount: 3)
    return zip(peers, results.dropFirst()).map {
      Reference(name: $0.name, ours: results[0], distribution: $1)
    }
  }
}
