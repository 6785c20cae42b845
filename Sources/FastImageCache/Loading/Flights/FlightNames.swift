import Foundation

/// What a load is for: one entity, one version of its picture, one format.
struct ImageKey: Hashable, Sendable {
  let entity: ImageID
  let version: ImageID
  let format: String
}

/// What loads are joined by: the source's URL, or the entity itself where there is none.
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

/// What a removal takes away.
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

/// Several removals; asking whether they cover a key takes the same time however many they are.
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

/// One load, never used again after it ended.
struct FlightID: Hashable, Sendable {
  let number: Int
  /// That of its record on the board while it is under way.
  let index: Int
}

/// One caller waiting for one picture.
struct WaiterID: Hashable, Sendable {
  let number: Int
}
