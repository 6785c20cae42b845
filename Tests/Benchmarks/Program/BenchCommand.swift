import CommandSupport
import Foundation

/// Runs scenarios and prints their findings.
@main
struct BenchCommand {
  private static let scenarios: [any Scenario.Type] = [
    SynchronousHit.self, GrowingHit.self, AwaitedHit.self, ReadHit.self, FirstHit.self, Store.self,
    Open.self, Miss.self, ParallelMisses.self, JoinedRequests.self, CancelledRequests.self,
    HeldImages.self, Fling.self, ScrollFrame.self, TwoThreads.self, HitsBesideWriter.self,
    FirstFrame.self, MeanFidelity.self, WorstFidelity.self,
    KeptRead.self, Keep.self, FirstMiss.self, KeptMiss.self, KeptMissBesideDownloads.self,
    Unchanged.self, FirstPreview.self, PreviewCost.self, PreviewsBesideImages.self,
    BrokenDownloads.self, KeptOnce.self, DownloadFling.self, ConditionedRequests.self,
    FramesBesideMisses.self, ShownFrames.self, HeldAnimations.self, AnimationMiss.self,
    FirstStickers.self,
    Growth.self,
    ScaleFidelity.self, FilteredMiss.self, DrawnHash.self, ColdScroll.self,
  ]

  private static let grammar = ArgumentGrammar(
    command: "imagecache-bench",
    summary: "Measures what a cache does, beside what else could do it, in turns.",
    options: [
      .value(
        "--scenario", "NAMES", isRepeatable: true,
        help:
          "measures these only: names, P1 to P18, A1 to A4, A6, F1, F2, H1, Q1, Q2, S2 to S14; commas between them"
      ),
      .value("--plot", "FILE.svg", help: "draws what `fling`, `scale` or `scales` found"),
      .value(
        "--peers", "LIBRARY", help: "adds the peers of a shared library; Tests/Benchmarks/run"),
      .value(
        "--empty", "PROGRAM",
        help: "a Swift program that writes one byte, for P17; Tests/Benchmarks/run"),
      .value(
        "--runs", "N",
        help: "runs N times, each in a process of its own, and prints medians"),
      .flag("--quick", help: "tiny numbers, to see that everything runs; the figures mean nothing"),
      .flag("--json", help: "prints all figures as one JSON object instead of Markdown"),
      .value("--only", "WORK", help: CountedRun.help),
      .value("--times", "N", help: "how often --only does its work (1000)"),
    ],
    discussion: """
      All scenarios but `scale` and `scales` run without --scenario. Measure with a release build on a machine
      that does nothing else: Tests/Benchmarks/run.

      Measures of windows (V1 to V4) need a display: Docs/Examples/Gallery/measure. Instructions, allocations \
      and system calls are counted by .ci/counts.

      \(scenarios.map { "\($0.id) \($0.name): \($0.summary)." }.joined(separator: "\n\n"))
      """)

  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    if let program = LaunchedProgram(words) { exit(await program.run()) }
    let status = await Interruption.cancelling {
      await grammar.run(words, as: "imagecache-bench", run)
    }
    status.end()
  }

  private static func run(_ arguments: Arguments) async throws -> ExitStatus {
    if let work = arguments.value("--only") {
      let times = try arguments.integer("--times", in: 0...1_000_000_000) ?? 1000
      Console.print(try await CountedRun(work, times: times).run().text)
      return .success
    }
    let chosen = try chosen(arguments)
    if let count = try arguments.integer("--runs", in: 1...1000) {
      return try await runRepeatedly(count, arguments)
    }
    if arguments.value("--plot") != nil, !chosen.contains(where: { $0.drawsPlot }) {
      throw UsageError(
        "--plot draws what `fling`, `scale` or `scales` found; none is measured.")
    }
    let peers = try PeerLibrary(path: arguments.value("--peers"))
    let setting = try BenchSetting(
      effort: arguments.hasFlag("--quick") ? .quick : .full, peers: peers,
      emptyProgram: arguments.value("--empty"))
    let result: Result<RunReport, any Error>
    do {
      result = .success(try await measure(chosen, setting, plot: arguments.value("--plot")))
    } catch {
      result = .failure(error)
    }
    await setting.close()
    return try end(with: SeriesReport([result.get()]), arguments, peers)
  }

  private static func runRepeatedly(
    _ count: Int, _ arguments: Arguments
  ) async throws -> ExitStatus {
    if arguments.value("--plot") != nil { throw UsageError("--plot draws one run, not several.") }
    var words = arguments.hasFlag("--quick") ? ["--quick"] : []
    for name in arguments.values("--scenario") { words += ["--scenario", name] }
    for option in ["--peers", "--empty"] {
      if let path = arguments.value(option) { words += [option, path] }
    }
    return try end(
      with: try await RepeatedRuns(words, count: count).report(), arguments,
      PeerLibrary(path: arguments.value("--peers")))
  }

  private static func end(
    with report: SeriesReport, _ arguments: Arguments, _ peers: PeerLibrary
  ) throws -> ExitStatus {
    if arguments.hasFlag("--json") {
      Console.print(try report.json())
    } else {
      let reasons = peers.descriptions.map { "- \($0.name): \($0.reason)." }
      Console.print("\(report.markdown)\n\nPeers:\n\n\(reasons.joined(separator: "\n"))")
    }
    let failures = report.runs.flatMap(\.failures)
    for failure in failures {
      Console.note("imagecache-bench: \(failure.scenario) failed: \(failure.reason)")
    }
    return failures.isEmpty ? .success : .failure
  }

  private static func chosen(_ arguments: Arguments) throws(UsageError) -> [any Scenario.Type] {
    let names = arguments.values("--scenario").flatMap { $0.split(separator: ",").map(String.init) }
    if names.isEmpty { return scenarios.filter { ![Growth.id, ScaleFidelity.id].contains($0.id) } }
    var chosen: [any Scenario.Type] = []
    for name in names {
      guard let scenario = scenarios.first(where: { $0.name == name || $0.id == name }) else {
        let known = scenarios.map { "\($0.name) (\($0.id))" }.joined(separator: ", ")
        throw UsageError("There is no scenario \"\(name)\"; there is \(known).")
      }
      chosen.append(scenario)
    }
    return chosen
  }

  private static func measure(
    _ chosen: [any Scenario.Type], _ setting: BenchSetting, plot: String?
  ) async throws -> RunReport {
    var report = RunReport()
    var plots: [(name: String, plot: LinePlot)] = []
    for scenario in chosen {
      Console.note("measuring \(scenario.name)")
      do {
        let findings = try await scenario.init().measure(setting)
        report.measures += findings.measures
        for count in findings.measures where count.isCount {
          guard let bar = count.bar, !bar.holds(for: [count.ours]) else { continue }
          let reason = "\(count.what): \(count.ours), and not \(bar.rule.rawValue) \(bar.limit)"
          report.failures.append(.init(scenario: scenario.name, reason: reason))
        }
        if let plot = findings.plot { plots.append((scenario.name, plot)) }
      } catch {
        // A scenario that fails must not discard the others, which may take minutes; an
        // interruption may.
        try Task.checkCancellation()
        report.failures.append(.init(scenario: scenario.name, reason: "\(error)"))
      }
    }
    if let plot {
      try write(plots, to: URL(filePath: plot))
    }
    return report
  }

  /// A single plot goes to the file; several go to one file each, with the scenario's name in the
  /// path.
  private static func write(_ plots: [(name: String, plot: LinePlot)], to file: URL) throws {
    for (name, plot) in plots {
      let stem = file.deletingPathExtension().lastPathComponent
      let target =
        plots.count == 1
        ? file : file.deletingLastPathComponent().appending(path: "\(stem)-\(name).svg")
      try plot.svg().write(to: target, atomically: true, encoding: .utf8)
      Console.note("The plot is in \(target.path(percentEncoded: false)).")
    }
  }
}
