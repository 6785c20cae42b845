import Locking

/// Sees that each call ends.
///
/// Nothing that the world does on purpose takes longer than a second.
final class Watch: Sendable {
  private struct Call {
    let step: String
    let name: String
    let begin: ContinuousClock.Instant
    var isReported = false
  }

  private let limit: Duration
  private let calls = Lock<(next: Int, running: [Int: Call])>((0, [:]))

  init(limit: Duration) { self.limit = limit }

  func begin(_ name: String, of step: String) -> Int {
    calls.withLock {
      $0.next += 1
      $0.running[$0.next] = Call(step: step, name: name, begin: .now)
      return $0.next
    }
  }

  func end(_ id: Int) { calls.withLock { $0.running[id] = nil } }

  var runningNames: [String] { calls.withLock { $0.running.values.map(\.name).sorted() } }

  /// The calls that run for too long, each once.
  func overdue() -> [String] {
    calls.withLock { state in
      var late: [String] = []
      for (id, call) in state.running where !call.isReported && .now - call.begin > limit {
        state.running[id]?.isReported = true
        late.append("\(call.step): \(call.name)")
      }
      return late
    }
  }
}
