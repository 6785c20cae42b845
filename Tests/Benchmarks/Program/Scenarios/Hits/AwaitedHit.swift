import CommandSupport
import FastImageCache

/// `await image(for:format:)` of an image that is there.
struct AwaitedHit: Scenario {
  static let id = "P3"
  static let name = "awaited-hit"
  static let summary = """
    await image(for:format:) of a photo that is there, from the main actor and from a task of no \
    actor, against the synchronous hit in the same table: the difference is what async costs where \
    nothing has to be waited for; suspensions are counted by the task's executor
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let gallery = try await setting.gallery()
    let (hits, effort) = (gallery.hits, setting.effort)
    let range = gallery.slice(turn: 0, count: effort.hitBatch)
    let onMain = try await Self.contestOnMainActor(hits, range, effort.roundCount)
    let inTask = try await Self.contestInTask(hits, range, effort.roundCount)
    return Findings([
      Measure(
        Self.id, "awaited hit on the main actor", ours: onMain[1], reference: onMain[0],
        named: "synchronous hit there", bar: .ratioAtMost(1.3)),
      .counted(
        Self.id, "suspensions on the main actor",
        try await Self.suspensionsOnMainActor(hits, range), mustBe: 0),
      Measure(
        Self.id, "awaited hit in a task", ours: inTask[1], reference: inTask[0],
        named: "synchronous hit there", bar: .ratioAtMost(1.3)),
      .counted(
        Self.id, "suspensions in a task", try await Self.suspensionsInTask(hits, range), mustBe: 0),
    ])
  }

  @MainActor
  private static func contestOnMainActor(
    _ hits: HitList, _ range: Range<Int>, _ roundCount: Int
  ) async throws -> [Distribution] {
    try await contest(hits, range, roundCount)
  }

  @concurrent
  private static func contestInTask(
    _ hits: HitList, _ range: Range<Int>, _ roundCount: Int
  ) async throws -> [Distribution] {
    try await contest(hits, range, roundCount)
  }

  private nonisolated(nonsending) static func contest(
    _ hits: HitList, _ range: Range<Int>, _ roundCount: Int
  ) async throws -> [Distribution] {
    let contest = Contest([
      Contest.Contender { try Contest.time(range.count) { try hits.hit(range) } },
      Contest.Contender { try await Contest.time(range.count) { try await hits.awaitHit(range) } },
    ])
    return try await contest.run(roundCount: roundCount, warmUpCount: 3)
  }

  /// A task that leaves the main actor, or suspends, passes its executor.
  @MainActor
  private static func suspensionsOnMainActor(
    _ hits: HitList, _ range: Range<Int>
  ) async throws -> Int {
    let executor = CountingExecutor()
    return try await withTaskExecutorPreference(executor) { @MainActor in
      let before = executor.jobCount
      try await hits.awaitHit(range)
      return executor.jobCount - before
    }
  }

  @concurrent
  private static func suspensionsInTask(
    _ hits: HitList, _ range: Range<Int>
  ) async throws -> Int {
    let executor = CountingExecutor()
    return try await withTaskExecutorPreference(executor) {
      let before = executor.jobCount
      try await hits.awaitHit(range)
      return executor.jobCount - before
    }
  }
}
