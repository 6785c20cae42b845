import CommandSupport
import Foundation
import Testing

@testable import imagecache_bench

@Suite("A report of several runs", .timeLimit(.minutes(10)))
struct SeriesTests {
  /// A run with one line.
  private static func run(
    ours: Double, reference: Double?, bar: Bar? = .ratioAtMost(1.1),
    what: String = "hit | read", unit: String = "ns", count: Int = 1
  ) -> RunReport {
    let distribution = { (value: Double) in Distribution([value]) }
    let measure = Measure(
      "P1", what, unit: unit, ours: distribution(ours), reference: reference.map(distribution),
      named: "floor", bar: bar, counts: [("fetches", count)])
    return RunReport(measures: [measure])
  }

  @Test("has the median of each figure, and each run's ratio in the runs' order")
  func medians() {
    let values: [(Double, Double)] = [(2000, 1000), (1200, 1200), (1500, 1000)]
    let report = SeriesReport(values.map { Self.run(ours: $0, reference: $1) })
    #expect(
      report.markdown == """
        |  | measure | ours | reference | ratio | each run | bar | met |
        | --- | --- | --- | --- | --- | --- | --- | --- |
        | P1 | hit \\| read | 1.5 µs | floor: 1 µs | 1.5 | 2, 1, 1.5 | ≤ 1.1 | **no** |

        Counted:

        - P1 hit | read: fetches 1
        """)
  }

  @Test(
    "meets a bar when the median does, whatever one run says",
    arguments: [
      (Bar.ratioAtMost(1.1), [1.0, 3, 1.05], true), (.ratioAtMost(1.1), [1, 3, 1.2], false),
      (.ratioAtLeast(0.95), [0.96, 0.5, 0.97], true), (.oursAtMost(1), [0.5, 7, 1], true),
      (.oursAtLeast(54), [55, 50, 54], true),
    ])
  func met(_ bar: Bar, _ ours: [Double], _ isMet: Bool) {
    let report = SeriesReport(
      ours.map { Self.run(ours: $0, reference: 1, bar: bar, unit: "dB") })
    #expect(report.lines.map(\.isMet) == [isMet])
  }

  @Test("meets an exact number only when each run does")
  func exact() {
    let runs = [0.0, 0, 1].map {
      Self.run(ours: $0, reference: nil, bar: .oursIs(0), unit: "times")
    }
    #expect(SeriesReport(Array(runs.prefix(2))).lines.map(\.isMet) == [true])
    #expect(SeriesReport(runs).lines.map(\.isMet) == [false])
  }

  @Test("says nothing of a bar whose reference no run measured")
  func missingReference() {
    let report = SeriesReport([Self.run(ours: 1, reference: nil)])
    #expect(report.lines.map(\.isMet) == [nil])
    #expect(report.markdown.contains("| floor: not measured |"))
  }

  @Test("has a table of its own for lines without a bar, below the others")
  func tables() {
    let runs = [
      Self.run(ours: 2, reference: 1, bar: nil, what: "b"), Self.run(ours: 2, reference: 1),
    ]
    let tables = SeriesReport(runs).markdown.components(separatedBy: "Without a bar:")
    #expect(tables.count == 2)
    #expect(tables[0].contains("| ≤ 1.1 | **no** |") && tables[1].contains("| 2 |  |  |  |"))
  }

  @Test("keeps lines of one name apart, and takes those that only some runs have")
  func lines() {
    let measure = Self.run(ours: 1, reference: nil).measures[0]
    let runs = [2, 1, 2].map { RunReport(measures: Array(repeating: measure, count: $0)) }
    #expect(SeriesReport(runs).lines.map(\.measures.count) == [3, 2])
  }

  @Test("compares the slowest of a hundred where a measure asks for it")
  func statistic() {
    let values = Distribution((1...100).map(Double.init))
    let measure = Measure("P16", "hit", ours: values, reference: values, statistic: .p99)
    #expect(measure.ours == 99 && measure.reference == 99 && measure.ratio == 1)
  }

  @Test("gives counts that differ as a range")
  func counts() {
    let report = SeriesReport([3, 1, 2].map { Self.run(ours: 1, reference: 1, count: $0) })
    #expect(report.markdown.hasSuffix("fetches 1 to 3"))
  }

  @Test(
    "writes figures in the unit of their size, with three digits",
    arguments: [
      (96.4, "ns", "96.4 ns"), (12_030, "ns", "12 µs"), (1_890_000, "ns", "1.89 ms"),
      (0.0754, "ms", "75.4 µs"), (4.0, "ms", "4 ms"), (1234, "ms", "1234 ms"), (0, "kB", "0 kB"),
      (2_500_000, "bytes", "2.38 MB"), (85.4, "bytes", "85.4 bytes"), (1.0, "x", "1"),
      (100, "times", "100"),
    ])
  func figures(_ value: Double, _ unit: String, _ text: String) {
    #expect(SeriesReport.figure(value, unit) == text)
  }

  @Test("reads what a run has printed as JSON")
  func json() throws {
    var run = Self.run(ours: 1500, reference: 1000)
    run.failures = [.init(scenario: "scroll", reason: "no files")]
    let read = try SeriesReport(json: Data(SeriesReport([run]).json().utf8))
    #expect(read.markdown == SeriesReport([run]).markdown)
    #expect(read.runs[0].failures.map(\.reason) == ["no files"])
  }

  @Test("divides growths round by round, and leaves out what cannot be divided")
  func quotients() {
    let distribution = Distribution([8, 9, 10, 11], by: [2, 0, 10])
    #expect(distribution.values == [1, 4])
  }
}
