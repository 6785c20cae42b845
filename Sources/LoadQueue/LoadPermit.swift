import Locking

/// The permit of a limiter that one load holds, if any. Copies are the same permit.
///
/// A load that waits for another load returns its permit, since the other load may need it. It goes on
/// without a permit afterwards: the limiter does not count the bytes that it holds.
///
/// Invariants:
/// 1. A load holds at most one permit, and none while it waits at a limiter. So loads never wait for each
///    other's permits in a cycle.
/// 2. Each call that changes something takes a new `turn`. A permit that is granted for an earlier
///    turn is returned at once: the later call decides.
/// 3. Once `isClosed`, the load is over: it holds no permit, and returns a permit that comes later.
/// 4. `waitCount` counts the other loads that this one waits for. While it is not 0 the load holds no
///    permit, even if another of its tasks passes a limiter meanwhile.
package struct LoadPermit: Sendable {
  private struct Held {
    let limiter: AdmissionQueue
    let need: LoadNeed
    let id: Admission.JobID

    func giveBack() { limiter.finish(id) }
  }

  private struct State {
    var held: Held?
    var need: LoadNeed?
    var turn = 0
    var waitCount = 0
    var isClosed = false
  }

  private let resources: LoadResources
  private let urgency: Urgency
  private let state = Lock(State())

  package init(_ resources: LoadResources, urgency: Urgency) {
    (self.resources, self.urgency) = (resources, urgency)
  }

  /// The need of the limiter that the load passed last, whether or not it holds a permit still.
  package var need: LoadNeed? { state.withLock { $0.need } }

  /// Returns the permit of another limiter, if the load holds one, and waits at the limiter of `need`; does
  /// nothing if the load is inside that limiter already. A load that waits for another load waits here for
  /// its turn as well, and then goes on without a permit.
  ///
  /// - Throws: `CancellationError` when the task is cancelled while it waits, or if the load is over.
  package func pass(_ need: LoadNeed) async throws {
    let (turn, former) = try state.withLock { state -> (Int?, Held?) in
      if state.isClosed { throw CancellationError() }
      state.need = need
      if state.held?.need == need { return (nil, nil) }
      state.turn += 1
      return (state.turn, state.held.take())
    }
    former?.giveBack()
    guard let turn else { return }
    let limiter = resources[need]
    let permit = Held(limiter: limiter, need: need, id: try await limiter.enter(urgency))
    let (isKept, isClosed) = state.withLock { state in
      let isKept = state.turn == turn && state.waitCount == 0
      if isKept { state.held = permit }
      return (isKept, state.isClosed)
    }
    if !isKept { permit.giveBack() }
    if isClosed { throw CancellationError() }
  }

  /// Returns the permit: the load needs no limiter for now.
  package func giveUp() { release { _ in } }

  /// Returns the permit, since the load waits for another load until ``endWait()``.
  package func beginWait() { release { $0.waitCount += 1 } }

  package func endWait() { state.withLock { $0.waitCount -= 1 } }

  /// Returns the permit for good: the load is over, even if one of its tasks still waits at a limiter.
  package func close() { release { $0.isClosed = true } }

  private func release(_ change: (inout State) -> Void) {
    let held = state.withLock { state in
      state.turn += 1
      change(&state)
      return state.held.take()
    }
    held?.giveBack()
  }
}
