import CommandSupport
import Locking

/// The counts of a method, and the faults that it found.
final class Findings: Sendable {
  enum Fault: String, CaseIterable, Sendable {
    case wrongImage = "wrong images"
    case lostEntry = "covered entries lost"
    case undead = "removed images back"
    case crash = "crashes"
    case other = "other faults"
  }

  private struct State {
    var counts: [(name: String, value: Int)] = []
    var faults: [Fault: Int] = [:]
  }

  /// Beyond these, faults are counted only.
  private static let reportedCount = 12

  private let method: String
  private let seed: UInt64
  private let isQuiet: Bool
  private let state = Lock(State())

  /// - Parameter isQuiet: for runs with a planted fault, which must find it.
  init(_ method: String, seed: UInt64, isQuiet: Bool = false) {
    self.method = method
    self.seed = seed
    self.isQuiet = isQuiet
  }

  func count(_ name: String, _ number: Int = 1) {
    state.withLock { state in
      if let index = state.counts.firstIndex(where: { $0.name == name }) {
        state.counts[index].value += number
      } else {
        state.counts.append((name, number))
      }
    }
  }

  func value(_ name: String) -> Int {
    state.withLock { state in state.counts.first { $0.name == name }?.value ?? 0 }
  }

  func report(_ fault: Fault, _ description: @autoclosure () -> String) {
    let isNew = state.withLock { state in
      state.faults[fault, default: 0] += 1
      return state.faults.values.reduce(0, +) <= Self.reportedCount
    }
    if isNew, !isQuiet { Console.note("\(method): \(fault.rawValue): \(description())") }
  }

  /// Faults that a planted cause must show: images, entries and removals.
  var faultCount: Int { state.withLock { $0.faults.values.reduce(0, +) } }

  func faultCount(_ fault: Fault) -> Int { state.withLock { $0.faults[fault] ?? 0 } }

  /// One line: the counts, the faults, and the seed that repeats the run.
  var summary: String {
    state.withLock { state in
      let done = state.counts.map { "\($0.value) \($0.name)" }
      let found = Fault.allCases.map { "\(state.faults[$0] ?? 0) \($0.rawValue)" }
      return "\(method): " + (done + found).joined(separator: ", ") + "; seed \(seed)"
    }
  }
}
