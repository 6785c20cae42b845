import Locking

/// What a walk has counted and found.
package final class Finds: Sendable {
  package enum Kind: String, CaseIterable, Sendable {
    case wrongPicture = "wrong pictures"
    case hung = "calls that hung"
    case wrongCount = "wrong counts"
    case wrongAnswer = "wrong answers"
    case leftover = "left-overs"
  }

  private struct State {
    var counts: [String: Int] = [:]
    var finds: [Kind: Int] = [:]
    var lines: [String] = []
    var first: Kind?
  }

  private let state = Lock(State())
  let tell: @Sendable (String) -> Void

  /// - Parameter tell: Called with each find, the first fifty.
  package init(tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  package func count(_ name: String, _ number: Int = 1) {
    state.withLock { $0.counts[name, default: 0] += number }
  }

  func report(_ kind: Kind, _ text: String) {
    let line = "\(kind.rawValue): \(text)"
    let isNew = state.withLock { state in
      state.finds[kind, default: 0] += 1
      state.first = state.first ?? kind
      if state.lines.count < 50 { state.lines.append(line) }
      return state.lines.count < 50
    }
    if isNew { tell(line) }
  }

  package var total: Int { state.withLock { $0.finds.values.reduce(0, +) } }
  /// What the first find is.
  package var first: Kind? { state.withLock { $0.first } }
  package func value(_ name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }
  package var lines: [String] { state.withLock { $0.lines } }

  package var summary: String {
    state.withLock { state in
      let counts = state.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let finds = Kind.allCases.map { "\(state.finds[$0] ?? 0) \($0.rawValue)" }
      return (counts + finds).joined(separator: ", ")
    }
  }
}
