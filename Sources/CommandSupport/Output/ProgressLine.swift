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
  ///
  /// - Parameters:
  ///   - fraction: The part of the work that is done, from 0 to 1; by default as `done` says.
  ///   - detail: Stands behind the numbers.
  package func update(_ done: Int, fraction: Double? = nil, detail: String = "") {
    let fraction = fraction ?? (total > 0 ? Double(done) / Double(total) : 1)
    let count = "\(done) of \(total)\(detail)"
    let text = isTerminal ? "\(label) \(bar(fraction)) \(count)" : "\(label): \(count)"
    let quarter = Int(fraction * 4)
    let isNews = state.withLock { state in
      guard state.shown != text, isTerminal || quarter > state.quarter else { return false }
      state.shown = text
      state.quarter = quarter
      return true
    }
    if isNews { write(text) }
  }

  /// Takes the line off the terminal, for other output; the next update draws it again.
  package func end() {
    guard isTerminal else { return }
    state.withLock { $0.shown = "" }
    write("")
  }

  private func bar(_ fraction: Double) -> String {
    let width = 30
    let filled = min(max(Int(fraction * Double(width)), 0), width)
    return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
  }
}
