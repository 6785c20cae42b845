/// Marks images stale, in this process only.
extension TableWriter {
  /// Makes a miss of the entity's image, which is found by its entity. The mark outlives a change of the file on the shelf: by a suspension, a new owner, or mending.
  mutating func markStale(_ entity: TableID) throws(TableError) {
    leaveToParent()
    guard lookup.file != nil else { throw .closed }
    let marked = try opener.wrapping { () throws(SystemError) in
      try findReader()
      // As a removal's: after every store that is known.
      generation = max(generation, lookup.reader?.newestGeneration ?? 0)
      let marked = nextGeneration()
      try lookup.ask(about: entity.digest) { $0.index.setAside(entity.digest, upTo: marked) }
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

  /// The shelf on which the marked images are aside, before lookups see it.
  func settingAside(in shelf: TableShelf) -> TableShelf {
    guard !stale.isEmpty, shelf.file != nil else { return shelf }
    var shelf = shelf
    shelf.reader?.setStale(stale)
    for (entity, generation) in stale {
      // Of a record that cannot be read the image is a hit again.
      guard (try? shelf.index.readRecords(of: entity)) != nil else { continue }
      shelf.index.setAside(entity, upTo: generation)
    }
    return shelf
  }
}
