import Locking

/// What is known about the progress of one load, sent to whoever listens.
///
/// Sources report from threads of their own. An unstructured task for each report could arrive out
/// of order, so reports go straight into the streams, under one lock.
///
/// Invariants:
/// 1. A listener added late is told the latest step first.
/// 2. After `remove`, a listener hears nothing more from here: its last event is its owner's.
package final class FlightProgress: Sendable {
  private struct State {
    var latest = ImageProgress.queued
    var listeners: [WaiterID: AsyncStream<ImageProgress>.Continuation] = [:]
  }

  private let state = Lock(State())

  package init() {}

  package func report(_ step: ImageProgress) {
    // Sent under the lock, which is what keeps two reports in order; yielding never waits.
    state.withLock { state in
      state.latest = step
      for listener in state.listeners.values { listener.yield(step) }
    }
  }

  package func add(_ listener: AsyncStream<ImageProgress>.Continuation, for waiter: WaiterID) {
    state.withLock { state in
      listener.yield(state.latest)
      state.listeners[waiter] = listener
    }
  }

  package func remove(_ waiter: WaiterID) {
    state.withLock { state in _ = state.listeners.removeValue(forKey: waiter) }
  }
}
