import Locking

/// Marks pictures stale. It changes no file: where another process owns the table, the mark holds in this
/// process only.
extension TableWriter {
  /// Makes a miss of the entity's picture, which is found by its entity until the next store, or until
  /// the session ends.
  ///
  /// The mark outlives a change of the file on the shelf: by a suspension, a new owner, or mending.
  mutating func markStale(_ entity: TableID) throws(TableError) {
    leaveToParent()
    guard lookup.shelf.withLock({ $0.file != nil }) else { throw .closed }
    let marked = try opener.wrapping { () throws(SystemError) in
      try findReader()
      let reader = lookup.shelf.withLock { $0.reader }
      // As a removal's: after every store that is known.
      generation = max(generation, reader?.newestGeneration ?? 0)
      let marked = nextGeneration()
      try lookup.ask(about: entity.digest) { shelf in
        shelf.change { $0.setAside(entity.digest, upTo: marked) }
      }
      return marked
    }
    stale[entity.digest] = marked
    lookup.shelf.withLock { $0.reader }?.setStale(stale)
  }

  /// Notes that the entity's picture is in the owned file, and not stale: of other files only earlier ones
  /// can come, which count for less.
  mutating func unmark(_ entity: TableID.Digest) {
    if !stale.isEmpty, ownedFile != nil { stale[entity] = nil }
  }

  /// The shelf on which the marked pictures are aside, before lookups see it.
  func settingAside(in shelf: TableShelf) -> TableShelf {
    guard !stale.isEmpty, shelf.file != nil else { return shelf }
    var shelf = shelf
    shelf.reader?.setStale(stale)
    for (entity, generation) in stale {
      shelf.change { index in
        // Of a record that cannot be read the picture is a hit again.
        guard (try? index.readRecords(of: entity)) != nil else { return }
        index.setAside(entity, upTo: generation)
      }
    }
    return shelf
  }
}
