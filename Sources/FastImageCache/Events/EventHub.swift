import Locking
import Synchronization

/// Sends events to any number of listeners, each with a bounded queue of its own.
///
/// Invariants:
/// 1. `listenerCount` equals the number of listeners, so that a hit learns with one atomic load whether
///    there are any.
/// 2. A listener whose queue is full loses the newest events, and the number lost stands in the
///    stream, as ``CacheEvent/skipped(_:)``, exactly where they are missing.
/// 3. A stream that can no longer be iterated is not among the listeners.
final class EventHub: Sendable {
  private enum Item {
    /// For the listeners up to a number: later listeners hear of later events only.
    case event(CacheEvent, upTo: Int)
    case end
  }

  private struct State {
    var listeners: [Int: StreamQueue<CacheEvent>] = [:]
    var lastNumber = 0
    var isFinished = false
    var outbox = Outbox<Item>()
  }

  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)

  init() {}

  deinit {
    // No thread can send any more, so no thread is delivering, and all events have been delivered.
    for queue in state.withLock({ $0.listeners.values }) { queue.finish() }
  }

  /// Whether there are listeners; costs one relaxed load.
  var hasListeners: Bool { listenerCount.load(ordering: .relaxed) != 0 }

  /// Sends an event to every listener, without waiting for any.
  func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners else { return }
    let event = event()
    state.withLock { $0.outbox.append(.event(event, upTo: $0.lastNumber)) }
    flush()
  }

  /// A new stream of all later events, which keeps the oldest `bufferSize` unread ones.
  func makeStream(bufferSize: Int) -> AsyncStream<CacheEvent> {
    let queue = StreamQueue(size: bufferSize, .countsSkipped)
    let number = state.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = queue
      listenerCount.store(state.listeners.count, ordering: .relaxed)
      return state.lastNumber
    }
    if number == nil { queue.finish() }
    return queue.makeStream { [weak self] in
      if let number { self?.remove(number) }
    }
  }

  /// Ends all streams, after the events that were sent before; later streams end at once.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      state.outbox.append(.end)
    }
    flush()
  }

  /// Delivers the queued items, unless another thread is delivering them.
  private func flush() {
    var isFlushing = false
    while let (item, listeners) = nextItem(isFlushing) {
      isFlushing = true
      for (number, queue) in listeners {
        switch item {
        case .event(let event, let limit) where number <= limit: queue.append(event)
        case .event: break
        case .end:
          queue.finish()
          remove(number)
        }
      }
    }
  }

  private func nextItem(_ isFlushing: Bool) -> (Item, [Int: StreamQueue<CacheEvent>])? {
    state.withLock { state in
      state.outbox.next(isFlushing: isFlushing).map { ($0, state.listeners) }
    }
  }

  private func remove(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      listenerCount.store(state.listeners.count, ordering: .relaxed)
    }
  }
}

extension StreamQueue.Overflow where Element == CacheEvent {
  /// ``CacheEvent/skipped(_:)`` stands where events are missing.
  static var countsSkipped: Self {
    .losesNewest { last in
      guard case .skipped(let count) = last else { return .skipped(1) }
      last = .skipped(count + 1)
      return nil
    }
  }
}
