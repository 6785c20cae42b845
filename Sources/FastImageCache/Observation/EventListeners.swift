import Locking
import Synchronization

/// The listeners to the events of this process's caches, each with an `AsyncStream` of its own.
///
/// Invariants:
/// 1. `count` is the number of listeners, so that a hit learns with one atomic load whether there are any.
/// 2. A listener that has `bufferSize` unread events loses the newest. The number lost stands in its stream, as
///    ``CacheEvent/eventsDropped(_:)``, where they are missing.
/// 3. A stream that can no longer be read is not among the listeners.
/// 4. No stream is yielded to under the lock: a reader that is cancelled comes here from under its task's lock.
final class EventListeners: Sendable {
  static let shared = EventListeners()

  private let listeners = Lock<[EventListener]>([])
  private let count = Atomic(0)

  init() {}

  /// Whether there are listeners; costs one relaxed load.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// Tells the listeners of a cache, and those of all caches.
  func send(_ event: ProcessEvent, of cache: CacheRecorder) {
    for listener in listeners.withLock({ $0 }) where listener.hears(cache) { listener.take(event) }
  }

  /// Ends the streams of a cache after their unread events.
  func finish(_ cache: CacheRecorder) {
    let ended = change { listeners in
      let ended = listeners.filter { $0.hears(cache) && $0.cache != nil }
      listeners.removeAll { $0.hears(cache) && $0.cache != nil }
      return ended
    }
    for listener in ended { listener.finish() }
  }

  /// A stream of all later events.
  ///
  /// - Parameters:
  ///   - cache: The cache whose events are told; `nil` for those of all caches.
  ///   - element: Makes an element of an event.
  func makeStream<Element>(
    of cache: CacheRecorder?, bufferSize: Int,
    _ element: @escaping @Sendable (ProcessEvent) -> Element
  ) -> AsyncStream<Element> {
    let (items, continuation) = AsyncStream.makeStream(
      of: EventListener.Item.self, bufferingPolicy: .bufferingOldest(bufferSize))
    let listener = EventListener(of: cache, continuation)
    // Weak, or the listener would keep its own stream.
    continuation.onTermination = { [weak self, weak listener] _ in
      self?.change { $0.removeAll { $0 === listener } }
    }
    change { $0.append(listener) }
    let reader = EventReader(items, of: listener)
    return AsyncStream { await reader.next().map(element) }
  }

  @discardableResult
  private func change<Result>(_ body: (inout [EventListener]) -> Result) -> Result {
    // A listener that goes is released outside the lock, with its stream.
    let (before, result) = listeners.withLock { listeners in
      let before = listeners
      defer { count.store(listeners.count, ordering: .relaxed) }
      return (before, body(&listeners))
    }
    return withExtendedLifetime(before) { result }
  }
}

/// One listener, and the number of events that it has lost.
private final class EventListener: Sendable {
  struct Item: Sendable {
    let event: ProcessEvent
    /// Events that the listener had lost before this one.
    let lostCount: Int
  }

  let cache: ObjectIdentifier?
  private let continuation: AsyncStream<Item>.Continuation
  private let lost = Atomic(0)

  init(of cache: CacheRecorder?, _ continuation: AsyncStream<Item>.Continuation) {
    self.cache = cache.map { ObjectIdentifier($0) }
    self.continuation = continuation
  }

  var lostCount: Int { lost.load(ordering: .acquiring) }

  func hears(_ cache: CacheRecorder) -> Bool {
    self.cache.map { $0 == ObjectIdentifier(cache) } ?? true
  }

  func take(_ event: ProcessEvent) {
    let item = Item(event: event, lostCount: lostCount)
    if case .dropped = continuation.yield(item) { lost.add(1, ordering: .releasing) }
  }

  func finish() { continuation.finish() }
}

/// Reads the events of one listener, and says where some are missing.
private final class EventReader: Sendable {
  private let items: AsyncStream<EventListener.Item>
  private let listener: EventListener
  /// The lost events that were told, and the event behind them.
  private let state = Lock<(toldCount: Int, held: ProcessEvent?)>((0, nil))

  init(_ items: AsyncStream<EventListener.Item>, of listener: EventListener) {
    (self.items, self.listener) = (items, listener)
  }

  func next() async -> ProcessEvent? {
    if let held = state.withLock({ $0.held.take() }) { return Task.isCancelled ? nil : held }
    var iterator = items.makeAsyncIterator()
    let item = await iterator.next()
    // The event may have come first, and waited for a busy actor while the task was cancelled.
    if Task.isCancelled { return nil }
    let lostCount = item?.lostCount ?? listener.lostCount
    return state.withLock { state in
      let missing = lostCount - state.toldCount
      guard missing > 0 else { return item?.event }
      state = (lostCount, item?.event)
      return ProcessEvent(namespace: "", event: .eventsDropped(missing))
    }
  }
}
