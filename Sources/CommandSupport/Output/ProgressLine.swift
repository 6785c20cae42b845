import Locking

/// Progress of a piece of work: a bar on a terminal, a few lines in a pipe.
///
/// Invariants:
/// 1. A terminal's line is redrawn only when its text changes, so that drawing takes no time from
///    the work.
/// 2. A pipe gets a line at the beginning and after each further quarter, and never the same line
///    twice.
package final class ProgressLine: Sendable {
  private struct State {
    var shown = ""
    var quarter = -1
  }

  private let label: String
  private let total: Int
  private let isTerminal: Bool
  private let write: @Sendable (String) -> Void
  private let state = Lock(State())

  package convenience init(_ label: String, total: Int) {
    let isTerminal = Console.isWatched
    self.init(label, total: total, isTerminal: isTerminal) { text in
      if isTerminal { Console.redraw(text) } else { Console.note(text) }
    }
  }

  /// - Parameter write: Receives the text of the line, which replaces the former one on a terminal.
  package init(
    _ label: String, total: Int, isTerminal: Bool, write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    self.total = total
    self.isTerminal = isTerminal
    self.write = write
  }

  /// Reports that `done` of the total are done.
  package func update(_ done: Int) {
    let text = isTerminal ? bar(done) : "\(label): \(done) of \(total)"
    let quarter = total > 0 ? done * 4 / total : 4
    let isNews = state.withLock { state in
      guard state.shown != text, isTerminal || quarter > state.quarter else { return false }
      state.shown = text
      state.quarter = quarter
      return true
    }
    if isNews { write(text) }
  }

  /// Ends the line, so that the next output starts on a new one.
  package func end() {
    if isTerminal { write("") }
  }

  private func bar(_ done: Int) -> String {
    let width = 30
    let filled = total > 0 ? min(done * width / total, width) : width
    let blocks =
      String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    return "\(label) \(blocks) \(done) of \(total)"
  }
}
