import Foundation
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that is started again and again, and timed until its first byte of output.
struct FreshProcess {
  private let command: [String]
  /// Whether the end of the process takes the byte's place.
  private let isSilent: Bool

  /// The least that a process costs: it links the C library only, and ends at once.
  static let inC = FreshProcess(command: ["/usr/bin/true"], isSilent: true)

  /// A program that writes one byte.
  init(path: String) { self.init(command: [path], isSilent: false) }

  private init(command: [String], isSilent: Bool) {
    (self.command, self.isSilent) = (command, isSilent)
  }

  init(_ program: LaunchedProgram) throws {
    guard let executable = Bundle.main.executablePath else {
      throw BenchFailure(description: "The benchmark does not find its own executable.")
    }
    self.init(command: [executable] + program.words, isSilent: false)
  }

  /// Milliseconds from posix_spawn(3) until the byte has come; then waits for the process' end.
  func milliseconds() throws -> Double {
    let pipe = Pipe()
    let environment = ProcessInfo.processInfo.environment
    let start = ContinuousClock.now
    let process = try SpawnedProcess(
      command, environment: environment, output: pipe.fileHandleForWriting.fileDescriptor,
      errors: STDERR_FILENO)
    // The child's is the last writing end: its death ends the read.
    try pipe.fileHandleForWriting.close()
    let bytes = try pipe.fileHandleForReading.read(upToCount: 1) ?? Data()
    let milliseconds = Contest.nanoseconds(since: start) / 1e6
    let ending = process.waitUntilExit()
    guard ending.status == 0, !ending.isKilled, bytes.isEmpty == isSilent else {
      throw BenchFailure(description: "\(command.joined(separator: " ")) failed: \(ending.status).")
    }
    return milliseconds
  }
}
