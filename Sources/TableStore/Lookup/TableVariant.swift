import Synchronization

/// An image of an entity, which may not be the one that was asked for.
package struct TableVariant: Sendable {
  /// The relation of an image to the wanted one, the closest first.
  package enum Standing: Comparable, Sendable {
    /// It is the wanted one.
    case current
    /// It was the wanted one, until it was marked stale.
    case stale
    /// It is of another version, marked stale or not.
    case otherVersion
    /// It is a placeholder, of this version or of another one.
    case placeholder
  }

  package let entry: TableEntry
  package let standing: Standing
}

/// A stored image, as its record tells.
package struct StoredImageState: Hashable, Sendable {
  /// Tells the image from those stored before and after it.
  package let generation: UInt64
  package let isStale: Bool
}

extension TableVariant.Standing {
  init(of version: StoredID, wanted: TableID, isStale: Bool) {
    if version.matches(wanted) {
      self = isStale ? .stale : .current
    } else {
      self = version.known?.isPlaceholder == true ? .placeholder : .otherVersion
    }
  }
}

/// Looks for images by entity.
extension TableLookup {
  /// The image of the key's entity, of whichever version; where another process owns the file, the closer
  /// one of its image and this process's.
  ///
  /// - Parameter isExact: Finds the key's version only, and not if it is marked stale.
  func variant(of key: TableKey, isExact: Bool = false) -> TableVariant? {
    // A record that cannot be read now is a miss now, and stays for later lookups.
    guard let (leased, reader) = try? lease(key, isExact: isExact) else { return nil }
    let own = leased.flatMap { variant($0, of: key, isExact: isExact) }
    if own?.standing == .current || (isExact && leased != nil) { return own }
    guard let other = reader?.variant(of: key, isExact: isExact) else { return own }
    if let own, own.standing <= other.standing { return own }
    if isExact { formerHitCount.wrappingAdd(1, ordering: .relaxed) }
    return other
  }

  /// Takes a lease on the image of a key's entity, and tells where else it may be.
  func lease(
    _ key: TableKey, isExact: Bool
  ) throws(SystemError) -> (leased: LeasedSlot?, reader: TableReader?) {
    try withRecordsLoaded(of: key.entity.digest) { current in
      let leased = current.file.flatMap { file in
        current.index.lease(key, isExact: isExact).map { LeasedSlot(file: file, lease: $0) }
      }
      return (leased, current.reader)
    }
  }

  /// The image of an entity by the records. One of an earlier session counts before it has been checked.
  ///
  /// - Parameter version: `nil` for whichever.
  func image(
    of entity: TableID, version: TableID? = nil
  ) throws(SystemError) -> StoredImageState? {
    let (own, reader) = try withRecordsLoaded(of: entity.digest) {
      ($0.index.storedImageState(of: entity, version: version), $0.reader)
    }
    if let own, !own.isStale { return own }
    guard let reader, let record = reader.record(of: entity, version: version) else { return own }
    return StoredImageState(generation: record.generation, isStale: reader.isStale(record))
  }

  /// Takes the lease over.
  private func variant(
    _ leased: LeasedSlot, of key: TableKey, isExact: Bool
  ) -> TableVariant? {
    let (file, lease) = (leased.file, leased.lease)
    if let known = lease.known, let content = file.mappedContent(of: lease.slot) {
      return TableVariant(
        entry: TableEntry(
          HitIndex.Hit(lease: leased.held, content: content, extent: known.extent)),
        standing: .init(of: .full(known.version), wanted: key.version, isStale: lease.isStale))
    }
    // The first look at an image of an earlier session. Without a mapping every hit is a copy.
    guard let copy = copy(of: leased, key.entity), !isExact || copy.trailer.matches(key) else {
      if isExact { leased.held.undo() } else { leased.held.end() }
      return nil
    }
    let extent = copy.trailer.extent
    if copy.trailer.matches(key) {
      changeIndex(of: file) {
        $0.verify(lease.slot, generation: lease.record.generation, key: key, extent: extent)
      }
    }
    return TableVariant(
      entry: entry(ofLeased: lease.slot, in: file, copy: copy.content, extent: extent),
      standing: .init(of: copy.trailer.version, wanted: key.version, isStale: lease.isStale))
  }
}

extension TableReader {
  func variant(of key: TableKey, isExact: Bool) -> TableVariant? {
    let copy = copy(of: key.entity) { record, trailer in
      !isExact || trailer.version.matches(key.version) && !isStale(record)
    }
    return copy.map {
      TableVariant(
        entry: TableEntry(content: $0.content, extent: $0.trailer.extent),
        standing: .init(
          of: $0.trailer.version, wanted: key.version, isStale: isStale($0.record)))
    }
  }
}
