import CommandSupport

/// Memory, descriptors and mappings of this process at one moment; figures that a system does not give are
/// `nil` or constant.
struct ProcessFigures: Sendable {
  let memoryByteCount: Int
  /// Bytes of blocks that were taken and not freed; `nil` without the interposer.
  let usedByteCount: Int?
  let addressSpaceByteCount: Int
  let descriptorCount: Int
  let mappingCount: Int
  let threadCount: Int
}

/// The figures of a process over time.
///
/// Invariants:
/// 1. There are at most `roomCount` samples, in memory taken once: a search for growth must not
///    grow itself. When the room is full, every second sample goes, and fewer are taken from then
///    on.
/// 2. `samples[i]` is of turn `i * stride + 1`.
struct SoakCurve {
  private struct Sample {
    let figures: ProcessFigures
    let fileCount: Int
  }

  /// Descriptors and mappings of threads and connections that come and go.
  private static let tolerance = 24
  /// Those of one table: its images and their index.
  private static let fileLimit = 2
  private static let roomCount = 4096
  /// The memory that may stay with each thread: libdispatch keeps 1024 continuations of 64 bytes,
  /// which malloc(3) rounds up to 72, for the thread that freed them.
  private static let hoardByteCount = 1024 * 72
  /// A margin for blocks that come and go.
  private static let usedTolerance = 128 << 10

  private var samples: [Sample] = []
  private var stride = 1
  private(set) var turnCount = 0

  init() { samples.reserveCapacity(Self.roomCount) }

  /// Adds the figures of a turn; called for every turn.
  mutating func append(_ figures: ProcessFigures, fileCount: Int) {
    defer { turnCount += 1 }
    guard turnCount % stride == 0 else { return }
    if samples.count == Self.roomCount {
      for index in 0..<samples.count / 2 { samples[index] = samples[index * 2] }
      samples.removeLast(samples.count / 2)
      stride *= 2
    }
    samples.append(Sample(figures: figures, fileCount: fileCount))
  }

  func text(rows: Int) -> String {
    var table = TextTable(
      header: ["turn", "in use kB", "private kB", "descriptors", "mappings", "table files"])
    let step = max(1, (samples.count + rows - 1) / rows)
    for index in Swift.stride(from: 0, to: samples.count, by: step) {
      let figures = samples[index].figures
      table.append([
        "\(index * stride + 1)", figures.usedByteCount.map { "\($0 / 1024)" } ?? "-",
        "\(figures.memoryByteCount / 1024)", "\(figures.descriptorCount)",
        "\(figures.mappingCount)", "\(samples[index].fileCount)",
      ])
    }
    return table.text
  }

  /// The growing figures, as sentences.
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
    problems += memoryProblems(of: rest)
    let most = samples.map(\.fileCount).max() ?? 0
    if most > Self.fileLimit { problems.append("\(most) table files were left at once") }
    return problems
  }

  /// Blocks are judged closely. Private memory is not: allocators keep freed memory, more as time
  /// goes on, and scattered so that pages cannot be given back.
  private func memoryProblems(of samples: ArraySlice<Sample>) -> [String] {
    let quarter = max(1, samples.count / 4)
    func medians(_ figure: (Sample) -> Int) -> (early: Int, late: Int) {
      (
        Self.median(samples.prefix(quarter).map(figure)),
        Self.median(samples.suffix(quarter).map(figure))
      )
    }
    var problems: [String] = []
    let (early, late) = medians { $0.figures.memoryByteCount }
    if late > early + early / 6 + 4 << 20 {
      problems.append("private memory rose from \(early) to \(late) bytes")
    }
    let used = medians { $0.figures.usedByteCount ?? 0 }
    let threadCount = samples.map(\.figures.threadCount).max() ?? 0
    if used.late > used.early + threadCount * Self.hoardByteCount + Self.usedTolerance {
      problems.append("memory in use rose from \(used.early) to \(used.late) bytes")
    }
    return problems
  }

  private static func median(_ numbers: [Int]) -> Int {
    numbers.sorted()[numbers.count / 2]
  }
}
