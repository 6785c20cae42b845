import Locking

/// The progress of one load, sent to its listeners.
///
/// Sources report from threads of their own. Unstructured tasks, one for each report, could run out of
/// order, so reports go straight into the streams: queued under one lock and delivered outside it.
///
/// Invariants:
/// 1. A listener that is added late hears the latest step first.
/// 2. A listener hears nothing after `end`. A cancellation tells it nothing.
final class FlightProgress: Sendable {
  typealias Listener = StreamQueue<ImageProgress>

  private struct Step {
    let listener: Listener
    /// `nil` for an end without a last step.
    let progress: ImageProgress?
    let isLast: Bool
  }

  private struct State {
    var latest = ImageProgress.queued
    var listeners: [WaiterID: Listener] = [:]
    var outbox = Outbox<Step>()
  }

  private let state = Lock(State())

  init() {}

  func report(_ progress: ImageProgress) {
    state.withLock { state in
      state.latest = progress
      for listener in state.listeners.values {
        state.outbox.append(Step(listener: listener, progress: progress, isLast: false))
      }
    }
    flush()
  }

  /// Adds a listener, which hears nothing before the next ``flush()``. So a caller can add it under a
  /// lock and flush outside.
  func add(_ listener: Listener, for waiter: WaiterID) {
    state.withLock { state in
      state.outbox.append(Step(listener: listener, progress: state.latest, isLast: false))
      state.listeners[waiter] = listener
    }
  }

  /// Tells a listener its last step, if there is one, and ends its stream.
  ///
  /// The progress is moved all the way: when the listener has a picture, no reference to it is left
  /// here.
  func end(_ waiter: WaiterID, with progress: consuming ImageProgress?) {
    // Taken out first: later reports are not for this listener.
    let listener = state.withLock { $0.listeners.removeValue(forKey: waiter) }
    guard let listener else { return }
    let step = Step(listener: listener, progress: consume progress, isLast: true)
    enqueue(consume step)
    flush()
  }

  private func enqueue(_ step: consuming Step) {
    var step = Optional(consume step)
    state.withLock { state in
      if let step = step.take() { state.outbox.append(consume step) }
    }
  }

  /// Delivers the queued steps, unless another thread is delivering them.
  func flush() {
    var isFlushing = false
    while let step = state.withLock({ $0.outbox.next(isFlushing: isFlushing) }) {
      isFlushing = true
      Self.deliver(consume step)
    }
  }

  private static func deliver(_ step: consuming Step) {
    let (listener, isLast) = (step.listener, step.isLast)
    if let progress = (consume step).progress { listener.append(consume progress) }
    if isLast { listener.finish() }
  }
}
