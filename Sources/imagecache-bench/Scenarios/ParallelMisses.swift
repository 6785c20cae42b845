import CommandSupport
import FastImageCache
import Foundation

/// Many misses at once, on one lane and on two.
struct ParallelMisses: Scenario {
  static let id = "P9"
  static let name = "parallel-misses"
  static let summary = """
    200 JPEG files of 800 x 600 that are asked for at once, with two decodes at a time, against one \
    at a time: the same cache, the same files, the same machine in turns
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let size = setting.effort.photographs.small
    let files = try (0..<setting.effort.fileCount).map { number in
      let file = setting.place.url.appending(path: "parallel-\(number).jpg")
      if number < Self.differentCount {
        try setting.photographs.writeFile(
          number, size: PixelSize(width: size.width, height: size.height), to: file)
      } else {
        let original = "parallel-\(number % Self.differentCount).jpg"
        try FileManager.default.copyItem(
          at: setting.place.url.appending(path: original), to: file)
      }
      return file
    }
    let format = ImageFormat(
      name: "parallel", size: PixelSize(width: 200, height: 200), style: .bgrx32,
      capacity: .count(files.count))
    let one = try await setting.makeCache("one", formats: [format], .with { $0.decodeWidth = 1 })
    let two = try await setting.makeCache("two", formats: [format], .with { $0.decodeWidth = 2 })
    let results: Result<[Distribution], any Error>
    do {
      let contest = Contest([one, two].map { Self.contender($0, format, files) })
      results = .success(try await contest.run(roundCount: min(setting.effort.roundCount, 11)))
    } catch {
      results = .failure(error)
    }
    let statistics = await two.statistics()
    await one.close()
    await two.close()
    let times = try results.get()
    return Findings([
      Measure(
        Self.id, "miss, two lanes, \(files.count) files", unit: "ms", ours: times[1],
        reference: times[0], named: "one lane", bar: .gainAtLeast(1.8),
        counts: [("fetches", statistics.fetches), ("decodes", statistics.decodes)])
    ])
  }

  private static let differentCount = 12

  private static func contender(
    _ cache: ImageCache, _ format: ImageFormat, _ files: [URL]
  ) -> Contest.Contender {
    var turn = 0
    return Contest.Contender {
      // Other entities each time: they take the old ones' slots.
      let first = turn * files.count
      turn += 1
      return try await Contest.time(files.count) {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for (index, file) in files.enumerated() {
            group.addTask {
              _ = try await cache.image(
                for: BenchPicture(first + index, file: file), format: format)
            }
          }
          try await group.waitForAll()
        }
      } / 1e6
    }
  }
}
