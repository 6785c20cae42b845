/// What the index answers.
extension TableIndex {
  /// What a search for a key found.
  enum Finding {
    case missing
    /// A slot with a lease taken, ready to be shown.
    case proven(slot: Int, extent: SlotExtent)
    /// A slot with a lease taken, of which only the record has been seen.
    case unproven(slot: Int, record: SlotRecord)
  }

  /// A slot to be written, and who lost it.
  struct Reservation {
    let slot: Int
    let eviction: Eviction?
  }

  /// What became of a reservation.
  enum Room {
    case reserved(Reservation)
    /// Who was used least recently is known when all records have been read.
    case unread
    /// Every slot is leased.
    case full
  }
}

/// A picture that made room for another.
package struct Eviction: Hashable, Sendable {
  /// Whose it was; `nil` when it came from an earlier session and was never looked at in this one.
  package let entity: TableID?
}
