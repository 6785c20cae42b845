import Locking

/// A task's priority as a plain number.
///
/// The layout of `TaskPriority` is not known to compilers, and whatever contains one is moved and
/// copied by asking the runtime, at hundreds of instructions each time.
package struct Priority: Comparable, Hashable, Sendable {
  private let level: UInt8

  package static let background = Priority(.background)
  package static let low = Priority(.low)
  package static let medium = Priority(.medium)
  package static let high = Priority(.high)

  package init(_ priority: TaskPriority) { level = priority.rawValue }

  /// The priority of the running task.
  package static var current: Priority { Priority(Task.currentPriority) }

  package var task: TaskPriority { TaskPriority(rawValue: level) }

  package static func < (left: Priority, right: Priority) -> Bool { left.level < right.level }
}

/// How urgent one flight is, for everything that is done on its behalf; it only ever rises.
///
/// A job that waits in a ``WorkerPool`` follows its urgency, and one that is submitted later starts
/// from what it has become.
///
/// Invariants:
/// 1. `priority` never falls.
/// 2. Observers are called outside the lock and after the new priority can be read, so that they
///    see the newest value in whatever order two raises reach them.
package final class Urgency: Sendable {
  package typealias Observation = Int

  private struct State {
    var priority: Priority
    var observers: [Observation: @Sendable () -> Void] = [:]
    var observationCount = 0
  }
  private let state: Lock<State>

  package init(_ priority: Priority) {
    state = Lock(State(priority: priority))
  }

  package var priority: Priority { state.withLock { $0.priority } }

  /// Makes the flight at least this urgent, from any thread.
  package func raise(to priority: Priority) {
    let observers: [@Sendable () -> Void] = state.withLock { state in
      guard state.priority < priority else { return [] }
      state.priority = priority
      return Array(state.observers.values)
    }
    for observer in observers { observer() }
  }

  /// Has `observer` called after each rise until ``endObservation(_:)``, and perhaps once more when
  /// a rise is on its way at that moment.
  package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
    state.withLock { state in
      state.observationCount += 1
      state.observers[state.observationCount] = observer
      return state.observationCount
    }
  }

  package func endObservation(_ observation: Observation) {
    state.withLock { $0.observers[observation] = nil }
  }
}
