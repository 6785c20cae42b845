import Locking

/// A task's priority as a plain number.
///
/// The layout of `TaskPriority` is not known to compilers, and whatever contains one is moved and
/// copied by asking the runtime, at hundreds of instructions each time.
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

  static func < (left: Priority, right: Priority) -> Bool { left.level < right.level }
}

/// How urgent one flight is, for everything that is done on its behalf; it rises and falls.
///
/// A job that waits in a ``WorkerPool`` or at a ``LoadGate`` follows its urgency, and one that comes
/// later starts from what the urgency has become.
///
/// Invariants:
/// 1. The lock is a leaf: nothing is called under it. So ``set(_:)`` may be called under the lock
///    that the decision was made under, and the values are set in the order of the decisions.
/// 2. After a change every observer is called, outside all locks, perhaps later than an observer of
///    the next change. So an observer applies ``priority`` as it reads it under the lock of whatever
///    it orders: the last one to do so has read the newest value.
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

  /// Has `observer` called after each change until ``endObservation(_:)``, and perhaps once more when
  /// a change is on its way at that moment.
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
