import CommandSupport
import FastImageCache
import Foundation

/// A kept original while the network hangs.
struct KeptMissBesideDownloads: Scenario {
  static let id = "S6"
  static let name = "kept-miss-beside-downloads"
  static let summary = """
    the misses of S5 in a cache in which 6 downloads hang, as many as its network gate lets in, and \
    500 more wait for that gate, against those in a cache that does nothing else
    """

  private static let hangingCount = 6

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let waitingCount = setting.effort.subscriberCount / 2
    let image = try KeptImage(setting.effort.photographs.small, setting)
    let source = WaitingSource(
      .bitmap(try setting.photographs.part(0, size: KeptImage.format.size)), need: .network)
    var busy = KeptImage.configuration("busy", setting, networkWidth: Self.hangingCount)
    busy.source = source
    let idle = KeptImage.configuration("idle", setting)
    return try await setting.withCache("idle", formats: [KeptImage.format], idle) { idleCache in
      try await setting.withCache("busy", formats: [KeptImage.format], busy) { busyCache in
        try await image.keep(in: idleCache, idle.originals)
        try await image.keep(in: busyCache, busy.originals)
        let downloads = Self.ask(busyCache, count: Self.hangingCount + waitingCount)
        defer { for download in downloads { download.cancel() } }
        try await busyCache.waitForWaiters(downloads.count)
        while source.askedCount < Self.hangingCount { await Task.yield() }
        _ = try? Cores.hold(to: 1)
        defer { Cores.release() }
        let results = try await Contest([
          image.misses(of: image.address, in: busyCache, besides: downloads.count),
          image.misses(of: image.address, in: idleCache),
        ]).run(roundCount: min(setting.effort.roundCount, 51))
        return Findings([
          Measure(
            Self.id,
            "miss from a kept original, \(Self.hangingCount) downloads hang, "
              + "\(waitingCount) wait", unit: "ms", ours: results[0], reference: results[1],
            named: "no download", bar: .ratioAtMost(1.1)),
          .counted(
            Self.id, "sources asked meanwhile", source.askedCount - Self.hangingCount, mustBe: 0),
        ])
      }
    }
  }

  /// Asks for images that do not come.
  private static func ask(_ cache: ImageCache, count: Int) -> [Task<Void, Never>] {
    KeptFiles.addresses("hanging", count: count).enumerated().map { number, address in
      Task(name: "download") {
        // It ends by being cancelled. Numbers below zero are those of no other image.
        _ = try? await cache.image(
          for: BenchImage(-1 - number, file: address), format: KeptImage.format)
      }
    }
  }
}
