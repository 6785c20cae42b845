import CommandSupport
import Foundation
import Player

/// Sees that the walk finds each planted fault, by the oracle that is there for it.
struct PlayControls {
  /// Longer than this, and the walk is not good enough.
  private static let patience: Duration = .seconds(180)
  private static let longestMedian: Duration = .seconds(60)
  private static let seeds: [UInt64] = [1, 2, 3]

  private let findings: Findings
  private let folder: TemporaryFolder

  init(_ findings: Findings) throws {
    self.findings = findings
    folder = try TemporaryFolder(prefix: "imagecache-torture")
  }

  /// Each fault on three seeds.
  func runAll() throws {
    for plant in Plant.allCases {
      let times = try Self.seeds.compactMap { try timeToFind(plant, seed: $0) }
      guard times.count == Self.seeds.count else { continue }
      let median = times.sorted()[times.count / 2]
      Console.print("\(plant): median \(Self.seconds(median))")
      if median > Self.longestMedian {
        findings.report(.other, "\(plant) is found late: median \(Self.seconds(median))")
      }
    }
  }

  /// Three faults, others each day, on the seeds that found them fastest.
  func runToday() throws {
    let day = Calendar(identifier: .gregorian).ordinality(of: .day, in: .year, for: Date()) ?? 1
    let plants = Plant.allCases
    for index in 0..<3 {
      let plant = plants[(3 * day + index) % plants.count]
      _ = try timeToFind(plant, seed: Self.knownSeed(plant))
    }
  }

  /// The seed that found the fault fastest when all were run.
  private static func knownSeed(_ plant: Plant) -> UInt64 {
    switch plant {
    case .deafNeighbour, .keptLease, .leftBody: 3
    case .keptImage, .keptTag, .leftDescriptor, .lostEvent, .lostMove, .lostRefresh, .lostVersion,
      .oldPicture, .otherAccount, .otherPicture, .sharedHand:
      2
    default: 1
    }
  }

  /// Walks in a child until the first find; `nil` where there is none, or another's.
  private func timeToFind(_ plant: Plant, seed: UInt64) throws -> Duration? {
    let begin = ContinuousClock.now
    let child = try ChildProcess([
      ChildRole.word, "planted", folder.url.path, "\(Plant.allCases.firstIndex(of: plant) ?? 0)",
      "\(seed)", "\(Self.patience.components.seconds)",
    ])
    let ending = child.ending()
    let time = ContinuousClock.now - begin
    guard ending == .exit(ChildVerdict.done) else {
      let text =
        ending == .exit(PlantedWalk.foundAnother) ? "another find came first" : "not found"
      findings.report(.other, "\(plant), seed \(seed): \(text), \(Self.seconds(time)), \(ending)")
      return nil
    }
    findings.count("planted faults found")
    Console.print("\(plant), seed \(seed): \(Self.seconds(time))")
    return time
  }

  private static func seconds(_ time: Duration) -> String {
    String(format: "%.1f s", time / .seconds(1))
  }
}

/// The child that walks with a planted fault.
struct PlantedWalk {
  static let foundAnother: Int32 = 43
  static let foundNothing: Int32 = 44

  private let folder: URL
  private let plant: Plant
  private let options: Walk.Options

  /// - Parameter numbers: The plant's index, a seed, and for how many seconds it walks.
  init(path: String, numbers: [Int]) {
    plant = Plant.allCases[numbers[0]]
    folder = URL(filePath: path).appending(path: "\(plant) \(numbers[1])")
    var options = Walk.Options(seed: UInt64(numbers[1]), duration: .seconds(numbers[2]))
    options.plant = plant
    options.endsAtFirstFind = true
    // What hangs on purpose must be found sooner than the sources' own patience is over.
    if plant == .noAnswer { options.patience = .seconds(2) }
    self.options = options
  }

  func run() async throws -> Int32 {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let finds = Finds { _ in }
    let walk = try Walk(in: folder, options, finds, host: TorturePlayHost())
    try await walk.run()
    guard let first = finds.first else { return Self.foundNothing }
    Console.print("  \(finds.lines.first?.prefix(200) ?? "")")
    return plant.finders.contains(first) ? ChildVerdict.done : Self.foundAnother
  }
}
