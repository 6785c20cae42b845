import LoadQueue
import Synchronization

/// Keeps a subscriber as urgent as the ``RequestPriority`` of its request or, without one, as the load whose entity or
/// source asks.
///
/// Invariants:
/// 1. An urgency is observed only while the subscriber is in the registry, and for the moments in which it joins and is
///    answered. So a ``RequestPriority`` knows no request that is over, and keeps no cache.
/// 2. The observation begins before the subscriber joins, and ``priority`` is read under the registry's lock. So a
///    change is seen by the join, or finds the subscriber.
final class FollowedPriority: Sendable {
  private let urgency: Urgency
  private let observation = Atomic<Urgency.Observation>(0)

  /// - Parameter priority: That of the task that makes the request, or another one that was chosen for it.
  /// - Returns: `nil` where the subscriber keeps that priority.
  static func begin(
    _ request: ImageRequest, _ priority: Priority, in registry: InFlightRegistry
  ) -> FollowedPriority? {
    // A priority other than the task's own was chosen for the request, and stays.
    let asking = request.callback?.load.flatMap { $0.taskPriority == priority ? $0.urgency : nil }
    guard let urgency = request.priority?.urgency ?? asking else { return nil }
    return FollowedPriority(urgency, of: request.subscriber, in: registry)
  }

  private init(_ urgency: Urgency, of subscriber: SubscriberID, in registry: InFlightRegistry) {
    self.urgency = urgency
    let observation = urgency.observe { registry.follow(subscriber, urgency) }
    self.observation.store(observation, ordering: .relaxed)
  }

  var priority: Priority { urgency.priority }

  /// To be called once.
  func end() { urgency.endObservation(observation.load(ordering: .relaxed)) }
}

/// Tells of tasks whose priority rises while they wait.
enum Escalation {
  /// Runs `operation`, and calls `handler` with each higher priority that the task gets meanwhile,
  /// on the thread that raises it; earlier Apple systems than those named here do not tell.
  ///
  /// The task's own lock is held then, as in a cancellation handler.
  nonisolated(nonsending) static func following<Value>(
    _ operation: nonisolated(nonsending) () async -> Value,
    onEscalation handler: @Sendable (Priority) -> Void
  ) async -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await operation()
    }
    return await withTaskPriorityEscalationHandler(operation: operation) { handler(Priority($1)) }
  }
}
