import CommandSupport
import Foundation

extension SeriesReport {
  /// A table of the lines with a bar, whose rows can be pasted into a document; below it one of the other
  /// lines, and what was counted.
  var markdown: String {
    let lines = lines
    let barred = table(of: lines.filter { $0.first.bar != nil })
    let others = table(of: lines.filter { $0.first.bar == nil })
    let counted = lines.filter { !$0.first.counts.isEmpty }.map { line in
      let list = line.first.counts.keys.sorted().map { name in
        "\(name) \(Self.range(line.measures.compactMap { $0.counts[name] }))"
      }
      return "- \(line.first.id) \(line.first.what): \(list.joined(separator: ", "))"
    }
    return [
      barred, others.map { "Without a bar:\n\n" + $0 },
      counted.isEmpty ? nil : "Counted:\n\n" + counted.joined(separator: "\n"),
    ].compactMap(\.self).joined(separator: "\n\n")
  }

  /// `nil` without a line.
  private func table(of lines: [SeriesLine]) -> String? {
    guard !lines.isEmpty else { return nil }
    let header = ["", "measure", "ours", "reference", "ratio", "each run", "bar", "met"]
    var rows = [header, header.map { _ in "---" }]
    var last = ""
    for line in lines {
      let id = line.first.id
      rows.append(cells(of: line, named: id == last ? "" : id))
      last = id
    }
    return rows.map(Self.row).joined(separator: "\n")
  }

  private func cells(of line: SeriesLine, named name: String) -> [String] {
    let (unit, peer) = (line.first.unit, line.first.referenceName)
    return [
      name, line.first.what, Self.figure(line.ours, unit),
      line.reference.map { "\(peer): \(Self.figure($0, unit))" }
        ?? (peer == "none" ? "" : "\(peer): not measured"),
      line.ratio.map(Self.short) ?? "",
      // The figures that the bar is about, so that no run is hidden by the median.
      line.bounded.count > 1 ? line.bounded.map(Self.short).joined(separator: ", ") : "",
      line.first.bar.map { Self.text($0, unit) } ?? "",
      line.isMet.map { $0 ? "yes" : "**no**" } ?? "",
    ]
  }

  private static func row(_ cells: [String]) -> String {
    "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
  }

  /// A value in the unit of its size: nanoseconds up to a thousand, then microseconds.
  static func figure(_ value: Double, _ unit: String) -> String {
    switch unit {
    case "ns" where value >= 1e6: "\(short(value / 1e6)) ms"
    case "ns" where value >= 1e3: "\(short(value / 1e3)) µs"
    case "ms" where value > 0 && value < 0.1: "\(short(value * 1e3)) µs"
    case "bytes" where value >= 1_048_576: "\(short(value / 1_048_576)) MB"
    case "bytes" where value >= 10_240: "\(short(value / 1024)) kB"
    case "x", "times": short(value)
    default: "\(short(value)) \(unit)"
    }
  }

  /// Three significant digits, without zeros behind them; all digits before the point.
  static func short(_ value: Double) -> String {
    guard value != 0, value.isFinite else { return value == 0 ? "0" : "-" }
    let digits = 2 - Int(log10(value.magnitude).rounded(.down))
    let text = String(format: "%.\(min(max(digits, 0), 6))f", value)
    guard text.contains(".") else { return text }
    let end = text.lastIndex { $0 != "0" } ?? text.startIndex
    return String(text[...end].hasSuffix(".") ? text[..<end] : text[...end])
  }

  private static func text(_ bar: Bar, _ unit: String) -> String {
    let limit = bar.figure == .ours ? figure(bar.limit, unit) : short(bar.limit)
    return "\(bar.rule.rawValue) \(limit)"
  }

  /// One number where all runs counted the same.
  private static func range(_ values: [Int]) -> String {
    guard let least = values.min(), let most = values.max(), least != most else {
      return values.first.map { "\($0)" } ?? ""
    }
    return "\(least) to \(most)"
  }
}
