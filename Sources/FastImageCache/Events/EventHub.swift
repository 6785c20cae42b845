import Locking
import Synchronization

/// Sends events to any number of listeners, each with a bounded buffer of its own.
///
/// Invariants:
/// 1. `listenerCount` equals the number of listeners, so that a hit can ask with one load whether
///    anybody wants to know.
/// 2. A listener whose buffer is full loses the newest events, and the number lost stands in the
///    stream, as ``CacheEvent/skipped(_:)``, exactly where they are missing.
/// 3. A stream that nobody iterates any more is not among the listeners.
package final class EventHub: Sendable {
  fileprivate struct Listener {
    let continuation: AsyncStream<CacheEvent>.Continuation
    var skipped = 0
  }

  private enum Item {
    /// For the listeners up to a number: those who come later hear of what comes later.
    case event(CacheEvent, upTo: Int)
    case end
  }

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var isFinished = false
    var unsaid = Unsaid<Item>()
  }

  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)

  package init() {}

  deinit {
    // Nobody can send any more, so nobody speaks and all that was sent has been said.
    for listener in state.withLock({ $0.listeners.values }) { listener.continuation.finish() }
  }

  /// Whether anybody listens; costs one relaxed load.
  package var hasListeners: Bool { listenerCount.load(ordering: .relaxed) != 0 }

  /// Tells every listener, without waiting for any.
  package func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners else { return }
    let event = event()
    state.withLock { $0.unsaid.append(.event(event, upTo: $0.lastNumber)) }
    speak()
  }

  /// A new stream of what happens from now on, which keeps the oldest `bufferSize` unread events.
  package func makeStream(bufferSize: Int) -> AsyncStream<CacheEvent> {
    let (stream, continuation) = AsyncStream<CacheEvent>.makeStream(
      bufferingPolicy: .bufferingOldest(bufferSize))
    let number = state.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = Listener(continuation: continuation)
      listenerCount.store(state.listeners.count, ordering: .relaxed)
      return state.lastNumber
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    // Set last: a stream that ends before this line calls the handler at once.
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  /// Ends all streams, after what was sent before; those made later end at once.
  package func finish() {
    state.withLock { state in
      state.isFinished = true
      state.unsaid.append(.end)
    }
    speak()
  }

  /// Says what is queued, unless another thread is doing so.
  private func speak() {
    var isSpeaking = false
    while let (item, listeners) = nextItem(isSpeaking) {
      isSpeaking = true
      for (number, listener) in listeners {
        switch item {
        case .event(let event, let limit) where number <= limit: tell(listener, number, event)
        case .event: break
        case .end: listener.continuation.finish()
        }
      }
    }
  }

  private func nextItem(_ isSpeaking: Bool) -> (Item, [Int: Listener])? {
    state.withLock { state in
      state.unsaid.next(isSpeaking: isSpeaking).map { ($0, state.listeners) }
    }
  }

  /// Called by the one thread that speaks, so that nobody else counts what this listener lost.
  private func tell(_ listener: Listener, _ number: Int, _ event: CacheEvent) {
    var told = listener
    told.send(event)
    guard told.skipped != listener.skipped else { return }
    state.withLock { $0.listeners[number]?.skipped = told.skipped }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      listenerCount.store(state.listeners.count, ordering: .relaxed)
    }
  }
}

extension EventHub.Listener {
  fileprivate mutating func send(_ event: CacheEvent) {
    if skipped > 0 {
      guard case .enqueued = continuation.yield(.skipped(skipped)) else {
        skipped += 1
        return
      }
      skipped = 0
    }
    if case .dropped = continuation.yield(event) { skipped += 1 }
  }
}
