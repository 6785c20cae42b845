import CommandSupport
import Foundation

/// Runs scenarios and prints what they took.
@main
struct BenchCommand {
  private static let scenarios: [any Scenario.Type] = [
    SynchronousHit.self, MainActorHit.self, TaskHit.self, Store.self, Miss.self, Open.self,
  ]

  private static let grammar = ArgumentGrammar(
    command: "imagecache-bench",
    summary: "Times what a cache does, in nanoseconds for one operation.",
    options: [
      .value(
        "--scenario", "NAME", isRepeatable: true,
        help: scenarios.map { "\($0.name): \($0.summary)" }.joined(separator: "\n")),
      .value("--pictures", "N", help: "pictures in the table (1000)"),
      .flag("--json", help: "prints one JSON object instead of text"),
    ],
    discussion: """
      All scenarios run without --scenario. Measure with a release build:
      swift run -c release imagecache-bench
      """)

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    exit(await Interruption.cancelling { await run(words) }.rawValue)
  }

  private static func run(_ words: [String]) async -> ExitStatus {
    do {
      let arguments = try Arguments(words, grammar: grammar)
      if arguments.isHelpWanted {
        Console.print(grammar.help)
        return .success
      }
      let chosen = try chosen(arguments.values("--scenario"))
      let pictureCount = try arguments.integer("--pictures", in: 1...1 << 20) ?? 1000
      let setting = try BenchSetting(pictureCount: pictureCount)
      defer { setting.place.remove() }
      var results: [(any Scenario.Type, Measurement.Outcome)] = []
      for scenario in chosen {
        Console.note("measuring \(scenario.name)")
        results.append((scenario, try await scenario.init().measure(setting)))
      }
      Console.print(arguments.hasFlag("--json") ? json(results).text : text(results))
      return .success
    } catch let error as UsageError {
      Console.note("imagecache-bench: \(error)\nUsage: \(grammar.synopsis)")
      return .usage
    } catch {
      if !Task.isCancelled { Console.note("imagecache-bench: \(error)") }
      return .failure
    }
  }

  private static func chosen(_ names: [String]) throws(UsageError) -> [any Scenario.Type] {
    if names.isEmpty { return scenarios }
    var chosen: [any Scenario.Type] = []
    for name in names {
      guard let scenario = scenarios.first(where: { $0.name == name }) else {
        let known = scenarios.map { $0.name }.joined(separator: ", ")
        throw UsageError("There is no scenario \"\(name)\"; there is \(known).")
      }
      chosen.append(scenario)
    }
    return chosen
  }

  private static func text(_ results: [(any Scenario.Type, Measurement.Outcome)]) -> String {
    var table = TextTable(header: ["scenario", "median ns", "p99 ns", "runs", "batch"])
    for (scenario, outcome) in results {
      table.append([
        scenario.name, whole(outcome.nanoseconds.median), whole(outcome.nanoseconds.p99),
        "\(outcome.nanoseconds.count)", "\(outcome.batchSize)",
      ])
    }
    return table.text
  }

  private static func json(_ results: [(any Scenario.Type, Measurement.Outcome)]) -> JSONValue {
    let scenarios = results.map { scenario, outcome in
      JSONValue.object([
        "scenario": .string(scenario.name),
        "ns": .object([
          "p50": .number(outcome.nanoseconds.median), "p99": .number(outcome.nanoseconds.p99),
          "max": .number(outcome.nanoseconds.maximum),
        ]),
        "runs": .integer(outcome.nanoseconds.count), "batch": .integer(outcome.batchSize),
      ])
    }
    return .object(["scenarios": .array(scenarios)])
  }

  private static func whole(_ number: Double) -> String { String(format: "%.0f", number) }
}
