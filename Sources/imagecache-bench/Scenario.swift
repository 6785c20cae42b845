/// One thing that a cache does often enough for its cost to matter.
protocol Scenario: Sendable {
  /// `P1` to `P16`, or the name.
  static var id: String { get }
  static var name: String { get }

  /// What is compared with what, and why that is fair.
  static var summary: String { get }

  /// Whether what it finds can be drawn.
  static var drawsPlot: Bool { get }

  init()

  nonisolated(nonsending) func measure(_ setting: BenchSetting) async throws -> Findings
}

extension Scenario {
  static var drawsPlot: Bool { false }
}

/// What a scenario found.
struct Findings {
  var measures: [Measure]
  var plot: LinePlot?

  init(_ measures: [Measure], plot: LinePlot? = nil) {
    self.measures = measures
    self.plot = plot
  }
}
