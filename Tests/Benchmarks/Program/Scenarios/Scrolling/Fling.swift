import CommandSupport
import FastImageCache
import Foundation

/// A fling through a long list of photographs that are all new to the table.
struct Fling: Scenario {
  static let id = "P13"
  static let name = "fling"
  static let drawsPlot = true
  static let summary = """
    2000 photographs of 1600 x 1200 in a row, none of them in the table, 60 on the screen at a time: \
    the most private memory (RssAnon on Linux) that was ever taken beyond what the open cache took, \
    looked at every half millisecond, against the budget declared for decoding. What malloc keeps \
    for later counts too. --plot draws the curve
    """

  /// The cache's budget for all decodes together.
  private static let byteBudget = 64 << 20

  private static let visibleCount = 60

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let count = setting.effort.flingCount
    Console.note("drawing photographs")
    let files = try setting.photographs.writeFiles(
      count, size: setting.effort.usualPhotograph, named: Self.name, in: setting.place.url)
    let format = ImageFormat(
      name: "fling", size: .exact(PixelSize(width: 200, height: 200)), pixelFormat: .bgrx32,
      capacity: .count(count))
    return try await setting.withCache(
      Self.name, formats: [format],
      .with { $0.resources = LoadResources(decodeByteBudget: Self.byteBudget) }
    ) { cache in
      ProcessMemory.releaseFreeMemory()
      let before = ProcessMemory.privateByteCount()
      let sampler = MemorySampler()
      let start = ContinuousClock.now
      await ConcurrentWork.forEach(files.enumerated(), width: Self.visibleCount) { index, file in
        // Counted below: a request without an image is an image that was not stored.
        _ = try? await cache.image(for: BenchImage(index, file: file), format: format)
      } collect: { _ in
      }
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let samples = await sampler.end()
      try Task.checkCancellation()
      let statistics = await cache.statistics()
      guard statistics.stores == count else {
        throw BenchFailure(
          description: "Of \(count) photographs \(statistics.stores) came.")
      }
      let curve = samples.map {
        (x: $0.seconds, y: Double($0.byteCount - before) / Double(1 << 20))
      }
      return Findings(
        [
          Measure(
            Self.id, "fling through \(count) photographs, peak", unit: "MB",
            ours: Distribution([max(curve.map(\.y).max() ?? 0, 0)]),
            reference: Distribution([Double(Self.byteBudget >> 20)]),
            named: "the decode budget", bar: .ratioAtMost(1),
            counts: [
              ("misses", statistics.misses), ("fetches", statistics.fetches),
              ("decodes", statistics.decodes), ("samples", samples.count),
              ("milliseconds", Int(seconds * 1000)),
            ])
        ], plot: Self.plot(curve))
    }
  }

  private static func plot(_ curve: [(x: Double, y: Double)]) -> LinePlot {
    let end = curve.last?.x ?? 1
    return LinePlot(
      title: "Private memory during a fling", xLabel: "seconds", yLabel: "MB",
      scale: .linear,
      lines: [
        LinePlot.Line(name: "taken by the fling", points: curve.map { ($0.x, $0.y) }),
        LinePlot.Line(
          name: "decode budget",
          points: [(0, Double(byteBudget >> 20)), (end, Double(byteBudget >> 20))]),
      ])
  }
}
