import CBenchPeers
import CommandSupport
import FastImageCache
import Foundation

/// The first miss of a cache whose store has many originals.
struct FirstMiss: Scenario {
  static let id = "S4"
  static let name = "first-miss"
  static let summary = """
    the first miss of a cache whose store has 100 000 originals and was not open: its database is opened; the \
    source answers at once. Beside it the same without a store. Then the memory from malloc (where it is \
    counted, as on Linux) that remains for each original, by its growth from a tenth of them to all
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let many = try await setting.manyOriginals()
    let count = many.addresses.count
    let course = try Course(setting)
    let results = try await Contest([
      Contest.Contender { try await course.milliseconds(many.makeStore()) },
      Contest.Contender { try await course.milliseconds(nil) },
    ]).run(roundCount: min(setting.effort.roundCount, 31), warmUpCount: 2)
    let few = try await KeptFiles.filled(
      "tenth", count: max(2, count / 10), byteCount: many.content.count, copies: true,
      setting: setting)
    var growths: [Double] = []
    for _ in 0..<min(setting.effort.roundCount, 5) {
      let growth = try await course.growth(many.makeStore()) - course.growth(few.makeStore())
      growths.append(max(0, growth) / Double(max(1, count - few.addresses.count)))
    }
    return Findings([
      Measure(
        Self.id, "first miss with \(count) originals", unit: "ms", ours: results[0],
        reference: results[1], named: "without a store", bar: .oursAtMost(1.5)),
      Measure(
        Self.id, "memory for each original", unit: "bytes", ours: Distribution(growths),
        bar: .oursAtMost(8)),
    ])
  }

  /// First misses, one after the other, each of a new cache.
  private final class Course {
    private let setting: BenchSetting
    private let format: ImageFormat
    private let configuration: ImageCache.Configuration
    private var number = 0

    init(_ setting: BenchSetting) throws {
      let size = PixelSize(width: 32, height: 32)
      let source = WaitingSource(
        .bitmap(try setting.photographs.part(0, size: size)), need: .network)
      source.open()
      self.setting = setting
      format = ImageFormat(
        name: "first-miss", size: .exact(size), pixelFormat: .bgrx32, capacity: .count(16))
      // Threads begin once.
      configuration = .with { ($0.source, $0.resources) = (source, LoadResources()) }
    }

    func milliseconds(_ originals: OriginalStore?) async throws -> Double {
      try await withCache(originals) { try await Contest.time(1, $0) / 1e6 }
    }

    /// Growth of allocated memory, in bytes, by the miss.
    func growth(_ originals: OriginalStore) async throws -> Double {
      try await withCache(originals) { miss in
        let before = bench_allocated_bytes()
        try await miss()
        return Double(max(Int(bench_allocated_bytes()) - Int(before), 0))
      }
    }

    private func withCache(
      _ originals: OriginalStore?,
      _ body:
        nonisolated(nonsending) (
          _ miss: nonisolated(nonsending) () async throws -> Void
        ) async throws -> Double
    ) async throws -> Double {
      var configuration = configuration
      configuration.originals = originals
      number += 1
      let file = URL(string: "https://photos.example.com/missing/\(number).jpg")
      let image = BenchImage(number, file: file)
      return try await setting.withCache("first-miss", formats: [format], configuration) { cache in
        try await body { _ = try await cache.image(for: image, format: format) }
      }
    }
  }
}
