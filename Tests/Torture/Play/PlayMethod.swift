import CommandSupport
import Foundation
import Player

/// The player: every public call with every kind of neighbour, against a model.
struct PlayMethod: TortureMethod {
  static let name = "play"
  static let grammar = makeGrammar(
    summary: "walks every public call with every kind of source against a model",
    options: [
      .value("--seconds", "S", help: "how long (60)"),
      .value("--until", "STEP", help: "the number of the last step"),
      .value(
        "--without", "KINDS",
        help: "leaves out steps, kinds of sources or wirings, separated by commas"),
      .value("--plant", "FAULT", help: "plants a fault, which the walk must find"),
      .flag("--controls", help: "plants each fault on three seeds; each must be found"),
      .flag("--today", help: "of the controls three, chosen by the day, on one seed each"),
      .value("--deaf", "STEP", help: "takes the comparisons of a step for true"),
      .flag(
        "--unread",
        help: "takes each comparison for false, and names the steps that no oracle has read"),
      .flag("--first", help: "ends at the first find"),
      .flag("--log", help: "prints each step"),
      .flag("--coverage", help: "prints how often each step met each kind of source"),
    ],
    discussion: """
      Steps are drawn by a seed among those that were met least: requests, streams, removals, pictures by hand, stores
      of originals, views, and what happens outside. Each is compared with a model of what it may show. The log names
      the steps; `--until` and `--without` make a walk small.
      """)

  private let options: Walk.Options
  private let printsCoverage: Bool
  private let (controls, isShort): (Bool, Bool)

  init(_ arguments: Arguments, seed: UInt64) throws {
    let seconds = try arguments.integer("--seconds", in: 1...1_000_000) ?? 60
    var options = Walk.Options(seed: seed, duration: .seconds(seconds))
    options.until = try arguments.integer("--until", in: 1...Int.max) ?? .max
    options.without = Set(
      (arguments.value("--without") ?? "").split(separator: ",").map(String.init))
    if let name = arguments.value("--plant") {
      guard let plant = Plant(name: name) else {
        throw UsageError("There is no fault \"\(name)\".")
      }
      options.plant = plant
    }
    options.deaf = Set([arguments.value("--deaf")].compactMap(\.self))
    options.lies = arguments.hasFlag("--unread")
    options.prints = arguments.hasFlag("--log")
    options.endsAtFirstFind = options.plant != nil || arguments.hasFlag("--first")
    isShort = arguments.hasFlag("--today")
    controls = isShort || arguments.hasFlag("--controls")
    (self.options, printsCoverage) = (options, arguments.hasFlag("--coverage"))
  }

  func run() async throws -> Findings {
    if controls {
      let findings = Findings("\(Self.name) --controls", seed: options.seed)
      let controls = try PlayControls(findings)
      try isShort ? controls.runToday() : controls.runAll()
      return findings
    }
    let folder = try TemporaryFolder(prefix: "imagecache-torture")
    let finds = Finds { [options] in if !options.lies { Console.note($0) } }
    let walk = try Walk(in: folder.url, options, finds, host: TorturePlayHost())
    try await walk.run()
    if printsCoverage { Console.print(walk.coverage.table(kinds: Walk.kinds)) }
    let findings = Findings(Self.name, seed: options.seed)
    if options.lies {
      for step in walk.unread { findings.report(.other, "no oracle reads \"\(step)\"") }
      return findings
    }
    Console.print("play: " + finds.summary)
    for _ in 0..<finds.total { findings.report(.other, "see above") }
    return findings
  }
}
