import Locking

/// The permit of a gate that one load holds, if any. Copies are the same permit.
///
/// A load that waits for another load returns its permit, since the other load may need it. It goes on
/// without a permit afterwards: the gate does not count the bytes that it holds.
///
/// A load may wait for its first permit before it has a task: ``queue(at:then:)``. Nothing else uses the permit
/// then.
///
/// Invariants:
/// 1. A load holds at most one permit, and none while it waits at a gate. So loads never wait for each
///    other's permits in a ring.
/// 2. Each call that changes something takes a new `turn`. A permit that is granted for an earlier
///    turn is returned at once: the later call decides.
/// 3. Once `isClosed`, the load is over: it holds no permit, and returns a permit that comes later.
/// 4. `waitCount` counts the other loads that this one waits for. While it is not 0 the load holds no
///    permit, even if another of its tasks passes a gate meanwhile.
struct LoadPermit: Sendable {
  private struct Held {
    let gate: LoadGate
    let need: LoadNeed
    let id: Admission.JobID

    func giveBack() { gate.leave(id) }
  }

  private struct State {
    var held: Held?
    var need: LoadNeed?
    var turn = 0
    var waitCount = 0
    var isClosed = false
    /// The wait without a task, until it ends.
    var queued: Queued?
    /// Whether no wait without a task goes on.
    var isWithdrawn = false
  }

  private struct Queued {
    let place: AdmissionQueue.Place
    let observation: Urgency.Observation
  }

  private let gates: LoadGates
  private let urgency: Urgency
  private let state = Lock(State())

  init(gates: LoadGates, urgency: Urgency) {
    self.gates = gates
    self.urgency = urgency
  }

  /// The need of the gate that the load passed last, whether or not it holds a permit still.
  var need: LoadNeed? { state.withLock { $0.need } }

  /// Returns the permit of another gate, if the load holds one, and waits at the gate of `need`; does
  /// nothing if the load is inside that gate already. A load that waits for another load waits here for
  /// its turn as well, and then goes on without a permit.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or if the load is over.
  func pass(_ need: LoadNeed) async throws {
    let (turn, former) = try state.withLock { state -> (Int?, Held?) in
      if state.isClosed { throw CancellationError() }
      state.need = need
      if state.held?.need == need { return (nil, nil) }
      state.turn += 1
      return (state.turn, state.held.take())
    }
    former?.giveBack()
    guard let turn else { return }
    let gate = gates[need]
    let permit = Held(gate: gate, need: need, id: try await gate.enter(urgency))
    let (isKept, isClosed) = state.withLock { state in
      let isKept = state.turn == turn && state.waitCount == 0
      if isKept { state.held = permit }
      return (isKept, state.isClosed)
    }
    if !isKept { permit.giveBack() }
    if isClosed { throw CancellationError() }
  }

  /// Waits at the gate of `need` without a task, before the load's first permit.
  ///
  /// - Parameter end: Called with the answer if that is not there at once; ``endQueuing(_:)`` makes the permit of it.
  /// - Returns: The answer if it is there at once, as good for ``endQueuing(_:)``.
  func queue(
    at need: LoadNeed, then end: @escaping AdmissionQueue.Reply
  ) -> AdmissionQueue.Answer? {
    let place = gates[need].makePlace(urgency)
    let queued = Queued(place: place, observation: urgency.observe { place.followUrgency() })
    // Before the load can be let in: its place ends with the answer.
    let isWithdrawn = state.withLock { state in
      (state.need, state.queued) = (need, queued)
      return state.isWithdrawn
    }
    if isWithdrawn { place.cancel() }
    return place.enter(reply: end)
  }

  /// Ends the wait without a task.
  ///
  /// - Returns: Whether the load was let in, and not withdrawn.
  func endQueuing(_ answer: AdmissionQueue.Answer) -> Bool {
    let queued = state.withLock { state in
      if case .admitted(let id, _) = answer, let need = state.need {
        state.held = Held(gate: gates[need], need: need, id: id)
      }
      return state.queued.take()
    }
    if let queued { urgency.endObservation(queued.observation) }
    if case .admitted = answer { return true }
    return false
  }

  /// Ends the wait without a task, if there is one, and one that begins later at once.
  func withdraw() {
    let queued = state.withLock { state in
      state.isWithdrawn = true
      return state.queued
    }
    queued?.place.cancel()
  }

  /// Returns the permit: the load needs no gate for now.
  func giveUp() { release { _ in } }

  /// Returns the permit, since the load waits for another load until ``endWait()``.
  func beginWait() { release { $0.waitCount += 1 } }

  func endWait() { state.withLock { $0.waitCount -= 1 } }

  /// Returns the permit for good: the load is over, even if one of its tasks still waits at a gate.
  func close() { release { $0.isClosed = true } }

  private func release(_ change: (inout State) -> Void) {
    let held = state.withLock { state in
      state.turn += 1
      change(&state)
      return state.held.take()
    }
    held?.giveBack()
  }
}
