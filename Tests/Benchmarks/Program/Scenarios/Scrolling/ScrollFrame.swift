import CommandSupport
import FastImageCache

/// The work of one frame of a list that is scrolled.
struct ScrollFrame: Scenario {
  static let id = "P14"
  static let name = "scroll-frame"
  static let summary = """
    five photos that come into view in one frame, obtained and read, against what other libraries \
    keep on disk: thumbnail files of the right size, read and decoded, their pixels read by the \
    same function; and the C floor, which reads as many bytes at the same places of a mapping, in the \
    same rounds. `imagecache scroll` does the \
    same with photographs of yours
    """

  private static let columnCount = 5

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let hits = gallery.hits
    let peers = gallery.stores(.scroll)
    let ours = Self.frames(gallery) { try hits.read($0) }
    let others = peers.map { peer in
      Self.frames(gallery) { try peer.get(gallery.keys($0), reads: true) }
    }
    // One pass over the list before: a hypervisor may have paged out data that was unused for
    // seconds, and paging in is not a frame's work in a scrolled list.
    let results = try await Contest([ours] + others).run(
      roundCount: setting.effort.frameCount, warmUpCount: setting.effort.frameCount)
    return Findings(
      zip(peers, results.dropFirst()).map { peer, reference in
        Measure(
          Self.id, "frame of a scrolled list, 5 images", unit: "ms", ours: results[0],
          reference: reference, named: peer.name, bar: peer.isFloor ? .ratioAtMost(1.15) : nil,
          counts: [
            ("frames", results[0].count),
            ("ours over 8.3 ms", results[0].count(above: 8.3)),
            ("\(peer.name) over 8.3 ms", reference.count(above: 8.3)),
          ])
      })
  }

  private static func frames(
    _ gallery: Gallery, _ body: @escaping (Range<Int>) throws -> Void
  ) -> Contest.Contender {
    var frame = 0
    return Contest.Contender {
      let slice = gallery.slice(turn: frame, count: columnCount)
      frame += 1
      return try Contest.time(1) { try body(slice) } / 1e6
    }
  }
}
