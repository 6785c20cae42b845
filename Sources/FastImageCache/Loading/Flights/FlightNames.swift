import Foundation

/// Names one picture: an entity, a version of its picture, a format.
struct ImageKey: Hashable, Sendable {
  let entity: ImageID
  let version: ImageID
  let format: String
}

/// The key by which requests join one load: the source's URL, or the entity itself where there is none.
///
/// Its hash is computed once, since a URL hashes all its text and an origin is looked up often.
struct FlightOrigin: Hashable, Sendable {
  private enum Name: Hashable, Sendable {
    case url(URL)
    case entity(ImageID)
  }

  private let name: Name
  private let hash: Int

  private init(_ name: Name) {
    self.name = name
    hash = name.hashValue
  }

  static func url(_ url: URL) -> Self { Self(.url(url)) }
  static func entity(_ id: ImageID) -> Self { Self(.entity(id)) }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

/// The pictures that a removal takes away.
enum Removal: Hashable, Sendable {
  case entity(ImageID, format: String?)
  case format(String)

  func covers(_ key: ImageKey) -> Bool {
    switch self {
    case .entity(let entity, let format):
      key.entity == entity && (format == nil || key.format == format)
    case .format(let format): key.format == format
    }
  }
}

/// Several removals; the time to look a key up does not depend on their number.
struct Removals {
  private var all: Set<Removal> = []

  mutating func insert(_ removal: Removal) { all.insert(removal) }

  func cover(_ key: ImageKey) -> Bool {
    if all.isEmpty { return false }
    return all.contains(.format(key.format))
      || all.contains(.entity(key.entity, format: key.format))
      || all.contains(.entity(key.entity, format: nil))
  }
}

/// Names one flight; its number is never used again.
struct FlightID: Hashable, Sendable {
  let number: Int
  /// The index of the flight's record on the board while it is under way.
  let index: Int
}

/// Names one waiter: a caller or a stream that waits for one picture.
struct WaiterID: Hashable, Sendable {
  let number: Int
}
