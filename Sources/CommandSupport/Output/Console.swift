import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Where a command speaks: results on standard output, everything else on standard error, so that a
/// pipe gets results only.
package enum Console {
  /// Whether somebody watches standard error.
  package static let isWatched = isatty(STDERR_FILENO) == 1

  /// Prints a result.
  package static func print(_ text: String) { write(text + "\n", to: .standardOutput) }

  /// Prints a line about the work, not its result.
  package static func note(_ text: String) { write(text + "\n", to: .standardError) }

  /// Draws over the current line of a terminal.
  static func redraw(_ line: String) { write("\r\u{1b}[K" + line, to: .standardError) }

  private static func write(_ text: String, to handle: FileHandle) {
    // A reader that has gone away is no reason to end without cleaning up.
    try? handle.write(contentsOf: Data(text.utf8))
  }
}
