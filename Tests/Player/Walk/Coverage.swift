import Locking

/// How often each step met each kind of source, each option, and an oracle that read its answer.
package final class Coverage: Sendable {
  private struct State {
    var cells: [String: [String: Int]] = [:]
    var options: [String: [String: Int]] = [:]
    /// The steps of which an oracle has read an answer.
    var read: Set<String> = []
    /// The steps of which an oracle has read an answer that was false.
    var accused: Set<String> = []
  }

  private let state = Lock(State())
  /// The steps whose comparisons are taken for true.
  let deaf: Set<String>
  /// Whether each comparison of an answer is taken for false.
  let lies: Bool

  init(deaf: Set<String>, lies: Bool) { (self.deaf, self.lies) = (deaf, lies) }

  func meet(_ step: String, _ kind: String) {
    state.withLock { $0.cells[step, default: [:]][kind, default: 0] += 1 }
  }

  func meet(option: String, _ kind: String) {
    state.withLock { $0.options[option, default: [:]][kind, default: 0] += 1 }
  }

  /// What an oracle hears of a comparison.
  ///
  /// - Parameter isAnswer: Whether an answer was compared, and no error of a call that has none.
  func hears(_ isRight: Bool, of step: String, isAnswer: Bool) -> Bool {
    if deaf.contains(step) { return true }
    let isRight = isRight && !(lies && isAnswer)
    state.withLock {
      if isAnswer { $0.read.insert(step) }
      if !isRight { $0.accused.insert(step) }
    }
    return isRight
  }

  /// Whether an oracle has read an answer of a step, and, where comparisons lie, has found fault with it.
  func isRead(_ step: String) -> Bool {
    state.withLock { (lies ? $0.accused : $0.read).contains(step) }
  }

  /// A line for each step and option, a column for each kind of source.
  package func table(kinds: [String]) -> String {
    state.withLock { state in
      func lines(_ cells: [String: [String: Int]]) -> [String] {
        cells.sorted { $0.key < $1.key }.map { name, counts in
          let columns = kinds.map { kind in
            let count = counts[kind].map { "\($0)" } ?? "."
            return String(repeating: " ", count: max(1, 9 - count.count)) + count
          }
          return name + String(repeating: " ", count: max(1, 34 - name.count))
            + columns.joined()
        }
      }
      let head =
        String(repeating: " ", count: 34)
        + kinds.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
      let reasons = Step.emptyCells.map { cells in
        "\(cells.names.joined(separator: ", ")) × \(cells.kinds.joined(separator: ", ")): \(cells.reason)"
      }
      return
        ([head] + lines(state.cells) + [""] + lines(state.options) + ["", "Left out:"] + reasons
        + Step.leftOut).joined(separator: "\n")
    }
  }
}
