/// An event of one of this process's caches.
public struct ProcessEvent: Sendable {
  /// The cache's ``ImageCache/namespace``; empty for a cache in memory, and for
  /// ``CacheEvent/eventsDropped(_:)``, which counts the events of all caches together.
  public let namespace: String

  /// What happened.
  public let event: CacheEvent
}
