extension TableWriter {
  /// Stores an entity's image anew under another entity, and removes it from the first; `nil` if the
  /// first has none that is intact, or only a placeholder while the other has a real image, which stays.
  ///
  /// A version that is the first entity's id becomes the other one's, that of a placeholder or of a damaged file
  /// too. An image that was marked stale stays so. The order of `Docs/TableFormat.md`, *Storing*, keeps images
  /// right after a kill at any instant. Costs reading, hashing and writing one slot.
  mutating func changeEntity(
    from old: TableID, to new: TableID
  ) throws(TableError) -> Insertion? {
    try ensureWritable()
    guard old != new else { return nil }
    let (leased, reader) = try opener.wrapping { () throws(SystemError) in
      try findReader()
      return try lookup.lease(TableKey(entity: old, version: old), isExact: false)
    }
    // Until the end, so that the image does not make room for its own copy.
    defer { leased?.held.end() }
    let found = leased.map { lookup.copy(of: $0, old) } ?? reader?.copy(of: old)
    guard let copy = found else {
      if lookup.isLocked { throw .protectedDataUnavailable(name: opener.name) }
      return nil
    }
    try backOff.admit()
    let sealed = try sealed(copy, from: old, to: new)
    if sealed.isPlaceholder, hasReal(sealed) {
      _ = try remove(old)
      return nil
    }
    let insertion = try store(sealed)
    // Or another owner's older image of the new entity would go on being found beside the copy.
    // It covers nothing as late as the copy, which another process may have taken in by then.
    let stored = generation
    try addTombstones { reader, _ throws(SystemError) in
      try reader.addTombstone(for: .entity(new.digest), upTo: stored - 1)
    }
    if copy.record.generation <= self.stale[old.digest] ?? 0 { try markStale(new) }
    _ = try remove(old)
    return insertion
  }

  private static func version(
    _ version: StoredID, from old: TableID, to new: TableID
  ) -> StoredID {
    let forms: [(TableID) -> TableID] = [
      { $0 }, \.placeholder, \.damaged, \.placeholder.damaged,
    ]
    for form in forms where version.matches(form(old)) { return .full(form(new)) }
    return version
  }

  private func sealed(
    _ copy: SlotCopy, from old: TableID, to new: TableID
  ) throws(TableError) -> SealedSlot {
    let layout = opener.layout
    guard let buffer = lookup.pool.makeBuffer() else {
      throw .outOfMemory(byteCount: layout.contentByteCount)
    }
    buffer.pixels.copyMemory(from: .init(rebasing: copy.content.bytes[..<buffer.pixels.count]))
    let version = Self.version(copy.trailer.version, from: old, to: new)
    let trailer = try SlotTrailer(
      entity: .full(new), version: version, extent: copy.trailer.extent,
      source: copy.trailer.source, metadata: copy.trailer.metadata,
      roomByteCount: layout.trailerByteCount)
    guard case .full(let known) = version else {
      return buffer.sealed(trailer, entity: new.digest, version: copy.record.version, key: nil)
    }
    return buffer.sealed(
      trailer, entity: new.digest, version: known.digest, key: TableKey(entity: new, version: known)
    )
  }
}
