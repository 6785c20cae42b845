import CommandSupport
import Foundation
import TestSupport
import Testing

@testable import imagecache_bench

@Suite("A report of several runs", .timeLimit(.minutes(10)))
struct SeriesTests {
  /// A run with one line; `nil` leaves a member null.
  private static func run(
    ours: Double, reference: Double?, bar: Measure.Bar? = .ratioAtMost(1.1),
    what: String = "hit | read", unit: String = "ns", count: Int = 1
  ) throws -> RunReport {
    let distribution = { (value: Double) in Distribution([value]) }
    let measure = Measure(
      "P1", what, unit: unit, ours: distribution(ours), reference: reference.map(distribution),
      named: "floor", bar: bar, counts: [("fetches", count)])
    return try RunReport(json: Data(MeasureReport(measures: [measure]).json.text.utf8))
  }

  @Test("has the median of each figure, and each run's ratio in the runs' order")
  func medians() throws {
    let values: [(Double, Double)] = [(2000, 1000), (1200, 1200), (1500, 1000)]
    let report = SeriesReport(try values.map { try Self.run(ours: $0, reference: $1) })
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
      (Measure.Bar.ratioAtMost(1.1), [1.0, 3, 1.05], true),
      (.ratioAtMost(1.1), [1, 3, 1.2], false),
      (.ratioAtLeast(0.95), [0.96, 0.5, 0.97], true), (.gainAtLeast(2), [0.4, 0.5, 0.9], true),
      (.gainAtLeast(2), [0.4, 0.6, 0.9], false), (.oursAtMost(1), [0.5, 7, 1], true),
      (.oursAtLeast(54), [55, 50, 54], true),
    ])
  func met(_ bar: Measure.Bar, _ ours: [Double], _ isMet: Bool) throws {
    let report = SeriesReport(
      try ours.map { try Self.run(ours: $0, reference: 1, bar: bar, unit: "dB") })
    #expect(report.lines.map(\.isMet) == [isMet])
  }

  @Test("meets an exact number only when each run does")
  func exact() throws {
    let runs = try [0.0, 0, 1].map {
      try Self.run(ours: $0, reference: nil, bar: .oursIs(0), unit: "times")
    }
    #expect(SeriesReport(Array(runs.prefix(2))).lines.map(\.isMet) == [true])
    #expect(SeriesReport(runs).lines.map(\.isMet) == [false])
  }

  @Test("says nothing of a bar whose reference no run measured")
  func missingReference() throws {
    let report = SeriesReport([try Self.run(ours: 1, reference: nil)])
    #expect(report.lines.map(\.isMet) == [nil])
    #expect(report.markdown.contains("| floor: not measured |"))
  }

  @Test("has a table of its own for lines without a bar, below the others")
  func tables() throws {
    let runs = [
      try Self.run(ours: 2, reference: 1, bar: nil, what: "b"), try Self.run(ours: 2, reference: 1),
    ]
    let tables = SeriesReport(runs).markdown.components(separatedBy: "Without a bar:")
    #expect(tables.count == 2)
    #expect(tables[0].contains("| ≤ 1.1 | **no** |") && tables[1].contains("| 2 |  |  |  |"))
  }

  @Test("keeps lines of one name apart, and takes those that only some runs have")
  func lines() throws {
    let twice = """
      {"id": "P1", "what": "hit", "unit": "ns", "ours": 1, "reference": null, "ratio": null,
       "reference_name": "none", "bar": null, "bar_of": null, "bar_is": null, "counts": {}}
      """
    func report(_ count: Int) throws -> RunReport {
      let lines = Array(repeating: twice, count: count).joined(separator: ",")
      return try RunReport(
        json: Data(
          """
          {"measures": [\(lines)], "failures": [{"scenario": "scroll", "reason": "no files"}]}
          """.utf8))
    }
    let series = SeriesReport([try report(2), try report(1), try report(2)])
    #expect(series.lines.map(\.ours.count) == [3, 2])
    #expect(series.failures.map(\.run) == [1, 2, 3])
  }

  @Test("gives counts that differ as a range")
  func counts() throws {
    let report = SeriesReport(
      try [3, 1, 2].map { try Self.run(ours: 1, reference: 1, count: $0) })
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

  @Test("runs the program as often as it is told to, and gives the same report as JSON")
  func processes() async throws {
    let directory = try TemporaryDirectory()
    let words = ["--scenario", "P7", "--quick", "--runs", "2"]
    let markdown = try await CommandProcess(
      program: "imagecache-bench", words, temporaryFolder: directory.url
    ).run()
    #expect(markdown.status == 0, "\(markdown.errors)")
    #expect(markdown.output.hasPrefix("|  | measure |"))
    #expect(markdown.errors.contains("run 2 of 2"))
    let json = try await CommandProcess(
      program: "imagecache-bench", words + ["--json"], temporaryFolder: directory.url
    ).run()
    #expect(json.json?["runs"] as? Int == 2)
    let rows = try #require(json.json?["measures"] as? [[String: Any]])
    #expect(rows.allSatisfy { ($0["all_ours"] as? [Double])?.count == 2 } && !rows.isEmpty)
  }
}
