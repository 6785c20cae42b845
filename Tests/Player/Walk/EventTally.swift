import FastImageCache
import Locking

/// The events of a cache, counted by their names.
final class EventTally: Sendable {
  private let counts: Lock<[String: Int]>
  private let task: Task<Void, Never>

  init(of cache: ImageCache, _ plant: Plant?) {
    let counts = Lock<[String: Int]>([:])
    self.counts = counts
    let events = cache.events(bufferSize: 1 << 20)
    task = Task {
      for await event in events {
        let name = Self.name(of: event)
        if plant == .lostEvent, name == "stored" { continue }
        counts.withLock { $0[name, default: 0] += 1 }
      }
    }
  }

  /// Waits for the events of a cache that is closed.
  func end() async { await task.value }

  func count(_ name: String) -> Int { counts.withLock { $0[name] ?? 0 } }

  /// The name of an event's case.
  private static func name(of event: CacheEvent) -> String {
    String("\(event)".prefix { $0 != "(" })
  }
}
