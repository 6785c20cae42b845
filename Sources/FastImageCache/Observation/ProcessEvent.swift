/// An event of one of this process's caches.
public struct ProcessEvent: Sendable {
  /// The cache's ``ImageCache/namespace``; empty for a cache in memory, and for
  /// ``CacheEvent/eventsDropped(_:)``, which counts the events of all caches together.
  public let namespace: String

  /// What happened.
  public let event: CacheEvent
}

extension ImageCache {
  /// The events of every cache of this process from now on, also of caches that are opened later.
  ///
  /// ```swift
  /// let log = Task {
  ///   for await element in ImageCache.allEvents() {
  ///     if case .failed(let entity, let format, let error) = element.event {
  ///       print(element.namespace, entity, format, error)
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// For whatever reports problems, measures or prints, without knowing the caches. The stream does not
  /// end with a cache, only with its reader. As with ``events(bufferSize:)`` nothing waits for the
  /// listener, and hits of all caches cost more only while there is one of either kind.
  ///
  /// - Parameter bufferSize: How many unread events are kept, at least one; the newest are lost beyond.
  public static func allEvents(bufferSize: Int = 1024) -> AsyncStream<ProcessEvent> {
    EventListeners.shared.makeStream(of: nil, bufferSize: max(bufferSize, 1)) { $0 }
  }
}
