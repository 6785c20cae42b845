import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation
import Synchronization

/// Hits from two threads at once.
struct TwoThreads: Scenario {
  static let id = "P15"
  static let name = "two-threads"
  static let summary = """
    synchronous hits in one table from two threads at once, each at photos of its own, whose slots lie \
    together by the hundreds, for each hit of either, against the same from one thread; both begin together, and the \
    clock stops with the last. The gain, round by round, is compared with that of the least that takes \
    leases and ends them, in C, in lines of memory that lie as the slots do, since two cores of a \
    hypervisor may be less than two. Each hit writes to its slot's lease, in a line of 64 bytes. So \
    beside it stand hits of both threads at photos whose slots are \
    neighbours of each other's, which a core fetches in advance, and at the same photos, half of \
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
    // A gallery is filled in the order of its images' numbers, which is that of the slots. Neither thread
    // gets all late ones, whose hints lie farther from their homes. Few slots have a neighbour of the other
    // thread's: a core fetches the lines beside a lease in advance, and takes them from the other one.
    let block = max(1, range.count / 4)
    let slots = [0, 1].map { thread in (0..<range.count).filter { $0 / block % 2 == thread } }
    let own = slots.map { slots in
      let own = HitList(
        cache: hits.cache, format: hits.format, images: slots.map { BenchImage($0) }.shuffled())
      return { @Sendable () throws -> Void in
        for _ in 0..<2 { try own.hit(own.images.indices) }
      }
    }
    let lines = LeaseLines(count: range.count)
    let leasing = slots.map { Self.leasing(lines, $0) }
    let contest = Contest([
      contender(own), contender([own[0]]),
      contender([hitting(first, first), hitting(second, second)]),
      contender([hitting(first, second), hitting(second, first)]),
      contender([hitting(first, second), hitting(first, second)]),
      contender(leasing), contender([leasing[0]]),
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
        reference: Distribution(rounds[6], by: rounds[5]), named: "gain of the C floor",
        bar: .ratioAtLeast(0.95)),
      hit("two threads at neighbouring slots", 2),
      hit("two threads at the same images, half of them apart", 3),
      hit("two threads at the same images at the same time", 4),
      Measure(
        Self.id, "the C floor's leases, four of them, two threads", ours: results[5],
        reference: results[6], named: "one thread"),
    ])
  }

  /// The floor: leases of lines of 64 bytes. Several times as many as hits, so that turns are as long.
  private static func leasing(_ lines: LeaseLines, _ slots: [Int]) -> @Sendable () throws -> Void {
    let order = slots.map { UInt32($0) }.shuffled()
    return {
      for _ in 0..<2 * leasesPerHit {
        guard bench_lease(lines.memory, order, order.count) == 0 else {
          throw BenchFailure(description: "A lease was taken of another line.")
        }
      }
    }
  }

  private static let leasesPerHit = 4

  /// The passes of each thread over the images that count. Fewer would measure how threads begin: with
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

/// Memory for leases, a line of 64 bytes each.
///
/// `@unchecked Sendable` is safe because all accesses are those of `bench_lease`, whose words are atomic.
private final class LeaseLines: @unchecked Sendable {
  let memory: UnsafeMutableRawPointer

  init(count: Int) {
    memory = .allocate(byteCount: 64 * count, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: 64 * count)
  }

  deinit { memory.deallocate() }
}
