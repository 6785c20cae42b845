import ImageSources

extension ImageCache {
  /// Writes the events of every cache of this process to the log of the system until the task is cancelled: for
  /// development.
  ///
  /// ```swift
  /// let log = ImageCache.logEvents()
  /// // …
  /// log.cancel()
  /// ```
  ///
  /// On Apple platforms that is the unified log, of the subsystem `FastImageCache` and the categories `requests`, `loads`,
  /// `tables` and `originals`. Instruments shows each load of a request as an interval of `OSSignposter`, and what a load
  /// fetched and decoded as events. Addresses are private there, unless a debugger is attached. On Linux lines go to
  /// standard error, as `IMAGECACHE_LOG=debug` in the environment has them.
  ///
  /// Cost: while it runs, each hit is an event of ``allEvents(bufferSize:)``. Times are those of the listener, which
  /// hears of an event a moment later; ``LoadReport`` has exact ones.
  ///
  /// - Returns: The task that listens.
  @discardableResult public static func logEvents() -> Task<Void, Never> {
    // Begun here, so that no event after this call is missed.
    let events = allEvents()
    return Task.detached(name: "event log", priority: .utility) {
      var log = SystemLog()
      for await event in events { log.take(event) }
    }
  }
}

/// What the system's log says of an event.
struct LogLine: Hashable, Sendable {
  enum Category: String, CaseIterable, Sendable { case requests, loads, tables, originals }
  enum Level: Sendable { case debug, info, error }

  let category: Category
  let level: Level
  let text: String

  init(_ event: ProcessEvent) {
    category =
      switch event.event {
      case .hit, .missed, .coalesced, .cancelled, .loaded, .failed: .requests
      case .stored, .evicted, .removed, .storeFailed, .damaged, .storageChanged, .insecureFolder:
        .tables
      case .original: .originals
      default: .loads
      }
    level =
      switch event.event {
      case .failed, .storeFailed, .damaged, .insecureFolder: .error
      default: event.event.level == .debug ? .debug : .info
      }
    text = "\(event.namespace.isEmpty ? "" : "\(event.namespace): ")\(event.event.text)"
  }
}

/// The loads of requests as intervals of time; pure.
///
/// A request that leaves a load to others sends no event, so an interval may last until the next load of its image ends.
struct LoadIntervals {
  /// Tells intervals apart that are open at the same time.
  typealias Number = Int

  enum Change: Equatable {
    case begin(Number)
    case end(Number)
  }

  private struct Key: Hashable {
    let namespace: String
    let entity: ImageID
    let format: String
  }

  /// As many as loads could be under way; the rest are requests that left.
  private static let limit = 4096
  private var open: [Key: Number] = [:]
  private var count = 0

  /// What an event begins or ends.
  mutating func change(by event: ProcessEvent) -> Change? {
    switch event.event {
    case .missed(let entity, let format):
      let key = Key(namespace: event.namespace, entity: entity, format: format)
      guard open[key] == nil, open.count < Self.limit else { return nil }
      count += 1
      open[key] = count
      return .begin(count)
    case .loaded(let entity, let format, _), .failed(let entity, let format, _),
      .cancelled(let entity, let format):
      let key = Key(namespace: event.namespace, entity: entity, format: format)
      return open.removeValue(forKey: key).map { .end($0) }
    default: return nil
    }
  }
}
