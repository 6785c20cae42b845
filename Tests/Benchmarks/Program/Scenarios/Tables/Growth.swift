import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// The cost of each operation as the number of images grows.
struct Growth: Scenario {
  static let id = "scale"
  static let name = "scale"
  static let drawsPlot = true
  static let summary = """
    opening, hits, stores into free slots, stores that evict, and removals in tables of 1 000 to \
    1 000 000 photos of 8 x 8, each against itself in the smallest table, all tables open and in \
    turns; and the private memory that an open table takes for each photo. --plot draws it
    """

  func measure(_ setting: BenchSetting) async throws -> Findings {
    let counts = setting.effort.scaleCounts
    var stages: [GrowthStage] = []
    for count in counts {
      try Task.checkCancellation()
      Console.note("filling a table with \(count) images")
      stages.append(try await GrowthStage(count, setting))
    }
    let result: Result<Findings, any Error>
    do {
      result = .success(try await compare(stages, setting.effort))
    } catch {
      result = .failure(error)
    }
    for stage in stages { await stage.close() }
    return try result.get()
  }

  private func compare(_ stages: [GrowthStage], _ effort: Effort) async throws -> Findings {
    let rounds = min(effort.roundCount, 51)
    let work: [(name: String, contenders: [Contest.Contender])] = [
      ("hit", stages.map { $0.hit(batch: effort.hitBatch) }),
      ("store", stages.map { $0.store(batch: effort.storeBatch) }),
      ("evict", stages.map { $0.evict(batch: effort.storeBatch) }),
      ("remove", stages.map { $0.remove(batch: effort.storeBatch) }),
    ]
    var series: [(name: String, values: [Distribution])] = [("open", stages.map(\.openTimes))]
    for (name, contenders) in work {
      let values = try await Contest(contenders).run(roundCount: rounds, warmUpCount: 3)
      series.append((name, values))
    }
    let sizes = stages.map(\.count)
    let times = series.flatMap { name, values in
      zip(sizes, values).map { size, value in
        Measure(
          Self.id, "\(name), \(size) entries", ours: value, reference: values.first,
          named: "\(sizes.first ?? 0) entries")
      }
    }
    let memory = stages.map { stage in
      Measure(
        Self.id, "private memory for each entry, \(stage.count) entries", unit: "B",
        ours: Distribution([Double(stage.privateByteCount) / Double(stage.count)]))
    }
    let lines = series.map { name, values in
      LinePlot.Line(
        name: name, points: zip(sizes, values).map { (Double($0), $1.median / 1000) })
    }
    let plot = LinePlot(
      title: "Cost of one operation as a table grows", xLabel: "images in the table",
      yLabel: "microseconds", scale: .logarithmic, lines: lines)
    return Findings(times + memory, plot: plot)
  }
}
