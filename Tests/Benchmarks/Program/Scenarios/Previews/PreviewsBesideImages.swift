import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import Locking
import TestSupport

/// Previews while many images are drawn.
struct PreviewsBesideImages: Scenario {
  static let id = "S10"
  static let name = "previews-beside-pictures"
  static let summary = """
    200 progressive JPEG files of 800 x 600 from a server on the loopback interface, two workers: the \
    processor time of the process until all photos are there, with previews from the first byte on \
    against without. The server does not say how long the files are, so that no preview is left out because \
    the rest is due soon
    """

  private static let differentCount = 12

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.fileCount
    let (width, height) = setting.effort.photographs.small
    let files = try (0..<min(count, Self.differentCount)).map { number in
      try Landscape(number: number).bitmap(PixelSize(width: width, height: height))
        .data(encodedBy: JPEGEncoder(quality: 0.85, isProgressive: true))
    }
    let server = try HTTPServer { request in
      let number = Int(request.path.dropFirst()) ?? 0
      return .chunked([.bytes(files[number % files.count])])
    }
    let format = ImageFormat(
      name: "beside", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
      capacity: .count(count + 4))
    return try await setting.withCache(
      Self.name, formats: [format],
      .with {
        $0.resources = LoadResources(decodeWidth: 2)
        $0.source = SlowFile.source
      }
    ) { cache in
      let previewCount = Lock(0)
      var first = 0
      func contender(_ previews: PreviewPolicy) -> Contest.Contender {
        Contest.Contender {
          let numbers = first..<(first + count)
          first += count
          let start = ProcessorTime.ofProcess
          var failureCount = 0
          await ConcurrentWork.forEach(numbers, width: 32) { number in
            let image = BenchImage(number, file: server.url("/\(number)"))
            return await Self.load(image, format, cache, previews)
          } collect: { shownCount in
            if shownCount == 0 { failureCount += 1 }
            previewCount.withLock { $0 += max(shownCount - 1, 0) }
          }
          guard failureCount == 0 else {
            throw BenchFailure(description: "\(failureCount) images did not come.")
          }
          return (ProcessorTime.ofProcess - start) / .milliseconds(1) / Double(count)
        }
      }
      var eager = PreviewPolicy()
      eager.delay = .zero
      let results = try await Contest([contender(eager), contender(.none)])
        .run(roundCount: min(setting.effort.roundCount, 21))
      return Findings([
        Measure(
          Self.id, "\(count) images, each", unit: "ms", ours: results[0], reference: results[1],
          named: "without previews", bar: .ratioAtMost(1.03),
          counts: [("previews", previewCount.withLock { $0 })])
      ])
    }
  }

  /// - Returns: How many images were shown, previews included.
  private static func load(
    _ image: BenchImage, _ format: ImageFormat, _ cache: ImageCache, _ previews: PreviewPolicy
  ) async -> Int {
    var options = LoadOptions()
    options.previews = previews
    var count = 0
    do {
      for try await _ in cache.updates(for: image, format: format, options: options) {
        count += 1
      }
      return count
    } catch {
      return 0
    }
  }
}
