import CommandSupport
import FastImageCache
import Foundation
import Synchronization
import TableStore

/// Hits while a thread stores without pause.
struct HitsBesideWriter: Scenario {
  static let id = "P16"
  static let name = "hits-beside-writer"
  static let summary = """
    the slowest of a hundred synchronous hits (p99, each hit timed for itself) while another thread \
    stores photos of 160 kB into the same table without pause, against the same with nobody \
    storing. It needs two idle cores: a writer that takes the reader's core is the scheduler's doing
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.imageCount
    let gallery = try await Gallery(
      Self.name, count: count, spareCount: 1, side: 200, roles: [], setting: setting)
    let half = count / 2
    let (hits, cache, format) = (gallery.hits, gallery.cache, gallery.format)
    let bitmap = try setting.photographs.part(0, size: format.size)
    var alone: [Double] = []
    var beside: [Double] = []
    var storedCount = 0
    // In turns, as everywhere.
    for _ in 0..<Self.turnCount {
      let hitCount = max(setting.effort.singleHitCount / Self.turnCount, 1)
      alone += try Self.time(hitCount, hits, below: half)
      let writer = Writer(cache, format, Array(hits.images[half...]), bitmap)
      await writer.hasStored()
      beside += try Self.time(hitCount, hits, below: half)
      storedCount += try await writer.end()
    }
    await gallery.close()
    return Findings([
      Measure(
        Self.id, "synchronous hit beside a writer", ours: Distribution(beside),
        reference: Distribution(alone), named: "nobody writing", bar: .ratioAtMost(3),
        statistic: .p99, counts: [("images stored meanwhile", storedCount)])
    ])
  }

  private static let turnCount = 4

  private static func time(_ count: Int, _ hits: HitList, below end: Int) throws -> [Double] {
    try (0..<count).map { number in
      let index = number &* 7919 % end
      return try Contest.time(1) { try hits.hit(index..<(index + 1)) }
    }
  }
}

/// A thread that replaces images until `end()`.
private final class Writer: Sendable {
  /// Shared with the thread, which ends before its waiter goes on.
  private final class Flag: Sendable {
    let isSet = Atomic<Bool>(false)
  }

  private let isOver = Flag()
  private let first: AsyncStream<Void>
  private let result: Task<Int, any Error>

  init(
    _ cache: ImageCache, _ format: ImageFormat, _ images: [BenchImage], _ bitmap: Bitmap
  ) {
    let (first, announce) = AsyncStream<Void>.makeStream()
    let (ended, end) = AsyncThrowingStream<Int, any Error>.makeStream()
    self.first = first
    // Ends with the thread, which `end()` awaits.
    result = Task(name: "writer") { try await ended.first { _ in true } ?? 0 }
    Thread.detachNewThread { [isOver] in
      end.yield(
        with: Result {
          let table = try Gallery.table(of: cache, format)
          defer { table.close() }
          var count = 0
          repeat {
            try Gallery.insert(bitmap, for: images[count % images.count], into: table)
            count += 1
            if count == 1 { announce.finish() }
          } while !isOver.isSet.load(ordering: .relaxed)
          return count
        })
      announce.finish()
      end.finish()
    }
  }

  /// Waits for its first image.
  func hasStored() async { for await _ in first {} }

  /// - Returns: How many images it stored.
  func end() async throws -> Int {
    isOver.isSet.store(true, ordering: .relaxed)
    return try await result.value
  }
}
