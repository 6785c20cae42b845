import ImageSources

/// The parts of the system's log.
enum LogCategory: String, CaseIterable, Sendable { case requests, loads, tables, originals }

extension CacheEvent {
  /// The part of the system's log that has the event.
  var category: LogCategory {
    switch self {
    case .hit, .missed, .coalesced, .cancelled, .loaded, .failed: .requests
    case .stored, .evicted, .removed, .storeFailed, .damaged, .storageChanged, .insecureFolder:
      .tables
    case .original: .originals
    default: .loads
    }
  }
}

extension ProcessEvent {
  /// What the system's log says of the event.
  var text: String { "\(namespace.isEmpty ? "" : "\(namespace): ")\(event.text)" }
}

/// The loads of requests as intervals of time; pure.
///
/// A request that leaves a load to others sends no event: its interval lasts until the next load of its image ends, or
/// until newer ones need its room.
struct LoadIntervals {
  /// Tells intervals apart that are open at the same time.
  typealias Number = Int

  enum Change: Equatable {
    /// The older one ends, to make room.
    case begin(Number, ending: Number? = nil)
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
      guard open[key] == nil else { return nil }
      let oldest = open.count < Self.limit ? nil : open.min { $0.value < $1.value }
      if let oldest { open[oldest.key] = nil }
      count += 1
      open[key] = count
      return .begin(count, ending: oldest?.value)
    case .loaded(let entity, let format, _), .failed(let entity, let format, _),
      .cancelled(let entity, let format):
      let key = Key(namespace: event.namespace, entity: entity, format: format)
      return open.removeValue(forKey: key).map { .end($0) }
    default: return nil
    }
  }
}
