import CommandSupport
import FastImageCache
import Foundation
import Synchronization

/// Hits from two threads at once.
struct TwoThreads: Scenario {
  static let id = "P15"
  static let name = "two-threads"
  static let summary = """
    synchronous hits in one table from two threads at once, for each hit of either, against the same \
    from one thread; both begin together, and the clock stops with the last. It needs two idle cores
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let (hits, effort) = (gallery.hits, setting.effort)
    let range = gallery.slice(turn: 0, count: effort.hitBatch)
    let contest = Contest(
      [2, 1].map { threadCount in
        Contest.Contender { try await Self.time(threadCount, hits, range) }
      })
    let results = try await contest.run(roundCount: effort.roundCount, warmUpCount: 3)
    return Findings([
      Measure(
        Self.id, "synchronous hit, two threads", ours: results[0], reference: results[1],
        named: "one thread", bar: .gainAtLeast(1.5))
    ])
  }

  /// Each thread goes through the pictures so often, since waking it takes as long as many hits.
  private static let passCount = 20

  private static func time(
    _ threadCount: Int, _ hits: HitList, _ range: Range<Int>
  ) async throws -> Double {
    let line = StartingLine(threadCount)
    let times = try await withThrowingTaskGroup(
      of: (ContinuousClock.Instant, ContinuousClock.Instant).self
    ) { group in
      for _ in 0..<threadCount {
        group.addTask { try await run(hits, range, from: line) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    guard let start = times.map(\.0).min(), let end = times.map(\.1).max() else { return 0 }
    return (end - start) / .nanoseconds(1) / Double(threadCount * passCount * range.count)
  }

  private static func run(
    _ hits: HitList, _ range: Range<Int>, from line: StartingLine
  ) async throws -> (ContinuousClock.Instant, ContinuousClock.Instant) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        line.wait()
        let start = ContinuousClock.now
        let result = Result { for _ in 0..<passCount { try hits.hit(range) } }
        let end = ContinuousClock.now
        continuation.resume(with: result.map { (start, end) })
      }
    }
  }
}

/// Lets threads begin together: each spins until all have come.
private final class StartingLine: Sendable {
  private let missingCount: Atomic<Int>

  init(_ threadCount: Int) { missingCount = Atomic(threadCount) }

  func wait() {
    missingCount.subtract(1, ordering: .relaxed)
    // Where there are fewer cores than threads, the others have to be let in.
    while missingCount.load(ordering: .relaxed) > 0 { sched_yield() }
  }
}
