import Foundation

/// Writes the events of all caches of the process to standard error, where the environment asks for it:
/// `IMAGECACHE_LOG=error` for what went wrong, `info` for images that were loaded, too, and `debug` for all events.
///
/// The log is a listener as any other, of all events: while it runs, each hit is one. A slow terminal costs lines,
/// which the log counts, and holds up no load.
enum EventLog {
  enum Level: Comparable { case debug, info, error }

  /// Begins the log, at the first cache of the process.
  static let begin: Void = {
    guard let level = Level(named: ProcessInfo.processInfo.environment["IMAGECACHE_LOG"]) else {
      return
    }
    follow(.shared, from: level) { write($0) }
  }()

  /// Writes a line to standard error, whose failure can be told nowhere.
  static func write(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data(line.utf8))
  }

  /// Writes a line for each later event of a level or a higher one.
  ///
  /// The task ends with the process, or with the listeners of a test.
  static func follow(
    _ listeners: EventListeners, from level: Level, _ write: @escaping @Sendable (String) -> Void
  ) {
    let events = listeners.makeStream(of: nil, bufferSize: 4096) { $0 }
    Task.detached(name: "FastImageCache.log", priority: .utility) {
      for await event in events where event.event.level >= level {
        write(event.line(at: Date()))
      }
    }
  }
}

extension EventLog.Level {
  init?(named name: String?) {
    switch name?.lowercased() {
    case "debug": self = .debug
    case "info": self = .info
    case "error": self = .error
    default: return nil
    }
  }
}

extension ProcessEvent {
  /// `2026-11-26T15:04:05Z info photos: loaded "1" in "row": fwd=uri-miss; stored, 34.5 ms`
  func line(at date: Date) -> String {
    let name = namespace.isEmpty ? "" : " \(namespace)"
    // A user's name and a query may be secrets.
    let address = /:\/\/(?:[^\s\/?#@]*@)?([^\s?#]*)(?:[?#]\S*?(?=[:,.;]?(?:\s|$)))?/
    // An id or a reason with a line's end would look like another line.
    let text = event.text.replacing(address) { "://\($0.1)" }.map { $0.isNewline ? " " : $0 }
    return "\(date.formatted(.iso8601)) \(event.level)\(name): \(String(text))\n"
  }
}

extension CacheEvent {
  /// `error` for faults, `info` for the ends of loads, `debug` for their steps.
  var level: EventLog.Level {
    switch self {
    case .hit, .missed, .coalesced, .fetched, .decoded, .stored, .evicted, .removed, .cancelled:
      .debug
    case .failed, .storeFailed, .damaged, .drewDamaged, .insecureFolder, .eventsDropped: .error
    case .storageChanged(_, .readOnly), .storageChanged(_, .unavailable): .error
    case .original(_, .damaged), .original(_, .unavailable): .error
    case .original(_, .stored), .original(_, .removed), .original(_, .evicted): .debug
    case .storageChanged(_, .ready): .debug
    default: .info
    }
  }

  /// The event in words.
  var text: String {
    func words(_ verb: String, _ entity: ImageID?, _ format: String, _ more: String = "") -> String
    {
      "\(verb) \(entity.map { "\"\($0)\"" } ?? "images") in \"\(format)\"\(more)"
    }
    func address(_ url: URL?) -> String { url?.abbreviated ?? "an image without an address" }
    return switch self {
    case .hit(let entity, let format): words("hit", entity, format)
    case .missed(let entity, let format): words("missed", entity, format)
    case .coalesced(let entity, let format): words("joined a load of", entity, format)
    case .fetched(let url, let count, let time): "fetched \(address(url)): \(count) bytes, \(time)"
    case .decoded(let url, let size, let time): "decoded \(address(url)): \(size), \(time)"
    case .drewDamaged(let entity, let format): words("drew a part of", entity, format)
    case .stored(let entity, let format): words("stored", entity, format)
    case .storeFailed(let entity, let format, let reason):
      words("could not store", entity, format, ": \(reason)")
    case .evicted(let entity, let format): words("evicted", entity, format)
    case .damaged(let entity, let format): words("found damaged", entity, format)
    case .removed(let entity, let format): words("removed", entity, format)
    case .failed(let entity, let format, let error):
      words("failed to load", entity, format, ": \(error)")
    case .loaded(let entity, let format, let report): words("loaded", entity, format, ": \(report)")
    case .cancelled(let entity, let format): words("cancelled", entity, format)
    case .storageChanged(let format, .ready): "the table of \"\(format)\" can be used"
    case .storageChanged(let format, .readOnly(let reason)):
      "the table of \"\(format)\" can be read only: \(reason)"
    case .storageChanged(let format, .unavailable(let reason)):
      "the table of \"\(format)\" is in memory: \(reason)"
    case .insecureFolder(let url, let reason): "insecure folder \(url.path): \(reason)"
    case .eventsDropped(let count): "\(count) events are missing here"
    case .original(let id, let event): "original \(id.map { "\"\($0)\"" } ?? "store"): \(event)"
    }
  }
}
