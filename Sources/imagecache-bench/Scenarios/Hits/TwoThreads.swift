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
    from one thread; both begin together, the second half-way through the pictures, and the clock \
    stops with the last. The gain, round by round, is compared with that of numbers that stay in \
    registers, in loops as long, since two cores of a hypervisor may be less than two. Beside it hits with both threads at the same pictures all the time, \
    where each hit finds its slot in the other core's cache
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let (hits, effort) = (gallery.hits, setting.effort)
    let range = gallery.slice(turn: 0, count: effort.hitBatch)
    let middle = range.lowerBound + range.count / 2
    let halves = [middle..<range.upperBound, range.lowerBound..<middle]
    let orders = [[range], halves]
    func contender(_ threads: [@Sendable () throws -> Void]) -> Contest.Contender {
      Contest.Contender {
        try await Self.time(threads) / Double(threads.count * Self.passCount * range.count)
      }
    }
    let hitting = orders.map { order in
      { @Sendable in for part in order { try hits.hit(part) } }
    }
    let counting = { @Sendable in Self.count(range.count) }
    let contest = Contest([
      contender(hitting), contender([hitting[0]]), contender([hitting[0], hitting[0]]),
      contender([counting, counting]), contender([counting]),
    ])
    let rounds = try await contest.rounds(roundCount: effort.roundCount, warmUpCount: 3)
    let results = rounds.map { Distribution($0) }
    return Findings([
      Measure(
        Self.id, "synchronous hit, two threads", ours: results[0], reference: results[1],
        named: "one thread"),
      Measure(
        Self.id, "gain of hits by a second thread", unit: "x",
        ours: Distribution(rounds[1], by: rounds[0]),
        reference: Distribution(rounds[4], by: rounds[3]), named: "gain of numbers in registers",
        bar: .ratioAtLeast(0.95)),
      Measure(
        Self.id, "the same, both at the same pictures", ours: results[2], reference: results[1],
        named: "one thread"),
      Measure(
        Self.id, "numbers in registers, two threads", ours: results[3], reference: results[4],
        named: "one thread"),
    ])
  }

  /// Several chains of dependent numbers, for about as long as so many hits. Like hits they use as
  /// much of a core at once as it has.
  private static func count(_ hitCount: Int) {
    var numbers = SIMD8<UInt32>(0, 1, 2, 3, 4, 5, 6, 7) &+ UInt32(truncatingIfNeeded: hitCount)
    var others = (UInt64(hitCount), UInt64(1), UInt64(2), UInt64(3))
    for _ in 0..<(hitCount * 20) {
      numbers = (numbers ^ numbers &>> 13) &+ 0x9E37_79B9
      others.0 = (others.0 ^ others.0 >> 29) &+ 0x9E37_79B9_7F4A_7C15
      others.1 = (others.1 ^ others.1 >> 29) &+ 0x9E37_79B9_7F4A_7C15
      others.2 = (others.2 ^ others.2 >> 29) &+ 0x9E37_79B9_7F4A_7C15
      others.3 = (others.3 ^ others.3 >> 29) &+ 0x9E37_79B9_7F4A_7C15
    }
    let sum = others.0 ^ others.1 ^ others.2 ^ others.3 ^ UInt64(numbers.wrappedSum())
    lastNumber.store(sum, ordering: .relaxed)
  }

  /// Where chains end, so that the compiler has to compute them.
  private static let lastNumber = Atomic<UInt64>(0)

  /// The passes of each thread over the pictures: waking a thread takes as long as many hits.
  private static let passCount = 20

  /// Nanoseconds from the start of the first to the end of the last.
  private static func time(_ threads: [@Sendable () throws -> Void]) async throws -> Double {
    let line = StartingLine(threads.count)
    let times = try await withThrowingTaskGroup(
      of: (ContinuousClock.Instant, ContinuousClock.Instant).self
    ) { group in
      for work in threads {
        group.addTask { try await run(work, from: line) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    guard let start = times.map(\.0).min(), let end = times.map(\.1).max() else { return 0 }
    return (end - start) / .nanoseconds(1)
  }

  private static func run(
    _ work: @escaping @Sendable () throws -> Void, from line: StartingLine
  ) async throws -> (ContinuousClock.Instant, ContinuousClock.Instant) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        line.wait()
        let start = ContinuousClock.now
        let result = Result { for _ in 0..<passCount { try work() } }
        let end = ContinuousClock.now
        continuation.resume(with: result.map { (start, end) })
      }
    }
  }
}

/// Lets threads begin together: each spins until all have arrived.
private final class StartingLine: Sendable {
  private let missingCount: Atomic<Int>

  init(_ threadCount: Int) { missingCount = Atomic(threadCount) }

  func wait() {
    missingCount.subtract(1, ordering: .relaxed)
    // With fewer cores than threads, the spinning thread has to yield.
    while missingCount.load(ordering: .relaxed) > 0 { sched_yield() }
  }
}
