import CommandSupport

/// Several runs of the same scenarios, each in a process of its own, as one report.
struct SeriesReport {
  /// In the order in which the first run that has a line has it.
  private(set) var lines: [SeriesLine] = []
  private(set) var failures: [(run: Int, failure: RunReport.Failure)] = []
  private(set) var runCount = 0

  /// What makes two lines of two runs the same: one scenario may have several lines of one name.
  private struct Key: Hashable {
    let id: String
    let what: String
    let referenceName: String
    let occurrence: Int
  }

  private var indices: [Key: Int] = [:]

  init(_ runs: [RunReport] = []) {
    for run in runs { append(run) }
  }

  mutating func append(_ run: RunReport) {
    runCount += 1
    failures += run.failures.map { (runCount, $0) }
    var seen: [Key: Int] = [:]
    for line in run.measures {
      let name = Key(
        id: line.id, what: line.what, referenceName: line.referenceName, occurrence: 0)
      let occurrence = seen[name, default: 0]
      seen[name] = occurrence + 1
      let key = Key(
        id: line.id, what: line.what, referenceName: line.referenceName, occurrence: occurrence)
      if let index = indices[key] {
        lines[index].append(line)
      } else {
        indices[key] = lines.count
        lines.append(SeriesLine(line))
      }
    }
  }

  var json: JSONValue {
    .object([
      "runs": .integer(runCount),
      "measures": .array(lines.map(Self.json)),
      "failures": .array(
        failures.map { run, failure in
          .object([
            "run": .integer(run), "scenario": .string(failure.scenario),
            "reason": .string(failure.reason),
          ])
        }),
    ])
  }

  /// The keys of one run's report, with medians, and all runs' figures beside them.
  private static func json(_ line: SeriesLine) -> JSONValue {
    func numbers(_ values: [Double]) -> JSONValue { .array(values.map { .number($0) }) }
    return .object([
      "id": .string(line.id), "what": .string(line.what), "unit": .string(line.unit),
      "ours": .number(line.oursMedian), "all_ours": numbers(line.ours),
      "reference": line.referenceMedian.map { .number($0) } ?? .null,
      "reference_name": .string(line.referenceName),
      "ratio": line.ratioMedian.map { .number($0) } ?? .null, "all_ratios": numbers(line.ratios),
      "bar": line.bar.map { .number($0.limit) } ?? .null,
      "bar_of": line.bar.map { .string($0.figure.rawValue) } ?? .null,
      "bar_is": line.bar.map { .string($0.rule.rawValue) } ?? .null,
      "bar_rule": line.bar.map { .string($0.text(unit: line.unit)) } ?? .null,
      "met": line.isMet.map { .bool($0) } ?? .null,
      "all_counts": .members(
        line.counts.map { ($0.name, .array($0.values.map { .integer($0) })) }),
    ])
  }
}
