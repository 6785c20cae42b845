import CommandSupport
import FastImageCache
import Foundation

/// Requests that are cancelled before their image comes.
struct CancelledRequests: Scenario {
  static let id = "P11"
  static let name = "cancelled-requests"
  static let summary = """
    1000 tasks that each ask for another photo, wait for it, are cancelled and end, each of them, \
    as rows do that scroll away; what they leave behind is counted. Beside it as many pairs of \
    tasks that wait for bare continuations and are cancelled, since a request that nobody shares \
    is the task of its caller and the task of its load
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let effort = setting.effort
    let size = PixelSize(width: 32, height: 32)
    let format = ImageFormat(
      name: "cancelled", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(16))
    let source = WaitingSource(try setting.photographs.part(0, size: size))
    return try await setting.withCache(
      Self.name, formats: [format], .with { $0.source = source }
    ) { cache in
      let images = (0..<effort.subscriberCount).map {
        BenchImage($0, file: URL(filePath: "/picture-\($0)"))
      }
      let contest = Contest([
        Contest.Contender { try await Self.time(cache, images, format) },
        Contest.Contender {
          await Contest.time(images.count) { await Self.waitInPairs(images.count) }
        },
      ])
      let results = try await contest.run(roundCount: min(effort.roundCount, 51))
      // A cancelled load may take a moment to end.
      while await cache.statistics().activeLoads > 0 { await Task.yield() }
      let left = await cache.statistics()
      return Findings([
        Measure(
          Self.id, "request created, cancelled and ended, each", ours: results[0],
          reference: results[1], named: "pairs of tasks that only wait", bar: .ratioAtMost(3)),
        .counted(Self.id, "loads left", left.activeLoads, mustBe: 0),
        .counted(Self.id, "waiters left", left.pendingRequests, mustBe: 0),
        .counted(
          Self.id, "leases left", left.tables.reduce(0) { $0 + $1.leasedCount }, mustBe: 0),
        .counted(Self.id, "stores", left.stores, mustBe: 0),
      ])
    }
  }

  /// Has pairs of tasks wait for bare continuations, and cancels them when all wait.
  static func waitInPairs(_ count: Int) async {
    let callers = BareTasks(count: count)
    let loads = BareTasks(count: count)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          let load = Task { await loads.wait() }
          await callers.wait()
          load.cancel()
        }
      }
      await callers.allWait()
      await loads.allWait()
      group.cancelAll()
      await group.waitForAll()
    }
  }

  private static func time(
    _ cache: ImageCache, _ images: [BenchImage], _ format: ImageFormat
  ) async throws -> Double {
    try await Contest.time(images.count) {
      try await ask(cache, for: images, format) {
        try await cache.waitForWaiters(images.count)
      }
    }
  }

  /// Asks for all images at once, and cancels all requests when `allWait` returns.
  static func ask(
    _ cache: ImageCache, for images: some Collection<some ImageEntity>, _ format: ImageFormat,
    until allWait: () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for image in images {
        group.addTask {
          // All of them end as cancelled.
          _ = try? await cache.image(for: image, format: format)
        }
      }
      try await allWait()
      group.cancelAll()
      try await group.waitForAll()
    }
  }
}
