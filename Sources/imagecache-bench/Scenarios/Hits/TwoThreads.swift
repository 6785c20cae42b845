import CommandSupport
import FastImageCache
import Foundation
import Synchronization

/// Hits from two threads at once.
struct TwoThreads: Scenario {
  static let id = "P15"
  static let name = "two-threads"
  static let summary = """
    synchronous hits in one table from two threads at once, each at pictures of its own whose slots lie \
    together, for each hit of either, against the same from one thread; both begin together, and the \
    clock stops with the last. The gain, round by round, is compared with that of numbers that stay in \
    registers, since two cores of a hypervisor may be less than two. Each hit writes to its slot's \
    lease, in a line of 64 bytes. So beside it stand hits of both threads at pictures whose slots are \
    neighbours of each other's, which a core fetches in advance, and at the same pictures, half of \
    them apart and at the same time
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let (hits, effort) = (gallery.hits, setting.effort)
    let range = gallery.slice(turn: 0, count: effort.hitBatch)
    let middle = range.lowerBound + range.count / 2
    let (first, second) = (range.lowerBound..<middle, middle..<range.upperBound)
    func contender(_ threads: [@Sendable () throws -> Void]) -> Contest.Contender {
      Contest.Contender {
        try await Self.time(threads) / Double(threads.count * Self.passCount * range.count)
      }
    }
    func hitting(_ parts: Range<Int>...) -> @Sendable () throws -> Void {
      { for part in parts { try hits.hit(part) } }
    }
    // A gallery is filled in the order of its pictures' numbers, which is that of the slots.
    func hittingSlots(_ slots: Range<Int>) -> @Sendable () throws -> Void {
      let own = HitList(
        cache: hits.cache, format: hits.format, pictures: slots.map { BenchPicture($0) }.shuffled())
      let all = own.pictures.indices
      return { for _ in 0..<2 { try own.hit(all) } }
    }
    let own = [hittingSlots(0..<range.count / 2), hittingSlots(range.count / 2..<range.count)]
    let counting = { @Sendable in Self.count(range.count) }
    let contest = Contest([
      contender(own), contender([own[0]]),
      contender([hitting(first, first), hitting(second, second)]),
      contender([hitting(first, second), hitting(second, first)]),
      contender([hitting(first, second), hitting(first, second)]),
      contender([counting, counting]), contender([counting]),
    ])
    let rounds = try await contest.rounds(roundCount: effort.roundCount, warmUpCount: 3)
    let results = rounds.map { Distribution($0) }
    func hit(_ what: String, _ index: Int) -> Measure {
      Measure(Self.id, what, ours: results[index], reference: results[1], named: "one thread")
    }
    return Findings([
      hit("synchronous hit, two threads", 0),
      Measure(
        Self.id, "gain of hits by a second thread", unit: "x",
        ours: Distribution(rounds[1], by: rounds[0]),
        reference: Distribution(rounds[6], by: rounds[5]), named: "gain of numbers in registers",
        bar: .ratioAtLeast(0.95)),
      hit("two threads at neighbouring slots", 2),
      hit("two threads at the same pictures, half of them apart", 3),
      hit("two threads at the same pictures at the same time", 4),
      Measure(
        Self.id, "numbers in registers, two threads", ours: results[5], reference: results[6],
        named: "one thread"),
    ])
  }

  /// Several chains of dependent numbers, for about half as long as so many hits. Like hits they use as
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

  /// The passes of each thread over the pictures that count. Fewer would measure how threads begin: with
  /// 20 passes, which take a millisecond, two threads seemed to gain 1.2 to 1.4.
  private static let passCount = 200

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
        // The first pass brings a new thread's memory, and slots from the core that had them last.
        let first = Result { try work() }
        line.wait()
        let start = ContinuousClock.now
        let result = first.flatMap { Result { for _ in 0..<passCount { try work() } } }
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
