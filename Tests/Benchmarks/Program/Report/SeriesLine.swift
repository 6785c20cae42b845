import CommandSupport

/// One line of the report of several runs: the figures of the same measure in each of them.
struct SeriesLine {
  let id: String
  let what: String
  let unit: String
  let referenceName: String
  let bar: Measure.Bar?
  /// In the order of the runs; a run whose scenario failed has none.
  private(set) var ours: [Double] = []
  private(set) var references: [Double] = []
  private(set) var ratios: [Double] = []
  private(set) var counts: [(name: String, values: [Int])] = []

  init(_ line: RunReport.Line) {
    (id, what, unit, referenceName) = (line.id, line.what, line.unit, line.referenceName)
    bar = line.bar
    append(line)
  }

  mutating func append(_ line: RunReport.Line) {
    ours.append(line.ours)
    if let reference = line.reference { references.append(reference) }
    if let ratio = line.ratio { ratios.append(ratio) }
    for (name, value) in line.counts.sorted(by: { $0.key < $1.key }) {
      if let index = counts.firstIndex(where: { $0.name == name }) {
        counts[index].values.append(value)
      } else {
        counts.append((name, [value]))
      }
    }
  }

  var oursMedian: Double { Distribution(ours).median }
  var referenceMedian: Double? { references.isEmpty ? nil : Distribution(references).median }
  var ratioMedian: Double? { ratios.isEmpty ? nil : Distribution(ratios).median }

  /// The figures that the bar bounds; ratios, where there are any, without a bar.
  var bounded: [Double] {
    switch bar?.figure {
    case .ours: ours
    case .ratio, .gain: ratios
    case nil: ratios.isEmpty ? ours : ratios
    }
  }

  /// `nil` without a bar, or without the figure that it bounds.
  var isMet: Bool? {
    guard let bar, !bounded.isEmpty else { return nil }
    return bar.holds(for: bounded)
  }
}
