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
struct RequestWait: Sendable {
  /// The flights of the waiter's cache that go on only after the waiter has its answer; it must not join
  /// them.
  let dependents: [Flight]
  /// These and the flights of other caches. Each returns its permit, also where the caches share no
  /// gates: through a third cache its place may still be what the waiter's flight waits for.
  private let asking: [Flight]
  private let chosen: Priority
  /// `nil` as a rule: the waiter has the priority of its task.
  private let urgency: Urgency?
  private let observation: Urgency.Observation?

  /// - Parameter priority: That of the task that makes the request, or another one that was chosen for it.
  init(
    of waiter: WaiterID, for request: ImageRequest, _ priority: Priority,
    in registry: InFlightRegistry
  ) {
    asking = request.contexts.compactMap(\.flight)
    dependents = asking.filter { $0.registry === registry }
    chosen = priority
    // A priority other than the task's own was chosen for the request, and stays.
    urgency =
      request.options?.priority?.urgency
      ?? asking.last.flatMap { $0.taskPriority == priority ? $0.urgency : nil }
    observation = urgency.map { urgency in
      urgency.observe { registry.follow(waiter, urgency) }
    }
    for flight in asking { flight.permit.beginWait() }
  }

  /// Whether ``end()`` does nothing.
  var isPlain: Bool { asking.isEmpty && observation == nil }

  var priority: Priority { urgency?.priority ?? chosen }

  /// To be called once, before the answer is given.
  func end() {
    if let observation { urgency?.endObservation(observation) }
    for flight in asking { flight.permit.endWait() }
  }
}

extension InFlightRegistry.Waiter {
  /// The same waiter; `wait` ends with its answer.
  func ending(_ wait: RequestWait) -> InFlightRegistry.Waiter {
    if wait.isPlain { return self }
    return InFlightRegistry.Waiter { (outcome: consuming InFlightRegistry.Outcome, facts) in
      wait.end()
      answer(outcome, facts)
    }
  }
}
