import CommandSupport

/// One line of the report of a series: the same measure of each run that has it, in the runs' order.
struct SeriesLine {
  /// At least one.
  var measures: [Measure]

  var first: Measure { measures[0] }

  func isSame(as measure: Measure) -> Bool {
    (first.id, first.what, first.referenceName)
      == (measure.id, measure.what, measure.referenceName)
  }

  var ours: Double { Distribution(measures.map(\.ours)).median }
  var reference: Double? { Self.median(measures.compactMap(\.reference)) }
  var ratio: Double? { Self.median(measures.compactMap(\.ratio)) }

  /// The figures that the bar bounds; ratios, where there are any, without a bar.
  var bounded: [Double] {
    let ratios = measures.compactMap(\.ratio)
    let isOfOurs = first.bar.map { $0.figure == .ours } ?? ratios.isEmpty
    return isOfOurs ? measures.map(\.ours) : ratios
  }

  /// `nil` without a bar, or without the figure that it bounds.
  var isMet: Bool? {
    guard let bar = first.bar, !bounded.isEmpty else { return nil }
    return bar.holds(for: bounded)
  }

  private static func median(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : Distribution(values).median
  }
}
