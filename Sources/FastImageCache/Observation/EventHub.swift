import LoadQueue
import Synchronization

/// One cache, as the sender of its events.
final class EventHub: Sendable {
  private let namespace: String
  let listeners: EventListeners
  private let isFinished = Atomic(false)

  /// - Parameter namespace: Empty for a cache in memory.
  init(of namespace: String = "", among listeners: EventListeners = .shared) {
    (self.namespace, self.listeners) = (namespace, listeners)
    EventLog.begin
  }

  deinit { listeners.finish(self) }

  /// Whether there are listeners, of whichever cache; costs one relaxed load.
  var hasListeners: Bool { !listeners.isEmpty }

  /// Sends an event to every listener, without waiting for any.
  func send(_ event: @autoclosure () -> CacheEvent) {
    guard hasListeners, !isFinished.load(ordering: .relaxed) else { return }
    let event = ProcessEvent(namespace: namespace, event: event())
    // A worker sends events while it computes.
    Worker.runCallback { self.listeners.send(event, of: self) }
  }

  /// A stream of all later events of this cache, which keeps the oldest `bufferSize` unread ones.
  func makeStream(bufferSize: Int) -> AsyncStream<CacheEvent> {
    let stream = listeners.makeStream(of: self, bufferSize: bufferSize) { $0.event }
    // A cache that is closed meanwhile may have found no listener yet.
    if isFinished.load(ordering: .acquiring) { listeners.finish(self) }
    return stream
  }

  /// Ends all streams of this cache, after the events that were sent before; later streams end at once.
  func finish() {
    isFinished.store(true, ordering: .releasing)
    listeners.finish(self)
  }
}
