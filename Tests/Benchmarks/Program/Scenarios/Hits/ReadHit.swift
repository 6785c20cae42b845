import CommandSupport
import FastImageCache

/// A hit, and every byte of the image.
struct ReadHit: Scenario {
  static let id = "P4"
  static let name = "read-hit"
  static let summary = """
    a hit and every byte of the photo, which is what showing it costs at least, against the C \
    floor and all stores that others keep photos in: everybody's pixels are added up by the same \
    function, and everybody's files are in memory
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let hits = gallery.hits
    let peers = gallery.stores(.touch)
    let contest = Contest(
      [gallery.contender(batch: min(setting.effort.hitBatch, 1000)) { try hits.read($0) }]
        + peers.map { gallery.contender($0, reads: true) })
    let faults = PageFaults.majorCount
    let results = try await contest.run(roundCount: min(setting.effort.roundCount, 41))
    let counts = [("major faults", PageFaults.majorCount - faults)]
    return Findings(
      zip(peers, results.dropFirst()).map { peer, reference in
        Measure(
          Self.id, "hit and every byte read", ours: results[0], reference: reference,
          named: peer.name, bar: peer.isFloor ? .ratioAtMost(1.1) : nil,
          counts: peer.isFloor ? counts : [])
      })
  }
}
