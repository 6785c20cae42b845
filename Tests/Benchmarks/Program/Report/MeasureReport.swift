import CommandSupport
import Foundation

/// Measures as a table for people and as JSON for machines.
struct MeasureReport {
  var measures: [Measure] = []
  /// The scenarios that failed, with their reasons.
  var failures: [(scenario: String, reason: String)] = []

  var text: String {
    var table = TextTable(header: [
      "measure", "unit", "ours", "p99", "reference", "p99", "ratio", "bar", "met", "runs",
    ])
    for measure in measures {
      let name = "\(measure.id) \(measure.what), against \(measure.referenceName)"
      table.append([
        name, measure.unit, Self.figure(measure.ours.median), Self.figure(measure.ours.p99),
        Self.figure(measure.reference?.median), Self.figure(measure.reference?.p99),
        Self.figure(measure.ratio), measure.bar?.text(unit: measure.unit) ?? "-",
        measure.isMet.map { $0 ? "yes" : "NO" } ?? "-", "\(measure.ours.count)",
      ])
    }
    let counts = measures.filter { !$0.counts.isEmpty }.map { measure in
      let list = measure.counts.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
      return "\(measure.id) \(measure.what): \(list)"
    }
    return ([table.text] + (counts.isEmpty ? [] : ["", "Counted:"] + counts))
      .joined(separator: "\n")
  }

  var json: JSONValue {
    .object([
      "measures": .array(measures.map(Self.json)),
      "failures": .array(
        failures.map { .object(["scenario": .string($0.scenario), "reason": .string($0.reason)]) }),
    ])
  }

  private static func json(_ measure: Measure) -> JSONValue {
    .object([
      "id": .string(measure.id), "what": .string(measure.what),
      "ours": .number(measure.oursValue),
      "reference": measure.referenceValue.map { .number($0) } ?? .null,
      "reference_name": .string(measure.referenceName), "unit": .string(measure.unit),
      "ratio": measure.ratio.map { .number($0) } ?? .null,
      "bar": measure.bar.map { .number($0.limit) } ?? .null,
      "bar_of": measure.bar.map { .string($0.figure.rawValue) } ?? .null,
      "bar_is": measure.bar.map { .string($0.rule.rawValue) } ?? .null,
      "bar_rule": measure.bar.map { .string($0.text(unit: measure.unit)) } ?? .null,
      "met": measure.isMet.map { .bool($0) } ?? .null,
      "runs": .integer(measure.ours.count),
      "statistic": .string(measure.statistic.rawValue),
      "ours_p99": .number(measure.ours.p99),
      "reference_p99": measure.reference.map { .number($0.p99) } ?? .null,
      "counts": .members(measure.counts.map { ($0.name, .integer($0.value)) }),
    ])
  }

  /// Three significant digits; nothing for an unknown value.
  private static func figure(_ number: Double?) -> String {
    guard let number else { return "-" }
    if number == 0 { return "0" }
    let digits = 2 - Int(log10(number.magnitude).rounded(.down))
    return String(format: "%.\(min(max(digits, 0), 6))f", number)
  }
}
