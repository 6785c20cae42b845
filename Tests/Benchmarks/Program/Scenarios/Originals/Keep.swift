import CommandSupport
import FastImageCache
import Foundation

/// A downloaded file until reads find it.
struct Keep: Scenario {
  static let id = "S3"
  static let name = "keep"
  static let summary = """
    keeping a new original until it can be read, with its checksum and its two transactions, \
    against creating, writing, closing and renaming a plain file on the same disk: both on the \
    store's own queue, and neither waits for the device. Peers write over older values. Then the \
    same with 100 000 originals against 100, and the plain file beside both; one that evicts against one that \
    does not; and the longest keep while all of many originals are removed
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let small = try await compare("60 kB", PixelSize(width: 128, height: 120), setting)
    let large = try await compare("1 MB", PixelSize(width: 512, height: 512), setting)
    return Findings(small + large + (try await grow(setting)) + (try await crowd(setting)))
  }

  private func compare(
    _ length: String, _ size: PixelSize, _ setting: BenchSetting
  ) async throws -> [Measure] {
    let layout = PixelLayout(for: size, format: .bgrx32)
    let name = "keep-\(layout.byteCount)"
    let batch = setting.effort.storeBatch
    let kept = try await KeptFiles.filled(
      name, count: batch, byteCount: layout.byteCount, setting: setting)
    let images = (0..<batch).map { BenchImage($0) }
    let peers = try setting.peers.open(
      .bytes, in: setting.place.url.appending(path: name), layout: layout, capacity: batch)
    let contenders =
      [Self.keep(batch, kept.content, in: kept), Self.write(batch, kept.content, in: kept)]
      + peers.map { peer in
        Contest.Contender {
          try kept.content.withUnsafeBytes { bytes in
            try Contest.time(batch) {
              for image in images { try peer.store(image.key, bytes) }
            }
          }
        }
      }
    let results = try await Contest(contenders).run(
      roundCount: min(setting.effort.roundCount, 31), warmUpCount: 2)
    let names = ["create, write, close, rename"] + peers.map(\.name)
    return zip(names, results.dropFirst()).map { name, result in
      Measure(
        Self.id, "keep until readable, \(length)", ours: results[0], reference: result, named: name,
        bar: name.hasPrefix("create") ? .ratioAtMost(1.4) : nil)
    }
  }

  private func grow(_ setting: BenchSetting) async throws -> [Measure] {
    let batch = setting.effort.storeBatch
    let many = try await setting.manyOriginals()
    let few = try await KeptFiles.filled(
      "few", count: setting.effort.heldCount, byteCount: many.content.count, setting: setting)
    let content = KeptFiles.content(60_000)
    let results = try await Contest([
      Self.keep(batch, content, in: many), Self.keep(batch, content, in: few),
      Self.write(batch, content, in: many), Self.write(batch, content, in: few),
    ]).run(roundCount: min(setting.effort.roundCount, 15), warmUpCount: 2)
    let (fewCount, manyCount) = (few.addresses.count, many.addresses.count)
    return [
      Measure(
        Self.id, "keep until readable, 60 kB, beside \(manyCount) originals", ours: results[0],
        reference: results[1], named: "beside \(fewCount)", bar: .ratioAtMost(1.3)),
      Measure(
        Self.id, "create, write, close, rename there", ours: results[2], reference: results[3],
        named: "beside \(fewCount)"),
    ]
  }

  private func crowd(_ setting: BenchSetting) async throws -> [Measure] {
    let batch = setting.effort.storeBatch
    let content = KeptFiles.content(60_000)
    let count = max(batch, setting.effort.heldCount)
    let roomy = try await KeptFiles.filled(
      "roomy", count: count, byteCount: content.count, setting: setting)
    // Each takes 61 440 bytes; some room is the database's.
    let full = try await KeptFiles.filled(
      "full", count: count, byteCount: content.count, byteLimit: count * 61_440 + (2 << 20),
      setting: setting)
    var round = 0
    func keepNew(in kept: KeptFiles) -> Contest.Contender {
      Contest.Contender {
        round += 1
      } turn: {
        try await kept.keep(KeptFiles.addresses("round-\(round)", count: batch), content)
      }
    }
    let results = try await Contest([keepNew(in: full), keepNew(in: roomy)]).run(
      roundCount: min(setting.effort.roundCount, 21), warmUpCount: 4)
    let removed = try await KeptFiles.filled(
      "removed", count: setting.effort.largeCount / 20, byteCount: 1000, copies: true,
      setting: setting)
    let longest = try await removed.longestKeepWhileRemoving()
    return [
      Measure(
        Self.id, "keep that evicts, 60 kB", ours: results[0], reference: results[1],
        named: "that does not", bar: .ratioAtMost(2)),
      Measure(
        Self.id, "longest keep while \(removed.addresses.count) are removed", unit: "ms",
        ours: Distribution([longest]), bar: .oursAtMost(50)),
    ]
  }

  /// Keeps the same originals in each turn; they are removed before.
  private static func keep(
    _ count: Int, _ content: Data, in kept: KeptFiles
  ) -> Contest.Contender {
    let addresses = KeptFiles.addresses("new", count: count)
    return Contest.Contender {
      try await kept.remove(addresses)
    } turn: {
      try await kept.keep(addresses, content)
    }
  }

  private static func write(
    _ count: Int, _ content: Data, in kept: KeptFiles
  ) -> Contest.Contender {
    Contest.Contender {
      kept.removePlain(0..<count)
    } turn: {
      try await kept.writePlain(0..<count, content)
    }
  }
}
