#if canImport(Darwin)
  package import Darwin
  import Foundation

  /// A child process with no input.
  package struct SpawnedProcess: @unchecked Sendable {
    // Safe, since nothing of it changes once it has been started.
    private let process = Process()

    package var number: pid_t { process.processIdentifier }

    /// Starts a program.
    ///
    /// - Parameter command: The path of the program, and its arguments.
    package init(
      _ command: [String], environment: [String: String], output: Int32, errors: Int32
    ) throws {
      process.executableURL = URL(filePath: command[0])
      process.arguments = Array(command.dropFirst())
      process.environment = environment
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle(fileDescriptor: output)
      process.standardError = FileHandle(fileDescriptor: errors)
      try process.run()
    }

    /// Blocks until the process has ended.
    package func waitUntilExit() -> (status: Int32, isKilled: Bool) {
      process.waitUntilExit()
      return (process.terminationStatus, process.terminationReason == .uncaughtSignal)
    }
  }
#endif
