import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation

/// An original that is kept, from its address to its proven bytes.
struct KeptRead: Scenario {
  static let id = "S2"
  static let name = "kept-read"
  static let summary = """
    reading a kept original, with its lookup in the database and its checksum, \
    against openat, read and close of a plain file in the same folder, whose length and name are \
    known, into memory that malloc gives; then against the same with a hash of that cost in C, which is the \
    floor of a read that proves its bytes. Peers copy their value into such memory, as everybody's \
    files are in the system's. LMDB reads through a mapping and makes no system call
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.imageCount
    let small = try await compare(
      "60 kB", PixelSize(width: 128, height: 120), count: count, batch: 20, bar: 1.5, setting)
    let large = try await compare(
      "1 MB", PixelSize(width: 512, height: 512), count: count / 16 + 4, batch: 4, bar: 1.75,
      setting)
    return Findings(small + large)
  }

  /// - Parameter size: That of an image whose pixels are as many bytes: peers count so.
  private func compare(
    _ length: String, _ size: PixelSize, count: Int, batch: Int, bar: Double,
    _ setting: BenchSetting
  ) async throws -> [Measure] {
    let layout = PixelLayout(for: size, format: .bgrx32)
    let name = "read-\(layout.byteCount)"
    let kept = try await KeptFiles.filled(
      name, count: count, byteCount: layout.byteCount, setting: setting)
    _ = try await kept.writePlain(0..<count, kept.content)
    let images = (0..<count).map { BenchImage($0) }
    let peers = try setting.peers.open(
      .bytes, in: setting.place.url.appending(path: name), layout: layout, capacity: count,
      reader: bench_copy)
    for peer in peers {
      try kept.content.withUnsafeBytes { bytes in
        for image in images { try peer.store(image.key, bytes) }
      }
    }
    let keys = images.shuffled().flatMap(\.key)
    let contenders =
      [
        Contest.contender(of: count, batch: batch) { try kept.read($0) },
        Contest.contender(of: count, batch: batch) { try kept.readPlain($0) },
        Contest.contender(of: count, batch: batch) { try kept.readPlain($0, hashes: true) },
      ]
      + peers.map { peer in
        Contest.contender(of: count, batch: batch) { range in
          try peer.get(keys[(range.lowerBound * 16)..<(range.upperBound * 16)], reads: true)
        }
      }
    let results = try await Contest(contenders).run(roundCount: setting.effort.roundCount)
    let references =
      [
        ("plain read", Bar.ratioAtMost(bar)), ("plain read and a hash in C", nil),
      ] + peers.map(Self.reference)
    return zip(references, results.dropFirst()).map { reference, result in
      Measure(
        Self.id, "read of a kept original, \(length)", ours: results[0], reference: result,
        named: reference.0, bar: reference.1)
    }
  }

  private static func reference(_ peer: PeerStore) -> (String, Bar?) {
    (peer.name, peer.name.hasPrefix("SQLite") ? .ratioAtMost(1) : nil)
  }
}
