import Locking

/// What one load holds of the gates: the permit of one of them, or none.
///
/// A load that waits for another one returns its permit, since the other may be waiting for just
/// that, and goes on without: it holds its bytes besides those that the gate counts.
///
/// Invariants:
/// 1. A load holds at most one permit, and none while it waits at a gate. So loads never wait for each
///    other's permits in a ring.
/// 2. `turn` changes with every call that has something to do. A permit that is granted for an
///    earlier turn is returned at once: the later call decided.
/// 3. Once `isClosed`, the load is over: nothing is held and nothing is kept.
/// 4. Nothing is held while `waitCount`, the other loads that this one waits for, is not 0, even if
///    another of its tasks passes a gate meanwhile.
final class LoadPermit: Sendable {
  private struct Held {
    let gate: LoadGate
    let need: LoadNeed
    let id: Admission.JobID

    func giveBack() { gate.leave(id) }
  }

  private struct State {
    var held: Held?
    var turn = 0
    var waitCount = 0
    var isClosed = false
  }

  private let gates: LoadGates
  private let urgency: Urgency
  private let state = Lock(State())

  init(gates: LoadGates, urgency: Urgency) {
    self.gates = gates
    self.urgency = urgency
  }

  /// Returns the permit of another gate, if there is one, and waits at the gate of `need`; does
  /// nothing if its permit is held already. A load that waits for another one waits for its turn, too,
  /// and then goes on without a permit.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or if the load is over.
  func pass(_ need: LoadNeed) async throws {
    let (turn, former) = try state.withLock { state -> (Int?, Held?) in
      if state.isClosed { throw CancellationError() }
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

  /// Lets others pass: the load needs nothing of the gate for now.
  func giveUp() { release { _ in } }

  /// Lets others pass, since the load waits for one of them until ``endWait()``.
  func beginWait() { release { $0.waitCount += 1 } }

  func endWait() { state.withLock { $0.waitCount -= 1 } }

  /// Ends all: the load is over, even if somebody still waits on its behalf.
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
