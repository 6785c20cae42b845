import Locking
import Synchronization

/// Sends events to any number of listeners, each with a bounded queue of its own.
///
/// Invariants:
/// 1. `listenerCount` equals the number of listeners, so that a hit learns with one atomic load whether
///    there are any.
/// 2. A listener whose queue is full loses the newest events, and the number lost stands in the
///    stream, as ``CacheEvent/skipped(_:)``, exactly where they are missing. So do all listeners while the outbox is
///    crowded.
/// 3. A stream that can no longer be iterated is not among the listeners.
/// 4. Listeners of every cache are among them from the first event on, see ``EveryHub``.
final class EventHub: OutboxOwner {
  fileprivate enum Listener {
    case ofThisCache(StreamQueue<CacheEvent>)
    case ofEveryCache(StreamQueue<ProcessEvent>)
  }

  enum Item {
    /// For the listeners up to a number: later listeners hear of later events only.
    case event(CacheEvent, upTo: Int)
    case end
  }

  struct State {
    fileprivate var listeners: [Int: Listener] = [:]
    var lastNumber = 0
    var isFinished = false
    var outbox = Outbox<Item>()

    /// Queues an event; where too many wait, counts it as lost.
    mutating func append(_ event: CacheEvent) {
      if !outbox.isCrowded {
        outbox.append(.event(event, upTo: lastNumber))
      } else if case .event(.skipped(let count), upTo: lastNumber)? = outbox.last {
        outbox.last = .event(.skipped(count + 1), upTo: lastNumber)
      } else {
        outbox.append(.event(.skipped(1), upTo: lastNumber))
      }
    }
  }

  private let state = Lock(State())
  private let listenerCount = Atomic<Int>(0)
  private let namespace: String

  /// - Parameter namespace: Empty for a cache in memory.
  init(of namespace: String = "", among all: EveryHub = .shared) {
    self.namespace = namespace
    all.join(self)
  }

  deinit {
    // No thread can send any more, so no thread is delivering, and all events have been delivered.
    for case .ofThisCache(let queue) in state.withLock({ $0.listeners.values }) { queue.finish() }
  }

  /// Whether there are listeners; costs one relaxed load.
  var hasListeners: Bool { listenerCount.load(ordering: .relaxed) != 0 }

  /// Sends an event to every listener, without waiting for any.
  func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners else { return }
    let event = event()
    // A worker sends events while it computes.
    Worker.callOut {
      self.state.withLock { $0.append(event) }
      self.flush()
    }
  }

  /// A new stream of all later events, which keeps the oldest `bufferSize` unread ones.
  func makeStream(bufferSize: Int) -> AsyncStream<CacheEvent> {
    let queue = StreamQueue<CacheEvent>(size: bufferSize, .countsSkipped)
    let number = add(.ofThisCache(queue))
    if number == nil { queue.finish() }
    return queue.makeStream { [weak self] in
      if let number { self?.remove(number) }
    }
  }

  /// Tells a listener of every cache of later events.
  func add(_ queue: StreamQueue<ProcessEvent>) { _ = add(.ofEveryCache(queue)) }

  func remove(_ queue: StreamQueue<ProcessEvent>) {
    state.withLock { state in
      state.listeners = state.listeners.filter { _, listener in
        guard case .ofEveryCache(let other) = listener else { return true }
        return other !== queue
      }
      listenerCount.store(state.listeners.count, ordering: .relaxed)
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

  var waitingCount: Int { state.withLock { $0.outbox.count } }

  func deliverNext(isFlushing: Bool) -> Bool {
    guard let (item, listeners) = nextItem(isFlushing) else { return false }
    for (number, listener) in listeners {
      switch (item, listener) {
      case (.event(let event, let limit), .ofThisCache(let queue)) where number <= limit:
        queue.append(event)
      case (.event(let event, let limit), .ofEveryCache(let queue)) where number <= limit:
        queue.append(ProcessEvent(namespace: event.isSkipped ? "" : namespace, event: event))
      case (.event, _): break
      case (.end, .ofThisCache(let queue)):
        queue.finish()
        remove(number)
      case (.end, .ofEveryCache): remove(number)
      }
    }
    return true
  }

  /// - Returns: The listener's number; `nil` after the end.
  private func add(_ listener: Listener) -> Int? {
    state.withLock { state in
      guard !state.isFinished else { return nil }
      state.lastNumber += 1
      state.listeners[state.lastNumber] = listener
      listenerCount.store(state.listeners.count, ordering: .relaxed)
      return state.lastNumber
    }
  }

  private func nextItem(_ isFlushing: Bool) -> (Item, [Int: Listener])? {
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
    .losesNewest { last, lost in
      guard case .skipped(let count) = last else { return .skipped(lost.lostCount) }
      last = .skipped(count + lost.lostCount)
      return nil
    }
  }
}

extension CacheEvent {
  /// Events that are missing where this one is lost.
  var lostCount: Int { if case .skipped(let count) = self { count } else { 1 } }

  fileprivate var isSkipped: Bool { if case .skipped = self { true } else { false } }
}
