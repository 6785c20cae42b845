import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Output of a command: results on standard output, everything else on standard error, so that a
/// pipe gets results only.
package enum Console {
  /// Whether standard error is a terminal.
  package static let isWatched = isatty(STDERR_FILENO) == 1

  /// Prints a result.
  package static func print(_ text: String) { write(text + "\n", to: .standardOutput) }

  /// Prints a line about the work, not its result.
  package static func note(_ text: String) { write(text + "\n", to: .standardError) }

  /// Draws over the current line of a terminal.
  static func redraw(_ line: String) { write("\r\u{1b}[K" + line, to: .standardError) }

  private static func write(_ text: String, to handle: FileHandle) {
    // A closed pipe must not end the process: it still has to clean up.
    try? handle.write(contentsOf: Data(text.utf8))
  }
}
