import Foundation
import TestSupport
import Testing

@Suite("imagecache-bench", .timeLimit(.minutes(10)))
struct BenchTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func run(_ words: String...) async throws -> CommandProcess.Outcome {
    try await CommandProcess(program: "imagecache-bench", words, temporaryFolder: directory.url)
      .run()
  }

  private static let scenarios =
    (1...18).map { "P\($0)" } + ["Q1", "Q2", "M1"] + (2...14).map { "S\($0)" } + [
      "scale", "scales",
    ]

  @Test("gives each measure as a row that machines can read", arguments: scenarios)
  func measures(_ scenario: String) async throws {
    let outcome = try await run("--scenario", scenario, "--quick", "--json")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let rows = try #require(outcome.json?["measures"] as? [[String: Any]])
    #expect(!rows.isEmpty)
    for row in rows {
      #expect(row["id"] as? String == scenario)
      for key in ["what", "reference_name", "unit"] {
        #expect((row[key] as? String)?.isEmpty == false, "\(key)")
      }
      #expect(row["ours"] is Double)
      #expect(row["runs"] as? Int ?? 0 > 0)
      // Numbers, or null where nothing was measured.
      for key in ["reference", "ratio", "bar"] {
        let value = try #require(row[key], "\(key)")
        #expect(value is NSNull || value is Double, "\(key)")
      }
      #expect((row["bar"] is NSNull) == (row["bar_of"] is NSNull))
      #expect(row["met"] is NSNull || row["met"] is Bool)
      // Counts depend on no machine.
      if ["S7", "S11", "S13"].contains(scenario) || row["unit"] as? String == "times" {
        #expect(row["met"] as? Bool != false, "\(row)")
      }
      #expect(row["counts"] is [String: Int])
      if row["reference"] is NSNull { #expect(row["ratio"] is NSNull) }
    }
  }

  @Test("says of a missing peer that it is missing")
  func missingPeer() async throws {
    let outcome = try await run("--scenario", "synchronous-hit", "--quick", "--json")
    let rows = try #require(outcome.json?["measures"] as? [[String: Any]])
    let row = try #require(
      rows.first { ($0["reference_name"] as? String)?.hasPrefix("LMDB") == true })
    #expect(row["bar"] as? Double == 1)
    #expect(row["reference"] is NSNull)
    #expect(row["met"] is NSNull)
  }

  @Test("gives the counts that a measure promises")
  func counts() async throws {
    let outcome = try await run(
      "--scenario", "P3", "--scenario", "P10", "--scenario", "P11", "--quick", "--json")
    let rows = try #require(outcome.json?["measures"] as? [[String: Any]])
    func counts(_ id: String) throws -> [String: Int] {
      try #require(rows.first { $0["id"] as? String == id }?["counts"] as? [String: Int])
    }
    #expect(try counts("P3") == ["suspensions": 0])
    #expect(try counts("P10") == ["fetches": 1, "drawings": 1, "misses": 8, "stores": 1])
    #expect(
      try counts("P11")
        == ["flights left": 0, "waiters left": 0, "leases left": 0, "stores": 0])
  }

  @Test("prints the other measures when one scenario fails, and ends with status 1")
  func failingScenario() async throws {
    // The signal is ignored, so that a write beyond the limit is an error. Enough for a table of
    // small pictures and for the thread sanitizer's file of 512 KiB, too little for the pixels of
    // larger pictures, whether the shell counts in 512 or in 1024 bytes.
    let words = ["--scenario", "P4,P10", "--quick", "--json"]
    let outcome = try await CommandProcess(
      program: "imagecache-bench", words, temporaryFolder: directory.url,
      preparation: "trap '' XFSZ; ulimit -f 1100"
    ).run()
    #expect(outcome.status == 1)
    let rows = try #require(outcome.json?["measures"] as? [[String: Any]])
    #expect(rows.allSatisfy { $0["id"] as? String == "P10" } && !rows.isEmpty)
    let failures = try #require(outcome.json?["failures"] as? [[String: String]])
    #expect(failures.map { $0["scenario"] } == ["read-hit"])
    #expect(outcome.errors.contains("read-hit failed"))
  }

  @Test("refuses to plot a scenario that it does not measure")
  func plotOfNothing() async throws {
    let outcome = try await run("--scenario", "P1", "--quick", "--plot", "plot.svg")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--plot draws"))
  }

  @Test(
    "does exactly as much as it is told to",
    arguments: [
      "hits", "awaited-hits", "hits-with-originals", "awaited-hits-with-originals", "misses",
    ])
  func exactWork(_ work: String) async throws {
    let outcome = try await run("--only", work, "--times", "5")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let counted = try #require(outcome.json as? [String: Int])
    let missCount = work == "misses" ? 5 : 0
    #expect(counted["hits"] == 5 - missCount)
    for key in ["misses", "fetches", "decodes", "drawings", "stores"] {
      #expect(counted[key] == missCount, "\(key)")
    }
  }

  @Test("gives up exactly as many requests as it is told to")
  func exactCancellations() async throws {
    let outcome = try await run("--only", "cancelled-requests", "--times", "5")
    #expect(outcome.status == 0, "\(outcome.errors)")
    let counted = try #require(outcome.json as? [String: Int])
    #expect(counted["cancellations"] == 5 && counted["misses"] == 5)
    for key in ["hits", "fetches", "decodes", "drawings", "stores"] {
      #expect(counted[key] == 0, "\(key)")
    }
  }

  @Test("draws a plot of growing figures", arguments: ["fling", "scale"])
  func plots(_ scenario: String) async throws {
    let file = directory.url.appending(path: "plot.svg")
    let outcome = try await run("--scenario", scenario, "--quick", "--plot", file.path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let svg = try String(contentsOf: file, encoding: .utf8)
    #expect(svg.hasPrefix("<svg"))
    #expect(svg.contains("<polyline"))
    #expect(!svg.contains("nan") && !svg.contains("inf"))
  }

  @Test("draws the pictures furthest from their photographs, and charts, each from three decodes")
  func plotsPictures() async throws {
    let file = directory.url.appending(path: "plot.svg")
    let outcome = try await run("--scenario", "Q2", "--quick", "--plot", file.path)
    #expect(outcome.status == 0, "\(outcome.errors)")
    let svg = try String(contentsOf: file, encoding: .utf8)
    #expect(svg.hasPrefix("<svg"))
    // Two landscapes and three charts.
    #expect(svg.components(separatedBy: " dB</text>").count - 1 == 5 * 3)
    let afterMarker = try #require(
      svg.components(separatedBy: "data:image/jpeg;base64,").dropFirst().first)
    let picture = try #require(Data(base64Encoded: String(afterMarker.prefix { $0 != "\"" })))
    #expect(picture.starts(with: [0xFF, 0xD8, 0xFF]) && picture.suffix(2) == Data([0xFF, 0xD9]))
  }

  @Test("prints a table, with the reason why each comparison is fair")
  func text() async throws {
    let outcome = try await run("--scenario", "P7", "--quick")
    let header = try #require(outcome.output.split(separator: "\n").first)
    for column in ["measure", "ours", "p99", "reference", "ratio", "bar", "met", "runs"] {
      #expect(header.contains(column), "\(column)")
    }
    #expect(outcome.output.contains("P7 open: opening a cache"))
  }

  @Test("cleans up")
  func cleansUp() async throws {
    _ = try await run("--scenario", "open", "--quick")
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(!left.contains { $0.hasPrefix("imagecache-bench") })
  }

  @Test(
    "refuses impossible calls",
    arguments: [
      (["--scenario", "hits"], "\"hits\""), (["--only", "nothing"], "\"nothing\""),
      (["--scenario", "P3", "--quick", "--plot", "plot.svg"], "--plot"),
    ])
  func refuses(_ words: [String], _ named: String) async throws {
    let outcome = try await CommandProcess(
      program: "imagecache-bench", words, temporaryFolder: directory.url
    ).run()
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains(named))
  }

  @Test("refuses peers that cannot be loaded, and names them")
  func refusesPeers() async throws {
    let outcome = try await run("--scenario", "P1", "--quick", "--peers", "/nowhere/libPeers.so")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("/nowhere/libPeers.so"))
  }
}
