import Foundation

/// The exit status of a command.
package enum ExitStatus: Int32, Sendable {
  case success = 0

  /// The call was right, but the work failed: damage found, an image not decoded.
  case failure = 1

  /// The call itself cannot be carried out as it stands.
  case usage = 2

  /// 128 and the number of SIGINT, as shells report it.
  case interrupted = 130

  /// Ends the process, and calls no success what lost its results.
  package func end() -> Never {
    guard self == .success, let reason = Console.lostResults else { exit(rawValue) }
    let program = ProcessInfo.processInfo.processName
    Console.note("\(program): Not all results could be written to standard output: \(reason).")
    exit(Self.failure.rawValue)
  }
}
