/// One frequent operation of a cache, with its cost.
protocol Scenario: Sendable {
  /// `P1` to `P18` for images, `A1` to `A4` for animations, `F1` and `F2` for filters and hashes, `H1` for views, `Q1`
  /// and `Q2` for what they show, `S2` to `S14` for originals, previews and conditions, or the name.
  static var id: String { get }
  static var name: String { get }

  /// The comparison, and why it is fair.
  static var summary: String { get }

  /// Whether its findings can be plotted.
  static var drawsPlot: Bool { get }

  init()

  nonisolated(nonsending) func measure(_ setting: BenchSetting) async throws -> Findings
}

extension Scenario {
  static var drawsPlot: Bool { false }
}

/// The findings of a scenario.
struct Findings {
  var measures: [Measure]
  var plot: LinePlot?

  init(_ measures: [Measure], plot: LinePlot? = nil) {
    self.measures = measures
    self.plot = plot
  }
}
