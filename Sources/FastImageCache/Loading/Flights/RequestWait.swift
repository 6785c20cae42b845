import Synchronization

/// The wait for a request's picture: what its waiter's priority follows, and which loads it holds up.
///
/// Until it ends, the flights that depend on it hold no permit. Its waiter is as urgent as the request's
/// ``LoadPriority``; without one, a nested request's is as urgent as the flight that asked.
///
/// Invariants:
/// 1. The wait observes an urgency only while its waiter is on the board, and for the moments in which
///    it joins and is answered. So a ``LoadPriority`` knows no request that is over, and keeps no cache.
/// 2. It observes before its waiter joins, and ``priority`` is read under the board's lock. So a change is
///    seen by the join, or finds the waiter.
/// An object, since its observation ends in the answer: a copy there would take memory of its own.
final class RequestWait: Sendable {
  /// The flights, of whichever cache, that go on only after the waiter has its answer. Each returns its permit, also
  /// where the caches share no gates: through a third cache its place may still be what the waiter's flight waits for.
  private let asking: [Flight]
  private let waiter: WaiterID
  private let registry: InFlightRegistry
  private let chosen: Priority
  /// `nil` where the waiter has the priority of its task.
  private let urgency: Urgency?
  private let observation = Atomic<Urgency.Observation>(0)

  private init(
    of waiter: WaiterID, _ asking: [Flight], _ chosen: Priority, _ urgency: Urgency?,
    in registry: InFlightRegistry
  ) {
    (self.waiter, self.registry) = (waiter, registry)
    (self.asking, self.chosen, self.urgency) = (asking, chosen, urgency)
  }

  /// Begins a wait; `nil` as a rule, where nothing is followed and no load held up.
  ///
  /// - Parameter priority: That of the task that makes the request, or another one that was chosen for it.
  static func begin(
    of waiter: WaiterID, for request: ImageRequest, _ priority: Priority,
    in registry: InFlightRegistry
  ) -> RequestWait? {
    let asking = request.contexts.compactMap(\.flight)
    // A priority other than the task's own was chosen for the request, and stays.
    let urgency =
      request.priority?.urgency
      ?? asking.last.flatMap { $0.taskPriority == priority ? $0.urgency : nil }
    if urgency == nil, asking.isEmpty { return nil }
    let wait = RequestWait(of: waiter, asking, priority, urgency, in: registry)
    if let urgency {
      // A closure around one object takes no memory of its own.
      let observation = urgency.observe { wait.follow() }
      wait.observation.store(observation, ordering: .relaxed)
    }
    for flight in asking { flight.permit.beginWait() }
    return wait
  }

  private func follow() {
    if let urgency { registry.follow(waiter, urgency) }
  }

  /// The number of the youngest of these flights; the waiter joins younger ones only.
  var youngestAsker: Int { asking.map(\.id.number).max() ?? -1 }

  var priority: Priority { urgency?.priority ?? chosen }

  /// To be called once, before the answer is given.
  func end() {
    urgency?.endObservation(observation.load(ordering: .relaxed))
    for flight in asking { flight.permit.endWait() }
  }
}
