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
