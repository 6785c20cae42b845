/// The results of the index's operations, and its figures.
extension TableIndex {
  /// The result of a search for a key.
  enum Finding {
    case missing
    /// A slot with a lease taken, whose picture may be shown.
    case proven(slot: Int, extent: SlotExtent)
    /// A slot with a lease taken, whose record was read and whose content was not.
    case unproven(slot: Int, record: SlotRecord)
  }

  /// A claimed slot, and the picture that it held.
  struct Claim {
    let slot: Int
    let eviction: Eviction?
  }

  /// The generation of an entity's picture; 0 for none.
  func generation(of entity: TableID.Digest) -> UInt64 {
    find(entity).map { states.recordMetadata(of: $0).generation } ?? 0
  }

  var leasedSlots: [Int] { states.knownSlots.filter { !states.isUnleased($0) } }
  var unprovenCount: Int {
    liveCount - states.knownSlots.count { isStored($0) && states.state(of: $0).isProven }
  }
}

/// A picture that made room for another.
package struct Eviction: Hashable, Sendable {
  /// Its entity; `nil` for a picture of an earlier session that was never read in this one.
  package let entity: TableID?
}
