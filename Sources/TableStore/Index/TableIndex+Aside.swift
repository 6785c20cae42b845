/// Pictures that were marked stale: *aside* until the next store of their entity, or the end of the session.
///
/// A picture aside is a miss, and is found by its entity only. Its slot is closed to hits, which test no
/// state more for it. The record in the file stays as it is: the next session finds the picture by its key.
extension TableIndex {
  /// Sets the picture of an entity aside, unless it was stored after `generation`.
  mutating func setAside(_ entity: TableID.Digest, upTo generation: UInt64) {
    if let slot = find(entity), states.recordMetadata(of: slot).generation <= generation {
      states.close(slot)
    }
  }

  /// The slot of an entity's picture, aside or not.
  func find(_ entity: TableID.Digest) -> Int? {
    stored.slot(under: stored.hash(of: entity)) {
      states.isKnown($0) && states.label(of: $0).entity == entity
    }
  }
}
