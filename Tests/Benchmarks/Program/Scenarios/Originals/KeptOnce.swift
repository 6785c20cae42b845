import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Many requests for one image whose original is then kept.
struct KeptOnce: Scenario {
  static let id = "S12"
  static let name = "kept-once"
  static let summary = """
    1000 tasks that ask for one photo at once, in a cache with a store, from their creation until \
    the last has it, for each; its source answers with a JPEG file when all are waiting. Against the \
    same without a store. Fetches, decodes and writes of bodies are counted
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let size = PixelSize(width: 32, height: 32)
    let format = ImageFormat(
      name: "once", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(16))
    let bitmap = try setting.photographs.part(0, size: PixelSize(width: 96, height: 64))
    let source = WaitingSource(.encoded(try bitmap.jpegData(quality: 0.85)), need: .network)
    let calls = CountedCalls()
    let configuration = ImageCache.Configuration.with { $0.source = source }
    var keeping = configuration
    keeping.originals = calls.makeStore(
      Self.name, in: setting.place.url.appending(path: "originals"))
    return try await setting.withCache("once-kept", formats: [format], keeping) { kept in
      try await setting.withCache("once", formats: [format], configuration) { bare in
        let count = setting.effort.subscriberCount
        var events = kept.events(bufferSize: 4096).makeAsyncIterator()
        _ = try await Self.contender(kept, format, source, count, from: 1_000_000).turn()
        // The original is written behind the answers.
        while let event = await events.next() {
          if case .original(_, .stored) = event { break }
        }
        try await Self.quiet(kept)
        let (first, writes) = (await kept.statistics(), calls.count(.write))
        let fetches = source.askedCount
        let results = try await Contest([
          Self.contender(kept, format, source, count), Self.contender(bare, format, source, count),
        ]).run(roundCount: min(setting.effort.roundCount, 51))
        return Findings([
          Measure(
            Self.id, "\(count) requests for one image, each", ours: results[0],
            reference: results[1], named: "without a store"),
          .counted(Self.id, "fetches", fetches, mustBe: 1),
          .counted(Self.id, "decodes", first.decodes, mustBe: 1),
          .counted(Self.id, "originals written", writes, mustBe: 1),
        ])
      }
    }
  }

  private static func contender(
    _ cache: ImageCache, _ format: ImageFormat, _ source: WaitingSource, _ subscriberCount: Int,
    from first: Int = 0
  ) -> Contest.Contender {
    var number = first
    return Contest.Contender {
      try await quiet(cache)
    } turn: {
      number += 1
      let file = URL(string: "https://photos.example.com/once/\(number).jpg")
      return try await JoinedRequests.time(
        subscriberCount, cache, BenchImage(number, file: file), format, source)
        / Double(subscriberCount)
    }
  }

  /// Returns when the last load has ended, its original written.
  private static func quiet(_ cache: ImageCache) async throws {
    while await cache.statistics().activeLoads > 0 { try await Task.sleep(for: .microseconds(100)) }
  }
}
