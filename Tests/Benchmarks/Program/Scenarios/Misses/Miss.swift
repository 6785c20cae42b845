import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation

/// An image that is not there: read from a file, decoded, drawn, stored.
struct Miss: Scenario {
  static let id = "P8"
  static let name = "miss"
  static let summary = """
    image(for:format:) of a JPEG file that is not there yet until the photo is stored, with the \
    whole process held to one core where the system can (Linux), so that threads that wait for \
    another core to wake count for nobody, against libjpeg's decode of the same file at the same \
    scale with its rows thrown away: no resampling, no colours, no store; and against the parts of \
    the miss alone, called one after the other, without tasks, queues and recorder. Of a progressive file \
    libjpeg reads all scans, ours those that are seen; the photo is compared with that of the \
    same coefficients in one scan, in levels. Other makers of thumbnails get several files in one \
    call, so that starting a process counts little
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let (large, progressive, small) = setting.effort.photographs
    let sizes = [
      ("12 MP JPEG", large), ("800 x 600 JPEG", small), ("18 MP progressive JPEG", progressive),
    ]
    var measures: [Measure] = []
    for (name, size) in sizes {
      let size = PixelSize(width: size.width, height: size.height)
      var file = setting.place.url.appending(path: "miss-\(size.width).jpg")
      try setting.photographs.writeFile(3, size: size, to: file)
      var differences: [(String, Int)] = []
      if name.contains("progressive") {
        let baseline = file
        file = setting.place.url.appending(path: "miss-progressive.jpg")
        let paths = (baseline.path(percentEncoded: false), file.path(percentEncoded: false))
        guard bench_make_progressive(paths.0, paths.1) == 0 else {
          throw BenchFailure(description: "\"\(paths.0)\" did not become progressive.")
        }
        differences = try await Self.differences(baseline, file, setting)
      }
      measures += try await compare(
        "miss, \(name) to 200 x 200", file, size, setting, besides: differences)
    }
    return Findings(measures)
  }

  private static let format = ImageFormat(
    name: "miss", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
    capacity: .count(64))

  /// The difference between the images of two files, in levels.
  private static func differences(
    _ first: URL, _ second: URL, _ setting: BenchSetting
  ) async throws -> [(String, Int)] {
    try await setting.withCache("differences", formats: [format]) { cache in
      var images: [[UInt8]] = []
      for (number, file) in [first, second].enumerated() {
        let image = try await cache.image(for: BenchImage(number, file: file), format: format)
        images.append(image.withPixels { $0.withUnsafeBytes { Array($0) } })
      }
      let apart = zip(images[0], images[1]).map { abs(Int($0) - Int($1)) }
      return [
        ("largest difference", apart.max() ?? 0),
        ("thousandths of a level on average", apart.reduce(0, +) * 1000 / max(apart.count, 1)),
      ]
    }
  }

  private func compare(
    _ what: String, _ file: URL, _ size: PixelSize, _ setting: BenchSetting,
    besides differences: [(String, Int)]
  ) async throws -> [Measure] {
    let format = Self.format
    let eighths = try await DecodeRecord.eighths(of: file, size, format, setting)
    return try await setting.withCache(
      "miss-\(size.width)", formats: [format],
      .with { $0.resources = LoadResources(decodeWidth: 1) }
    ) { cache in
      var number = 0
      let before = await cache.statistics()
      let path = file.path(percentEncoded: false)
      // Waits for the rest of a load, which belongs to this miss; on one core the next miss would
      // join the load.
      let rest: () async throws -> Void = {
        while await cache.statistics().activeLoads > 0 { await Task.yield() }
      }
      let ours = Contest.Contender(prepare: rest) {
        number += 1
        let image = BenchImage(number, file: file)
        return try await Contest.time(1) { _ = try await cache.image(for: image, format: format) }
          / 1e6
      }
      let decoder = Contest.Contender(prepare: rest) {
        try Contest.time(1) { try Self.decode(path, eighths) } / 1e6
      }
      let bare = try BareMiss(cache, format)
      defer { bare.close() }
      let parts = Contest.Contender(prepare: rest) {
        number += 1
        let image = BenchImage(number, file: file)
        return try Contest.time(1) { try bare.run(for: image) } / 1e6
      }
      let shrinkers = setting.peers.shrinkers.map {
        Self.contender($0, path, format.size, setting, prepare: rest)
      }
      let isLong = size.width > 2000
      // Other systems than Linux do not hold a process to a core, and a count says so.
      let isHeld = (try? Cores.hold(to: 1)) != nil
      defer { Cores.release() }
      let roundCount = min(setting.effort.roundCount, isLong ? 21 : 51)
      let results = try await Contest([ours, decoder, parts]).run(roundCount: roundCount)
      let now = await cache.statistics()
      // A fetch with the changes of thread to the file's reader and back, a drawing with its hash.
      func average(_ duration: (CacheStatistics) -> Duration) -> Int {
        Int((duration(now) - duration(before)) / .microseconds(1))
          / max(now.misses - before.misses, 1)
      }
      let counts =
        [
          ("misses", now.misses - before.misses), ("fetches", now.fetches - before.fetches),
          ("decodes", now.decodes - before.decodes), ("stores", now.stores - before.stores),
          ("cores held to", isHeld ? 1 : 0),
          ("µs of a fetch on average", average(\.fetchDuration)),
          ("of a decode", average(\.decodeDuration)), ("of a drawing", average(\.drawDuration)),
        ] + differences
      // In rounds of their own, since they leave nothing of the others in the processor's caches.
      let beside = try await Contest([ours] + shrinkers).run(roundCount: roundCount)
      let floor = "libjpeg at \(eighths)/8"
      func miss(
        _ ours: Distribution, _ reference: Distribution, _ name: String, _ bar: Bar?,
        counts: [(String, Int)] = []
      ) -> Measure {
        Measure(
          Self.id, what, unit: "ms", ours: ours, reference: reference, named: name, bar: bar,
          counts: counts)
      }
      // Of an image decoded at its full size, many pixels are drawn for little libjpeg.
      let bar = Bar.ratioAtMost(eighths == 8 ? 1.4 : 1.1)
      let peers = zip(setting.peers.shrinkers, beside.dropFirst()).map { shrinker, times in
        let name = String(cString: shrinker.name)
        return miss(beside[0], times, name, name.hasPrefix("vips") ? .ratioAtMost(1) : nil)
      }
      return [
        miss(results[0], results[1], floor, bar, counts: counts),
        miss(results[0], results[2], "the parts alone", nil),
        Measure(
          Self.id, "the parts alone, \(what)", unit: "ms", ours: results[2], reference: results[1],
          named: floor),
      ] + peers
    }
  }

  private static func decode(_ path: String, _ eighths: Int) throws {
    var (width, height) = (0, 0)
    guard bench_decode_jpeg(path, CInt(eighths), &width, &height) == 0 else {
      throw BenchFailure(description: "libjpeg did not decode \"\(path)\".")
    }
  }

  /// Makes the same file small several times in one call.
  private static func contender(
    _ shrinker: bench_shrinker, _ path: String, _ size: PixelSize, _ setting: BenchSetting,
    prepare: @escaping () async throws -> Void
  ) -> Contest.Contender {
    Contest.Contender(prepare: prepare) {
      let folder = setting.place.url.path(percentEncoded: false)
      return try path.withCString { path in
        let files = [UnsafePointer<CChar>?](repeating: path, count: filesInCall)
        return try Contest.time(filesInCall) {
          let result = shrinker.shrink(
            files, filesInCall, CInt(size.width), CInt(size.height), folder)
          guard result == 0 else {
            throw BenchFailure(
              description: "\(String(cString: shrinker.name)) failed: \(result).")
          }
        } / 1e6
      }
    }
  }

  private static let filesInCall = 8
}
