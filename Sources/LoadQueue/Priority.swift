import Locking

/// The priority of the requests that hold it, to be raised and lowered from any thread.
///
/// ```swift
/// let onScreen = RequestPriority(.high)
/// var options = LoadOptions()
/// options.priority = onScreen
/// // …
/// onScreen.value = .low
/// ```
///
/// A screen gives one to all its requests, and lowers it when it disappears: what waits for a worker, at a
/// limiter or for its host is reordered at once, in every cache. What runs already goes on as it began.
///
/// A load is as urgent as the most urgent request that waits for it, so others keep it urgent that hold
/// another priority, or none.
///
/// Two are equal only if they are the same object.
public final class RequestPriority: Hashable, Sendable {
  /// Observed by the requests that wait, see ``FollowedPriority``.
  package let urgency: Urgency

  /// Creates a priority for requests to come.
  ///
  /// - Parameter level: How urgent they are at first.
  public init(_ level: TaskPriority) {
    urgency = Urgency(Priority(level))
  }

  /// How urgent the requests are that hold this priority and wait, and those that begin to wait.
  ///
  /// Cost of a change: a lock and a step of the registry for each request that waits. It calls no code of
  /// the program, but may resume a task that its request lets in: change it under no lock that a cancellation
  /// handler of the program takes. Of several changes at the same time the last one stays.
  public var value: TaskPriority {
    get { urgency.priority.task }
    set { urgency.set(Priority(newValue))?() }
  }

  /// Whether both are the same object.
  public static func == (first: RequestPriority, second: RequestPriority) -> Bool {
    first === second
  }

  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A task's priority as a plain number.
///
/// Compilers do not know the layout of `TaskPriority`: each move or copy of a value that contains one
/// asks the runtime, at hundreds of instructions.
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

  /// Whether nobody waits for the work, as for that of a prefetch.
  var isLow: Bool { self < .medium }

  package static func < (left: Priority, right: Priority) -> Bool { left.level < right.level }
}

/// The urgency of one load and of all work on its behalf; it rises and falls. Copies are the same urgency.
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
package struct Urgency: Sendable {
  package typealias Observation = Int

  // Bare closures would be wrapped anew, in memory of their own, each time that a collection takes or gives
  // one.
  private struct Observer {
    let tell: @Sendable () -> Void
  }

  private struct State {
    var priority: Priority
    /// By their observations. A load has one observer as a rule, a ``RequestPriority`` perhaps thousands.
    var observers: [Observer?] = []
    /// Observations below the last one that have ended, for later observers.
    var ended: [Observation] = []
  }
  private let state: Lock<State>

  package init(_ priority: Priority) {
    state = Lock(State(priority: priority))
  }

  package var priority: Priority { state.withLock { $0.priority } }

  /// Makes the load exactly this urgent, from any thread.
  ///
  /// - Returns: The call that tells the observers, to be made at once and outside all locks; `nil`
  ///   if nothing changed.
  package func set(_ priority: Priority) -> (@Sendable () -> Void)? {
    state.withLock { state in
      guard state.priority != priority else { return nil }
      state.priority = priority
      let observers = state.observers
      return { for observer in observers { observer?.tell() } }
    }
  }

  /// Calls `observer` after each change until ``endObservation(_:)``, and perhaps once more, for a
  /// change that is on its way at that moment.
  package func observe(_ observer: @escaping @Sendable () -> Void) -> Observation {
    state.withLock { state in
      if let place = state.ended.popLast() {
        state.observers[place] = Observer(tell: observer)
        return place
      }
      state.observers.append(Observer(tell: observer))
      return state.observers.endIndex - 1
    }
  }

  /// To be called once for each observation.
  package func endObservation(_ observation: Observation) {
    // Released outside the lock.
    let observer = state.withLock { state in
      let observer = state.observers[observation]
      if observation == state.observers.endIndex - 1 {
        state.observers.remove(at: observation)
      } else {
        state.observers[observation] = nil
        state.ended.append(observation)
      }
      return observer
    }
    withExtendedLifetime(observer) {}
  }
}
