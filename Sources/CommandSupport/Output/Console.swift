package import Foundation
import Synchronization

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

  /// Why standard output did not take a result; `nil` where it took all, or the reader of a pipe had enough.
  static var lostResults: String? {
    let code = lostResultsCode.load(ordering: .relaxed)
    return code == 0 ? nil : text(ofSystemError: code)
  }

  package static func text(ofSystemError code: Int32) -> String {
    code == ENOSPC || code == EDQUOT ? "the disk is full" : String(cString: strerror(code))
  }

  private static let lostResultsCode = Atomic<Int32>(0)

  /// Prints a result.
  package static func print(_ text: String) { print(Data((text + "\n").utf8)) }

  /// Writes a result as it is.
  package static func print(_ data: Data) {
    do { try FileHandle.standardOutput.write(contentsOf: data) } catch {
      // A closed pipe must not end the process: it still has to clean up.
      let reason = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
      let code = reason.flatMap { Int32(exactly: $0.code) } ?? EIO
      if code != EPIPE { lostResultsCode.store(code, ordering: .relaxed) }
    }
  }

  /// Prints a line about the work, not its result.
  package static func note(_ text: String) { tell(text + "\n") }

  /// Draws over the current line of a terminal.
  static func redraw(_ line: String) { tell("\r\u{1b}[K" + line) }

  private static func tell(_ text: String) {
    // A failure of standard error can be told nowhere.
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }
}
