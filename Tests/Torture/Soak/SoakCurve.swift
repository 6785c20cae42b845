import CommandSupport

/// What a process had of the system, over time.
struct SoakCurve {
  private struct Sample {
    let figures: ProcessFigures
    let fileCount: Int
  }

  /// Descriptors and mappings of threads and connections that come and go.
  private static let tolerance = 24
  private static let tableCount = 1

  private var samples: [Sample] = []

  var count: Int { samples.count }

  mutating func append(_ figures: ProcessFigures, fileCount: Int) {
    samples.append(Sample(figures: figures, fileCount: fileCount))
  }

  func text(rows: Int) -> String {
    var table = TextTable(
      header: ["turn", "private kB", "descriptors", "mappings", "table files"])
    let step = max(1, (samples.count + rows - 1) / rows)
    for index in stride(from: 0, to: samples.count, by: step) {
      let figures = samples[index].figures
      table.append([
        "\(index + 1)", "\(figures.memoryByteCount / 1024)", "\(figures.descriptorCount)",
        "\(figures.mappingCount)", "\(samples[index].fileCount)",
      ])
    }
    return table.text
  }

  /// What grew, as sentences.
  var problems: [String] {
    let warmUp = samples.prefix(max(1, samples.count / 5))
    let rest = samples.dropFirst(warmUp.count)
    guard !rest.isEmpty else { return ["there are too few samples"] }
    var problems: [String] = []
    func compare(_ name: String, _ figure: (Sample) -> Int) {
      let before = warmUp.map(figure).max() ?? 0
      let after = rest.suffix(max(1, rest.count / 4)).map(figure).min() ?? 0
      if after > before + Self.tolerance {
        problems.append("\(name) rose from \(before) to \(after) at least")
      }
    }
    compare("descriptors") { $0.figures.descriptorCount }
    compare("mappings") { $0.figures.mappingCount }
    let quarter = max(1, rest.count / 4)
    let early = Self.median(rest.prefix(quarter).map(\.figures.memoryByteCount))
    let late = Self.median(rest.suffix(quarter).map(\.figures.memoryByteCount))
    if late > early + early / 6 + 4 << 20 {
      problems.append("private memory rose from \(early) to \(late) bytes")
    }
    let most = samples.map(\.fileCount).max() ?? 0
    if most > Self.tableCount { problems.append("\(most) table files were left at once") }
    return problems
  }

  private static func median(_ numbers: [Int]) -> Int {
    numbers.sorted()[numbers.count / 2]
  }
}
