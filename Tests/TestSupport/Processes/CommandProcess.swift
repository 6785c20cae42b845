package import Foundation
import Locking

/// The built command as a child process, as people run it.
package struct CommandProcess {
  package struct Outcome {
    package let status: Int32
    /// Whether a signal ended it.
    package let isKilled: Bool
    package let output: String
    package let errors: String

    package var json: [String: Any]? {
      (try? JSONSerialization.jsonObject(with: Data(output.utf8))) as? [String: Any]
    }
  }

  private let command: [String]
  private let environment: [String: String]
  private let output: URL

  /// - Parameters:
  ///   - temporaryFolder: The folder for temporary files of the command, and for its output.
  ///   - preparation: Shell code that runs before the shell becomes the command.
  package init(
    _ arguments: [String], temporaryFolder: URL, preparation: String? = nil
  ) throws {
    output = temporaryFolder.appending(path: ".output-\(UUID().uuidString)")
    try Data().write(to: output)
    let executable = try Self.executable().path
    if let preparation {
      command =
        ["/bin/sh", "-c", "\(preparation); exec \"$0\" \"$@\"", executable] + arguments
    } else {
      command = [executable] + arguments
    }
    environment = ProcessInfo.processInfo.environment.merging(
      ["TMPDIR": temporaryFolder.path]
    ) { $1 }
  }

  /// Runs the command to its end.
  ///
  /// - Parameter react: Receives the process and all of its error output each time that there is
  ///   more, on a thread of its own.
  package func run(
    _ react: @escaping @Sendable (_ child: Int32, _ errors: String) -> Void = { _, _ in }
  ) async throws -> Outcome {
    let (errors, written) = (Pipe(), try FileHandle(forWritingTo: output))
    let process = try SpawnedProcess(
      command, environment: environment, output: written.fileDescriptor,
      errors: errors.fileHandleForWriting.fileDescriptor)
    try written.close()
    // The child's is the last writing end: reading ends with it.
    try errors.fileHandleForWriting.close()
    let (text, ending) = await withCheckedContinuation { continuation in
      // Reading blocks, which threads of the concurrency pool must not.
      Thread.detachNewThread {
        var text = ""
        while true {
          let data = errors.fileHandleForReading.availableData
          if data.isEmpty { break }
          text += String(decoding: data, as: UTF8.self)
          react(process.number, text)
        }
        continuation.resume(returning: (text, process.waitUntilExit()))
      }
    }
    return Outcome(
      status: ending.status, isKilled: ending.isKilled,
      output: try String(contentsOf: output, encoding: .utf8), errors: text)
  }

  /// Runs the command to its end, and sends it one signal at its first words; a second signal may
  /// have another effect.
  package func run(sending signal: Int32, after text: String) async throws -> Outcome {
    let isSent = Lock(false)
    return try await run { child, errors in
      let isTime = isSent.withLock { isSent in
        guard !isSent, errors.contains(text) else { return false }
        isSent = true
        return true
      }
      if isTime { kill(child, signal) }
    }
  }

  package static func run(
    _ arguments: String..., in folder: URL
  ) async throws -> Outcome {
    try await CommandProcess(arguments, temporaryFolder: folder).run()
  }

  /// The command is built beside the tests.
  private static func executable() throws -> URL {
    let name = "imagecache"
    let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
    let own = URL(filePath: CommandLine.arguments[0])
    let folders = (bundles + [own]).map { $0.deletingLastPathComponent() } + [Bundle.main.bundleURL]
    let candidates = folders.map { $0.appending(path: name) }
    guard
      let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
    else { throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name]) }
    return found
  }
}
