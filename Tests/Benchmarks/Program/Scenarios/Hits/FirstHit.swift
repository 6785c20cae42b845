import CommandSupport
import FastImageCache
import Foundation

/// The first hit on an image after its table was opened.
struct FirstHit: Scenario {
  static let id = "P5"
  static let name = "first-hit"
  static let summary = """
    the first hit on each photo after opening, which reads it, checks every byte and compares its \
    ids, against pread(2) of as many bytes from the same file: a proof cannot do with less than \
    reading what it proves
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = min(setting.effort.imageCount, 200)
    let gallery = try await Gallery(
      Self.name, count: count, side: 200, roles: [], setting: setting)
    await gallery.close()
    let (format, images) = (gallery.format, gallery.hits.images)
    let files = try FileManager.default.contentsOfDirectory(
      at: gallery.cache.directory, includingPropertiesForKeys: nil)
    guard let table = files.first(where: { $0.pathExtension == "imagetable" }) else {
      throw BenchFailure.missingImage
    }
    let byteCount = 832 * 200
    let file = try BenchFile(table, start: 1 << 18, pieceByteCount: byteCount)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 64)
    defer { buffer.deallocate() }
    // The last piece would end beyond the file.
    let pieces = 0..<max(count - 2, 1)

    let contest = Contest([
      Contest.Contender {
        try await setting.withCache(Self.name, formats: [format]) { cache in
          let hits = HitList(cache: cache, format: format, images: images)
          return try Contest.time(images.count) { try hits.hit(images.indices) }
        }
      },
      Contest.Contender {
        try Contest.time(pieces.count) {
          for piece in pieces { try file.read(piece, into: buffer) }
        }
      },
    ])
    let results = try await contest.run(roundCount: min(setting.effort.roundCount, 41))
    return Findings([
      Measure(
        Self.id, "first hit after opening", ours: results[0], reference: results[1],
        named: "pread of the pixels", bar: .ratioAtMost(3))
    ])
  }
}
