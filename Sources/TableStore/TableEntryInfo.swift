/// The metadata of one stored image.
package struct TableEntryInfo: Hashable, Sendable {
  package let slot: Int
  package let entity: StoredID
  package let version: StoredID
  package let extent: SlotExtent
  package let metadata: [UInt8]
  /// Grows with each use; comparable within one table only.
  package let recency: UInt64
  /// The time of storing in microseconds since 1970, as the clock told it then; no two images of a
  /// table have the same.
  package let generation: UInt64
  /// The digest of the entity, which is known of a hashed id too.
  let digest: TableID.Digest

  /// Whether it is a frame of an animation behind the first.
  package var isFrame: Bool { entity.known?.isFrame == true }

  /// The entity of a frame behind the first of the animation whose first frame this is.
  package func frame(_ index: Int) -> TableID { digest.frame(index) }

  init(slot: Int, record: SlotRecord, trailer: SlotTrailer) {
    self.slot = slot
    digest = record.entity
    recency = record.recency
    generation = record.generation
    entity = trailer.entity
    version = trailer.version
    extent = trailer.extent
    metadata = trailer.metadata
  }
}

/// Bytes of a table's file that are in memory; `nil` where the system does not tell.
package struct TableResidency: Hashable, Sendable {
  package let residentByteCount: Int?
  /// Of these, the bytes that are not on the disk yet.
  package let dirtyByteCount: Int?
}

/// A slot with other bytes than those stored.
package struct TableDamage: Hashable, Sendable {
  package let slot: Int
  /// The entity of the lost image, if the trailer can still be read; not verified.
  package let entity: StoredID?
}

/// Figures of one table at one moment.
package struct TableStatistics: Hashable, Sendable {
  /// Images that the table can hold.
  package let slotCount: Int
  /// Images that can be found, by their key or by their entity only.
  package let liveCount: Int
  /// Slots with leases, those of removed images included.
  package let leasedCount: Int
  /// Live slots of earlier sessions that were not checked in this one.
  package let unverifiedCount: Int
  /// Images evicted in this session.
  package let evictionCount: Int
  /// Slots found damaged in this session.
  package let damageCount: Int
  /// Lookups that found an image in this session.
  package let hitCount: Int
  /// Bytes of the file on its device, holes left out.
  package let diskByteCount: Int
  /// Bytes of address space.
  package let mappedByteCount: Int
  /// False while another process has the table, and new images go to a private one.
  package let isOwner: Bool
  /// Where the images of this process go.
  package let storage: TableStorage
}
