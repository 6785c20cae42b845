import Locking

/// The version below which no request that begins now may fall, for each entity and format.
///
/// A removal and a stale mark raise it, when they have ended, to what the server had when they began; a reload
/// that was stored, to what it brought.
final class LoadFloors: Sendable {
  private struct Key: Hashable {
    let entity: LoadEntity
    let format: String
  }

  private let floors = Lock<[Key: Int]>([:])

  subscript(entity: LoadEntity, format: String) -> Int {
    floors.withLock { $0[Key(entity: entity, format: format)] ?? 0 }
  }

  func raise(_ entity: LoadEntity, _ format: String, to version: Int) {
    let key = Key(entity: entity, format: format)
    floors.withLock { $0[key] = max($0[key] ?? 0, version) }
  }
}
