import Foundation
import TestSupport
import Testing

@Suite("imagecache-bench", .timeLimit(.minutes(2)))
struct BenchTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ words: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(program: "imagecache-bench", words, temporaryFolder: directory.url)
      .run()
  }

  @Test("measures the scenario that it is asked for, and cleans up")
  func chosen() async throws {
    let outcome = try await run(
      "--scenario", "open", "--pictures", "3", "--json")
    #expect(outcome.status == 0)
    let scenarios = try #require(outcome.json?["scenarios"] as? [[String: Any]])
    #expect(scenarios.compactMap { $0["scenario"] as? String } == ["open"])
    for scenario in scenarios {
      let times = try #require(scenario["ns"] as? [String: Double])
      #expect(times["p50"] ?? 0 > 0)
      #expect(times["p99"] ?? 0 >= times["p50"] ?? 0)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(!left.contains { $0.hasPrefix("imagecache-bench") })
  }

  @Test("names a scenario that it does not have")
  func unknown() async throws {
    let outcome = try await run("--scenario", "hits")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("\"hits\""))
  }
}
