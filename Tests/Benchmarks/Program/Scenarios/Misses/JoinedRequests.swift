import CommandSupport
import FastImageCache
import Foundation

/// Many requests for one image that is not there.
struct JoinedRequests: Scenario {
  static let id = "P10"
  static let name = "joined-requests"
  static let summary = """
    1000 tasks that ask for one photo at once, from their creation until the last has it, for each \
    of them, less what one alone takes. Its source answers when all are waiting, so that nobody \
    comes late and gets a hit. Beside it as many tasks that wait for a bare continuation: less \
    than that no awaited request can cost
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let effort = setting.effort
    let size = PixelSize(width: 32, height: 32)
    let format = ImageFormat(
      name: "joined", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(16))
    let source = WaitingSource(try setting.photographs.part(0, size: size))
    return try await setting.withCache(
      Self.name, formats: [format], .with { $0.source = source }
    ) { cache in
      var number = 0
      func contender(_ subscriberCount: Int) -> Contest.Contender {
        Contest.Contender {
          number += 1
          let image = BenchImage(number, file: URL(filePath: "/picture-\(number)"))
          return try await Self.time(subscriberCount, cache, image, format, source)
        }
      }
      let bare = Contest.Contender { await Self.timeBareTasks(effort.subscriberCount) }
      let results = try await Contest([contender(effort.subscriberCount), contender(1), bare])
        .run(roundCount: min(effort.roundCount, 51))
      let alone = results[1].median
      let all = Distribution(
        results[0].values.map { max($0 - alone, 0) / Double(effort.subscriberCount - 1) })

      let before = await cache.statistics()
      let askedBefore = source.askedCount
      _ = try await contender(effort.subscriberCount).turn()
      let now = await cache.statistics()
      return Findings([
        Measure(
          Self.id, "\(effort.subscriberCount) requests for one image, each", ours: all,
          reference: results[2], named: "tasks that only wait", bar: .ratioAtMost(2)),
        .counted(Self.id, "fetches", source.askedCount - askedBefore, mustBe: 1),
        .counted(Self.id, "drawings", now.drawings - before.drawings, mustBe: 1),
        .counted(Self.id, "misses", now.misses - before.misses, mustBe: effort.subscriberCount),
        .counted(Self.id, "stores", now.stores - before.stores, mustBe: 1),
      ])
    }
  }

  private static func timeBareTasks(_ count: Int) async -> Double {
    let tasks = BareTasks(count: count)
    return await Contest.time(count) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<count { group.addTask { await tasks.wait() } }
        await tasks.allWait()
        tasks.answerAll()
        await group.waitForAll()
      }
    }
  }

  /// Nanoseconds from the first request until the last one has its image.
  static func time(
    _ subscriberCount: Int, _ cache: ImageCache, _ image: BenchImage, _ format: ImageFormat,
    _ source: WaitingSource, _ options: LoadOptions? = nil
  ) async throws -> Double {
    source.shut()
    return try await Contest.time(1) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<subscriberCount {
          group.addTask {
            if let options {
              _ = try await cache.image(for: image, format: format, options: options)
            } else {
              _ = try await cache.image(for: image, format: format)
            }
          }
        }
        try await cache.waitForWaiters(subscriberCount)
        source.open()
        try await group.waitForAll()
      }
    }
  }
}
