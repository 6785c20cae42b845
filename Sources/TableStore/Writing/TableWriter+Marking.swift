/// Marks images stale, in this process only.
extension TableWriter {
  /// Makes a miss of the entity's image, which is found by its entity. The mark outlives a change of the current file:
  /// by a suspension, a new owner, or mending.
  mutating func markStale(_ entity: TableID) throws(TableError) {
    leaveToParent()
    guard lookup.file != nil else { throw .closed }
    let marked = try opener.wrapping { () throws(SystemError) in
      try findReader()
      // As a removal's: after every store that is known.
      generation = max(generation, lookup.reader?.newestGeneration ?? 0)
      let marked = nextGeneration()
      try lookup.withRecordsLoaded(of: entity.digest) {
        $0.index.markStale(entity.digest, upTo: marked)
      }
      return marked
    }
    stale[entity.digest] = marked
    lookup.reader?.setStale(stale)
  }

  /// Notes that the entity's image is in the owned file, and not stale: of other files only earlier ones
  /// can come, which count for less.
  mutating func unmark(_ entity: TableID.Digest) {
    if !stale.isEmpty, ownedFile != nil { stale[entity] = nil }
  }

  /// The current table with the marked images stale, before lookups see it.
  func markingStale(in current: CurrentTable) -> CurrentTable {
    guard !stale.isEmpty, current.file != nil else { return current }
    var current = current
    current.reader?.setStale(stale)
    for (entity, generation) in stale {
      // Of a record that cannot be read the image is a hit again.
      guard (try? current.index.readRecords(of: entity)) != nil else { continue }
      current.index.markStale(entity, upTo: generation)
    }
    return current
  }
}
