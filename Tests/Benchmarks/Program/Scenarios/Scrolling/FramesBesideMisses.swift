import CommandSupport
import FastImageCache
import Foundation
import Locking

/// Frames of a busy main thread while images are decoded.
struct FramesBesideMisses: Scenario {
  static let id = "P18"
  static let name = "frames-beside-misses"
  static let summary = """
    A thread that works for 8 ms every 16.7 ms, as one does that draws a window without a graphics \
    processor, while 60 requests for photographs of 1600 x 1200 miss at all times: the mean time from the \
    beginning of a frame to its end, against the same while two threads of the usual priority call the parts \
    of such misses one after the other. Beside it the thread alone. Counted are the frames that were \
    dropped, since the one before took too long
    """

  private static let fileCount = 12
  private static let requestCount = 60
  private static let workerCount = 2

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let files = try setting.photographs.writeFiles(
      Self.fileCount, size: setting.effort.usualPhotograph, named: Self.name,
      in: setting.place.url)
    let format = ImageFormat(
      name: "frames", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
      capacity: .count(1000))
    return try await setting.withCache(
      Self.name, formats: [format],
      .with { $0.resources = LoadResources(decodeWidth: Self.workerCount) }
    ) { cache in
      let bare = try BareMiss(cache, format)
      defer { bare.close() }
      let drawn = Lock(0)
      let next: @Sendable () -> BenchImage = {
        let number = drawn.withLock { count in
          count += 1
          return count
        }
        return BenchImage(number, file: files[number % files.count])
      }
      let misses = FrameLoop(frameCount: setting.effort.frameCount) { isOver in
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<Self.requestCount {
            group.addTask {
              while !isOver() { _ = try? await cache.image(for: next(), format: format) }
            }
          }
        }
      }
      let parts = FrameLoop(frameCount: setting.effort.frameCount) { isOver in
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<Self.workerCount {
            group.addTask {
              await FrameLoop.onThread { while !isOver() { try? bare.run(for: next()) } }
            }
          }
        }
      }
      let alone = FrameLoop(frameCount: setting.effort.frameCount) { _ in }
      let times = try await Contest(
        [misses, parts, alone].map { loop in Contest.Contender { await loop.run() } }
      ).run(roundCount: min(setting.effort.roundCount, 7))
      let statistics = await cache.statistics()
      return Findings([
        Measure(
          Self.id, "frame beside misses", unit: "ms", ours: times[0], reference: times[1],
          named: "beside two threads of the usual priority",
          counts: [
            ("dropped", misses.droppedCount), ("dropped-beside-threads", parts.droppedCount),
            ("dropped-alone", alone.droppedCount), ("misses", statistics.misses),
            ("failures", statistics.failures),
          ]),
        Measure(
          Self.id, "frame beside misses, against one alone", unit: "ms", ours: times[0],
          reference: times[2], named: "alone"),
      ])
    }
  }
}

/// A thread that draws frames, so to speak, beside other work.
private final class FrameLoop: Sendable {
  private static let period = Duration.nanoseconds(16_666_667)
  private static let work = Duration.milliseconds(8)

  private let frameCount: Int
  private let otherWork: @Sendable (_ isOver: @escaping @Sendable () -> Bool) async -> Void
  private let dropped = Lock(0)

  /// Frames that were left out in all runs.
  var droppedCount: Int { dropped.withLock { $0 } }

  /// - Parameter otherWork: Goes on until it is over.
  init(
    frameCount: Int,
    _ otherWork: @escaping @Sendable (_ isOver: @escaping @Sendable () -> Bool) async -> Void
  ) {
    (self.frameCount, self.otherWork) = (frameCount, otherWork)
  }

  /// - Returns: The mean time of a frame in milliseconds.
  func run() async -> Double {
    let isOver = Lock(false)
    async let others: Void = otherWork { isOver.withLock { $0 } }
    let mean = Lock(0.0)
    await Self.onThread {
      let time = self.drawFrames()
      mean.withLock { $0 = time }
    }
    isOver.withLock { $0 = true }
    await others
    return mean.withLock { $0 }
  }

  /// Runs blocking work on a thread of its own.
  static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        body()
        continuation.resume()
      }
    }
  }

  private func drawFrames() -> Double {
    let start = ContinuousClock.now
    var (turn, drawn, sum) = (0, 0, Duration.zero)
    while turn < frameCount {
      let begin = start + Self.period * turn
      let pause = (begin - .now) / .seconds(1)
      if pause > 0 { Thread.sleep(forTimeInterval: pause) }
      let end = ProcessorTime.ofThread + Self.work
      while ProcessorTime.ofThread < end {}
      let elapsed = ContinuousClock.now - begin
      (drawn, sum) = (drawn + 1, sum + elapsed)
      turn += max(Int((elapsed / Self.period).rounded(.up)), 1)
    }
    let missing = min(turn, frameCount) - drawn
    dropped.withLock { $0 += missing }
    return sum / .milliseconds(1) / Double(drawn)
  }
}
