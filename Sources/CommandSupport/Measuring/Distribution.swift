/// Median, percentiles and maximum of many measurements of one quantity.
package struct Distribution: Hashable, Sendable {
  private let sorted: [Double]

  package init(_ values: some Sequence<Double>) { sorted = values.sorted() }

  /// All values, smallest first.
  package var values: [Double] { sorted }

  package var count: Int { sorted.count }
  package var median: Double { percentile(50) }
  package var p99: Double { percentile(99) }
  package var maximum: Double { sorted.last ?? 0 }

  /// The smallest value that at least `percent` of all values do not exceed (nearest rank); 0 where
  /// nothing was measured.
  package func percentile(_ percent: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = (percent / 100 * Double(sorted.count)).rounded(.up)
    return sorted[min(max(Int(rank) - 1, 0), sorted.count - 1)]
  }

  /// The count of values above `limit`.
  package func count(above limit: Double) -> Int { sorted.count { $0 > limit } }

  /// For each index, the median of several runs; runs may differ in length.
  package static func medians(ofRuns runs: [[Double]]) -> [Double] {
    let places = runs.map(\.count).min() ?? 0
    return (0..<places).map { place in Distribution(runs.map { $0[place] }).median }
  }
}
