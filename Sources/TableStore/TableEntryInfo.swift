/// What a table keeps about one picture.
package struct TableEntryInfo: Hashable, Sendable {
  package let slot: Int
  package let entity: StoredID
  package let version: StoredID
  package let extent: SlotExtent
  package let metadata: [UInt8]
  /// Grows with each use; comparable within one table only.
  package let recency: UInt64

  init(slot: Int, trailer: SlotTrailer, recency: UInt64) {
    self.slot = slot
    entity = trailer.entity
    version = trailer.version
    extent = trailer.extent
    metadata = trailer.metadata
    self.recency = recency
  }
}

/// A slot whose bytes are not the ones that were stored.
package struct TableDamage: Hashable, Sendable {
  package let slot: Int
  /// Whose picture it was, when that can still be read; not to be relied on.
  package let entity: StoredID?
}

/// Figures of one table at one moment.
package struct TableStatistics: Hashable, Sendable {
  /// Pictures that the table can hold.
  package let slotCount: Int
  /// Pictures that can be found.
  package let liveCount: Int
  /// Slots that somebody looks at, those of pictures that were removed meanwhile included.
  package let leasedCount: Int
  /// Live slots that were found on disk and not been looked at in this session.
  package let unprovenCount: Int
  /// Pictures that made room for others in this session.
  package let evictionCount: Int
  /// Slots that turned out to be damaged in this session.
  package let damageCount: Int
  /// Lookups that found a picture in this session.
  package let hitCount: Int
  /// Bytes of the file on its device, holes left out.
  package let diskByteCount: Int
  /// Bytes of address space.
  package let mappedByteCount: Int
  /// False while another process has the table, and new pictures go to a private one.
  package let isOwner: Bool
}
