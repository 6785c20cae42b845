/// A picture of an entity, which may not be the one that was asked for.
package struct TableVariant: Sendable {
  /// The relation of a picture to the wanted one, the closest first.
  package enum Standing: Int, Comparable, Sendable {
    /// It is the wanted one.
    case current
    /// It was the wanted one, until it was marked stale.
    case stale
    /// It is of another version, marked stale or not.
    case otherVersion
    /// It is a placeholder, of this version or of another one.
    case placeholder

    package static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
  }

  /// The picture, without a use of it: neither taking nor releasing it changes the order of eviction.
  package let entry: TableEntry
  package let standing: Standing
}

/// A stored picture, as its record tells.
package struct StoredPicture: Hashable, Sendable {
  /// Tells the picture from those stored before and after it.
  package let generation: UInt64
  package let isStale: Bool
}

extension TableVariant {
  init(_ copy: SlotCopy, as key: TableKey, isStale: Bool) {
    entry = TableEntry(content: copy.content, extent: copy.trailer.extent)
    let version = copy.trailer.version
    standing = Standing(
      isWanted: version.matches(key.version), isPlaceholder: version.known?.isPlaceholder == true,
      isStale: isStale)
  }
}

extension TableVariant.Standing {
  init(isWanted: Bool, isPlaceholder: Bool, isStale: Bool) {
    if isWanted {
      self = isStale ? .stale : .current
    } else {
      self = isPlaceholder ? .placeholder : .otherVersion
    }
  }
}

/// Looks for pictures by entity.
extension TableLookup {
  /// The picture of the key's entity, of whichever version; where another process owns the file, the closer
  /// one of its picture and this process's.
  func variant(of key: TableKey) -> TableVariant? {
    // A record that cannot be read now is a miss now.
    let found = try? ask(about: key.entity.digest) { shelf in
      (shelf.index.leaseVariant(of: key), shelf.file, shelf.reader)
    }
    guard let (finding, file, reader) = found, let file else { return nil }
    let own = finding.flatMap { variant($0, of: key, in: file) }
    if let own, own.standing == .current { return own }
    guard let other = reader?.variant(of: key) else { return own }
    return own.map { $0.standing <= other.standing ? $0 : other } ?? other
  }

  /// The picture of an entity by the records. One of an earlier session counts before it has been checked.
  ///
  /// - Parameter version: `nil` for whichever.
  func picture(
    of entity: TableID, version: TableID? = nil
  ) throws(SystemError) -> StoredPicture? {
    let (own, reader) = try ask(about: entity.digest) {
      ($0.index.storedPicture(of: entity, version: version), $0.reader)
    }
    if let own, !own.isStale { return own }
    guard let reader, let record = reader.record(of: entity, version: version) else { return own }
    return StoredPicture(generation: record.generation, isStale: reader.isStale(record))
  }

  /// Takes a silent lease on the slot of an entity's picture.
  func leaseSilently(_ entity: TableID) throws(SystemError) -> LeasedSlot? {
    try ask(about: entity.digest) { shelf in
      guard let file = shelf.file, let slot = shelf.index.find(entity.digest),
        let record = shelf.index.leaseSilently(slot)
      else { return nil }
      return LeasedSlot(file: file, slot: slot, record: record)
    }
  }

  /// Takes over the silent lease on a slot.
  private func variant(
    _ found: TableIndex.LeasedVariant, of key: TableKey, in file: TableFile
  ) -> TableVariant? {
    let slot = found.slot
    if let known = found.known, let entry = silentEntry(of: slot, in: file, known.extent) {
      let standing = TableVariant.Standing(
        isWanted: known.isWanted, isPlaceholder: known.isPlaceholder, isStale: found.isStale)
      return TableVariant(entry: entry, standing: standing)
    }
    let leased = LeasedSlot(file: file, slot: slot, record: found.record)
    guard let copy = copy(of: leased, key.entity) else {
      file.states.releaseSilently(slot)
      return nil
    }
    let trailer = copy.trailer
    if trailer.matches(key) {
      changeIndex(of: file) {
        $0.prove(slot, generation: found.record.generation, key: key, extent: trailer.extent)
      }
    }
    let checked = TableVariant(copy, as: key, isStale: found.isStale)
    guard let entry = silentEntry(of: slot, in: file, trailer.extent) else {
      file.states.releaseSilently(slot)
      return checked
    }
    return TableVariant(entry: entry, standing: checked.standing)
  }

  /// The entry of a slot with a silent lease, which it takes over; `nil` where the file is not mapped.
  private func silentEntry(
    of slot: Int, in file: TableFile, _ extent: SlotExtent
  ) -> TableEntry? {
    file.mappedContent(of: slot).map {
      TableEntry(
        silently: file.states.hitIndex.held(slot), layout: file.layout, content: $0, extent: extent)
    }
  }
}

extension TableReader {
  func variant(of key: TableKey) -> TableVariant? {
    copy(of: key.entity).map { TableVariant($0, as: key, isStale: isStale($0.record)) }
  }
}

extension TableIndex {
  /// A slot with a silent lease.
  struct LeasedVariant {
    let slot: Int
    let record: SlotRecord
    let isStale: Bool
    /// `nil` for a slot whose content was not checked yet.
    let known: (isWanted: Bool, isPlaceholder: Bool, extent: SlotExtent)?
  }

  func storedPicture(of entity: TableID, version: TableID? = nil) -> StoredPicture? {
    guard let slot = find(entity.digest) else { return nil }
    if let version {
      let key = TableKey(entity: entity, version: version)
      guard self.slot(of: key) == slot,
        !states.state(of: slot).isProven || isStored(key, in: slot)
      else { return nil }
    }
    return StoredPicture(generation: record(of: slot).generation, isStale: isAside(slot))
  }

  /// Finds the picture of a key's entity, and takes a silent lease on it.
  func leaseVariant(of key: TableKey) -> LeasedVariant? {
    guard let slot = find(key.entity.digest) else { return nil }
    var known: (Bool, Bool, SlotExtent)?
    if let stored = self.key(of: slot) {
      guard stored.entity == key.entity else { return nil }
      known = (stored.version == key.version, stored.version.isPlaceholder, extent(of: slot))
    }
    return leaseSilently(slot).map {
      LeasedVariant(slot: slot, record: $0, isStale: isAside(slot), known: known)
    }
  }
}
