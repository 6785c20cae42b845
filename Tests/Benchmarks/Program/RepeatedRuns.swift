import CommandSupport
import Foundation
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Runs this program several times, one process after the other: each begins with other addresses, another
/// order of images and an empty heap, which differ more between runs than rounds do within one.
struct RepeatedRuns {
  private let command: [String]
  private let count: Int

  /// - Parameter words: The arguments of each run; `--json` is added.
  init(_ words: [String], count: Int) throws {
    guard let executable = Bundle.main.executablePath else {
      throw BenchFailure(description: "The benchmark does not find its own executable.")
    }
    command = [executable] + words + ["--json"]
    self.count = count
  }

  /// Blocks the calling thread while a run is under way; a cancelled task ends that run.
  func report() async throws -> SeriesReport {
    var report = SeriesReport()
    for number in 1...count {
      try Task.checkCancellation()
      Console.note("run \(number) of \(count)")
      report.runs += try await run().runs
    }
    return report
  }

  private func run() async throws -> SeriesReport {
    let pipe = Pipe()
    let process = try SpawnedProcess(
      command, environment: ProcessInfo.processInfo.environment,
      output: pipe.fileHandleForWriting.fileDescriptor, errors: STDERR_FILENO)
    // The child's is the last writing end: its death ends the reading.
    try pipe.fileHandleForWriting.close()
    let output = try await withTaskCancellationHandler {
      try pipe.fileHandleForReading.readToEnd() ?? Data()
    } onCancel: {
      // Nobody has waited for the process yet, so the number is still its own.
      kill(process.number, SIGTERM)
    }
    let ending = process.waitUntilExit()
    try Task.checkCancellation()
    // A run with failed scenarios ends with 1, and reports the others.
    guard !ending.isKilled, ending.status <= 1, !output.isEmpty else {
      throw BenchFailure(
        description:
          "A run ended with \(ending.isKilled ? "signal" : "status") \(ending.status).")
    }
    return try SeriesReport(json: output)
  }
}
