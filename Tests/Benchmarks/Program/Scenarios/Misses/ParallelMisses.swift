import CBenchPeers
import CommandSupport
import Dispatch
import FastImageCache
import Foundation
import Synchronization

/// Many misses at once, on one core and on two.
struct ParallelMisses: Scenario {
  static let id = "P9"
  static let name = "parallel-misses"
  static let summary = """
    200 JPEG files of 800 x 600 that are asked for at once, on two cores, against the same with the \
    process held to one core: the same cache, the same two workers, the same files, in turns. The gain, \
    round by round, is compared with that of two threads of libjpeg that decode the same files at the \
    same scale and share nothing, since two cores of a hypervisor may be less than two. Beside it two \
    threads that call the parts of such misses one after the other
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let sides = setting.effort.photographs.small
    let size = PixelSize(width: sides.width, height: sides.height)
    let files = try setting.photographs.writeFiles(
      setting.effort.fileCount, size: size, named: Self.name, in: setting.place.url)
    let format = ImageFormat(
      name: "parallel", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
      // Spare slots, for images that are drawn anew while others are leased.
      capacity: .count(files.count + 4))
    let eighths = try await DecodeRecord.eighths(of: files[0], size, format, setting)
    return try await setting.withCache(
      Self.name, formats: [format], .with { $0.resources = LoadResources(decodeWidth: 2) }
    ) { cache in
      let bare = try BareMiss(cache, format)
      defer { bare.close() }
      let works = [
        Self.misses(cache, format, files), Self.parts(bare, files),
        Self.decodes(files, at: eighths),
      ]
      let contest = Contest(
        works.flatMap { work in [2, 1].map { Self.contender(work, coreCount: $0) } })
      defer { Cores.release() }
      let rounds = try await contest.rounds(roundCount: min(setting.effort.roundCount, 11))
      let times = rounds.map { Distribution($0) }
      let gains = stride(from: 0, to: rounds.count, by: 2).map {
        Distribution(rounds[$0 + 1], by: rounds[$0])
      }
      let statistics = await cache.statistics()
      return Findings([
        Measure(
          Self.id, "miss, two cores, \(files.count) files", unit: "ms", ours: times[0],
          reference: times[1], named: "one core",
          counts: [("fetches", statistics.fetches), ("decodes", statistics.decodes)]),
        Measure(
          Self.id, "gain of misses by a second core", unit: "x", ours: gains[0],
          reference: gains[2], named: "gain of libjpeg's two threads", bar: .ratioAtLeast(0.95)),
        Measure(
          Self.id, "the parts alone, two threads on two cores", unit: "ms", ours: times[2],
          reference: times[3], named: "one core"),
        Measure(
          Self.id, "libjpeg alone, two threads on two cores", unit: "ms", ours: times[4],
          reference: times[5], named: "one core"),
      ])
    }
  }

  /// The same work with the whole process on so many cores.
  private static func contender(
    _ work: @escaping () async throws -> Double, coreCount: Int
  ) -> Contest.Contender {
    Contest.Contender {
      try Cores.hold(to: coreCount)
      return try await work()
    }
  }

  private static func decodes(
    _ files: [URL], at eighths: Int
  ) -> () async throws -> Double {
    let paths = files.map { $0.path(percentEncoded: false) }
    return {
      try timeTwoThreads(paths.count) { index in
        var (width, height) = (0, 0)
        return bench_decode_jpeg(paths[index], CInt(eighths), &width, &height) == 0
      }
    }
  }

  private static func parts(_ bare: BareMiss, _ files: [URL]) -> () async throws -> Double {
    // Other files than those of the cache's misses.
    var first = 1 << 32
    return {
      let start = first
      first += files.count
      return try timeTwoThreads(files.count) { index in
        (try? bare.run(for: BenchImage(start + index, file: files[index]))) != nil
      }
    }
  }

  /// Milliseconds for one of `count` pieces of work, which two threads share.
  private static func timeTwoThreads(
    _ count: Int, _ work: @escaping @Sendable (Int) -> Bool
  ) throws -> Double {
    try Contest.time(count) {
      let failures = Atomic(0)
      DispatchQueue.concurrentPerform(iterations: 2) { thread in
        for index in stride(from: thread, to: count, by: 2) where !work(index) {
          failures.add(1, ordering: .relaxed)
        }
      }
      guard failures.load(ordering: .relaxed) == 0 else {
        throw BenchFailure(description: "Not all files could be decoded.")
      }
    } / 1e6
  }

  private static func misses(
    _ cache: ImageCache, _ format: ImageFormat, _ files: [URL]
  ) -> () async throws -> Double {
    var turn = 0
    return {
      // Other entities each time: they take the slots of the old entities.
      let first = turn * files.count
      turn += 1
      return try await Contest.time(files.count) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, file) in files.enumerated() {
            group.addTask {
              _ = try await cache.image(
                for: BenchImage(first + index, file: file), format: format)
            }
          }
          try await group.waitForAll()
        }
      } / 1e6
    }
  }
}
