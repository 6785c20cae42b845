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

  private struct State {
    var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var isFinished = false
  }

  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)

  package init() {}

  /// Whether anybody listens; costs one relaxed load.
  package var hasListeners: Bool { listenerCount.load(ordering: .relaxed) != 0 }

  /// Tells every listener, without waiting for any.
  package func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners else { return }
    let event = event()
    state.withLock { state in
      for number in state.listeners.keys { state.listeners[number]?.send(event) }
    }
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

  /// Ends all streams; those made later end at once.
  package func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer {
        state.listeners = [:]
        listenerCount.store(0, ordering: .relaxed)
      }
      return Array(state.listeners.values)
    }
    // Outside the lock: ending a stream calls its termination handler, which takes the lock.
    for listener in listeners { listener.continuation.finish() }
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
