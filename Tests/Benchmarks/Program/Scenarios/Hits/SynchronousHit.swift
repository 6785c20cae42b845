import CommandSupport
import FastImageCache

/// `cachedImage(for:format:)` of an image that is there: lookup, lease, handle, release.
struct SynchronousHit: Scenario {
  static let id = "P1"
  static let name = "synchronous-hit"
  static let summary = """
    cachedImage(for:format:) of a photo that is there, against a get of LMDB and the C floor: all \
    yield a pointer to mapped pixels and read none, in the same random order; ours also keeps the \
    photo from being overwritten, which LMDB does only as long as its transaction is open
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let what = "synchronous hit, \(setting.effort.imageCount) entries"
    let hits = gallery.hits
    let peers = gallery.stores(.handle)
    let contest = Contest(
      [gallery.contender(batch: setting.effort.hitBatch) { try hits.hit($0) }]
        + peers.map { gallery.contender($0, reads: false) })
    let results = try await contest.run(roundCount: setting.effort.roundCount, warmUpCount: 3)
    return Findings(
      zip(peers, results.dropFirst()).map { peer, reference in
        Measure(
          Self.id, what, ours: results[0], reference: reference, named: peer.name,
          bar: peer.name.hasPrefix("LMDB") ? .ratioAtMost(1) : nil)
      })
  }
}
