import Locking

/// A task's priority as a plain number.
///
/// Compilers do not know the layout of `TaskPriority`: each move or copy of a value that contains one
/// asks the runtime, at hundreds of instructions.
struct Priority: Comparable, Hashable, Sendable {
  private let level: UInt8

  static let background = Priority(.background)
  static let low = Priority(.low)
  static let medium = Priority(.medium)
  static let high = Priority(.high)

  init(_ priority: TaskPriority) { level = priority.rawValue }

  /// The priority of the running task.
  static var current: Priority { Priority(Task.currentPriority) }

  var task: TaskPriority { TaskPriority(rawValue: level) }

  /// Whether nobody waits for the work, as for that of a prefetch.
  var isLow: Bool { self < .medium }

  static func < (left: Priority, right: Priority) -> Bool { left.level < right.level }
}

/// The urgency of one flight and of all work on its behalf; it rises and falls.
///
/// A job that waits in an ``AdmissionQueue`` follows its urgency; a later job starts from the
/// priority that the urgency has by then.
///
/// Invariants:
/// 1. The lock is a leaf: no code under it takes another lock. So ``set(_:)`` may be called under the
///    lock of the decision, and priorities are set in the order of the decisions.
/// 2. After a change every observer is called, outside all locks, perhaps later than the observers of
///    the next change. So an observer reads ``priority`` under the lock of the queue that it orders:
///    the last observer there has read the newest priority.
final class Urgency: Sendable {
  typealias Observation = Int

  private struct State {
    var priority: Priority
    var observers: [Observation: @Sendable () -> Void] = [:]
    var observationCount = 0
  }
  private let state: Lock<State>

  init(_ priority: Priority) {
    state = Lock(State(priority: priority))
  }

  var priority: Priority { state.withLock { $0.priority } }

  /// Makes the flight exactly this urgent, from any thread.
  ///
  /// - Returns: The call that tells the observers, to be made at once and outside all locks; `nil`
  ///   if nothing changed.
  func set(_ priority: Priority) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.priority != priority else { return nil }
      state.priority = priority
      let observers = state.observers.values
      return { for observer in observers { observer() } }
    }
  }

  /// Calls `observer` after each change until ``endObservation(_:)``, and perhaps once more, for a
  /// change that is on its way at that moment.
  func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
    state.withLock { state in
      state.observationCount += 1
      state.observers[state.observationCount] = observer
      return state.observationCount
    }
  }

  func endObservation(_ observation: Observation) {
    state.withLock { $0.observers[observation] = nil }
  }
}
