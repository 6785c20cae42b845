import Synchronization

public struct OSLogType: Hashable, Sendable {
  let name: String
  public static let debug = OSLogType(name: "debug")
  public static let info = OSLogType(name: "info")
  public static let error = OSLogType(name: "error")
}

public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
  let text: String
  public init(stringLiteral value: String) { text = value }
}
public typealias SignpostMetadata = OSLogMessage

public struct Logger: Sendable {
  private let place: String
  public init(subsystem: String, category: String) { place = "\(subsystem)/\(category)" }
  public func log(level: OSLogType, _ message: OSLogMessage) {
    _SystemLog.add("\(place) \(level.name)", message.text)
  }
}

public struct OSSignpostID: Hashable, Sendable {
  let number: Int
  public static let exclusive = OSSignpostID(number: 0)
}

public final class OSSignpostIntervalState: Sendable {
  let id: OSSignpostID
  init(_ id: OSSignpostID) { self.id = id }
}

public struct OSSignposter: Sendable {
  private let place: String
  public init(subsystem: String, category: String) { place = "\(subsystem)/\(category)" }

  public func makeSignpostID() -> OSSignpostID { OSSignpostID(number: _SystemLog.nextNumber()) }

  public func beginInterval(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata
  ) -> OSSignpostIntervalState {
    _SystemLog.add("\(place) begin \(name) \(id.number)", message.text)
    return OSSignpostIntervalState(id)
  }
  public func endInterval(
    _ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata
  ) { _SystemLog.add("\(place) end \(name) \(state.id.number)", message.text) }
  public func emitEvent(
    _ name: StaticString, id: OSSignpostID = .exclusive, _ message: SignpostMetadata
  ) { _SystemLog.add("\(place) event \(name)", message.text) }
}

/// What was logged; for tests.
public enum _SystemLog {
  public struct Entry: Sendable {
    public let place: String
    public let text: String
  }
  private static let state = Mutex<(entries: [Entry], number: Int)>(([], 0))
  public static var entries: [Entry] { state.withLock { $0.entries } }
  static func add(_ place: String, _ text: String) {
    state.withLock { $0.entries.append(Entry(place: place, text: text)) }
  }
  static func nextNumber() -> Int {
    state.withLock {
      $0.number += 1
      return $0.number
    }
  }
}
