/// Pictures that were marked stale: *aside* until the next store of their entity, or the end of the session.
///
/// A picture aside is a miss, and is found by its entity only. Its slot is closed to hits, which test no
/// state more for it. The record in the file stays as it is: the next session finds the picture by its key.
extension TableIndex {
  /// Sets the picture of an entity aside, unless it was stored after `generation`.
  mutating func setAside(_ entity: TableID.Digest, upTo generation: UInt64) {
    guard let slot = find(entity), states.recordMetadata(of: slot).generation <= generation else {
      return
    }
    setAside(slot)
  }

  /// Sets the picture of a live slot aside.
  mutating func setAside(_ slot: Int) {
    let entity = states.label(of: slot).entity
    table.remove(slot, for: entity)
    states.close(slot)
    aside[entity] = slot
  }

  /// Takes a slot with a picture, aside or not, from its entity.
  mutating func forget(_ slot: Int) {
    let entity = states.label(of: slot).entity
    if !table.remove(slot, for: entity) { aside[entity] = nil }
  }

  /// The slot of an entity's picture, aside or not.
  func findAny(_ entity: TableID.Digest) -> Int? { find(entity) ?? aside[entity] }

  func isAside(_ slot: Int) -> Bool {
    !aside.isEmpty && aside[states.label(of: slot).entity] == slot
  }

  /// True when an entity's picture is in the slot, aside or not.
  func hasPicture(_ slot: Int) -> Bool { isLive(slot) || isAside(slot) }

  /// The least recently used slot aside that no lease keeps.
  ///
  /// Costs a look at each of them; they are few, and fewer with each call.
  func leastRecentlyUsedAside(except own: Int?) -> Int? {
    aside.values.filter { $0 != own && states.isUnleased($0) }
      .min { states.stamp(of: $0) < states.stamp(of: $1) }
  }
}
