/// The records of live slots, the keys of their images, and figures.
extension TableIndex {
  /// A claimed slot, and the image that it held.
  struct Claim {
    let slot: Int
    /// True when this session has made the slot's record zeros.
    let isErased: Bool
    let eviction: Eviction?
  }

  /// The generation of an entity's image; 0 for none.
  func generation(of entity: TableID.Digest) -> UInt64 {
    find(entity).map { states.recordMetadata(of: $0).generation } ?? 0
  }

  var leasedSlots: [Int] { states.knownSlots.filter { !states.isUnleased($0) } }
  var unverifiedCount: Int {
    liveCount - states.knownSlots.count { isStored($0) && states.state(of: $0).isVerified }
  }

  /// The record of a live slot as it stands in the file.
  func record(of slot: Int) -> SlotRecord {
    let (label, known) = (states.label(of: slot), states.recordMetadata(of: slot))
    return SlotRecord(
      entity: label.entity, version: label.version, generation: known.generation,
      slotHash: known.slotHash, recency: known.recency)
  }

  /// The id of a slot's entity, when this process has seen it.
  func entity(of slot: Int) -> TableID? {
    guard states.state(of: slot).isVerified else { return nil }
    let label = states.label(of: slot)
    return TableID(
      kind: label.entityKind, digest: label.entity, bytes: states.strings(of: slot).entityBytes)
  }

  /// The key of a slot, when this process has seen it.
  func key(of slot: Int) -> TableKey? {
    guard let entity = entity(of: slot) else { return nil }
    let label = states.label(of: slot)
    let version = TableID(
      kind: label.versionKind, digest: label.version, bytes: states.strings(of: slot).versionBytes)
    return TableKey(entity: entity, version: version)
  }

  /// Notes that a leased slot was read and matches its record.
  func verify(_ slot: Int, generation: UInt64, key: TableKey, extent: SlotExtent) {
    guard isSame(slot, generation) else { return }
    states.verify(slot, key: key, extent: extent)
  }

  /// Makes a slot known.
  func note(_ record: SlotRecord, in slot: Int) {
    states.setRecordMetadata(RecordMetadata(record), of: slot)
    states.adopt(slot, entity: record.entity, version: record.version)
    // A use that the file does not have yet, of a session that was killed, counts.
    states.setStamp(stored.stamp(of: slot), of: slot)
  }

  /// The stamp of the record's last use. Only a forged file has stamps beyond the limit.
  static func stamp(of record: SlotRecord) -> UInt64 {
    record.recency < UInt64.max / 2 ? record.recency : 0
  }

  /// The current records of the images in a range of slots.
  func currentRecords(in slots: Range<Int>) -> [(slot: Int, record: SlotRecord)] {
    slots.clamped(to: 0..<states.preparedCount).filter(hasImage).map {
      ($0, currentRecord(of: $0))
    }
  }

  /// The record of a live slot with the stamp of its last use, which the file may not have yet.
  private func currentRecord(of slot: Int) -> SlotRecord {
    var record = record(of: slot)
    record.recency = states.stamp(of: slot)
    return record
  }

  // MARK: Recency

  /// A stamp later than all uses before, and earlier than those from now on; images on leases are in use.
  func markUses() -> UInt64 {
    let stamp = states.advanceClock()
    for slot in leasedSlots { states.setStamp(stamp &+ 1, of: slot) }
    states.advanceClock(beyond: stamp)
    return stamp
  }

  /// The records of the first neighbouring slots, at or after `slot`, whose recency differs from
  /// the file's, at most `limit` of them; notes them as written.
  func takeOutdatedRecords(
    from slot: Int, limit: Int
  ) -> (slot: Int, records: [SlotRecord])? {
    guard let first = states.knownSlots(from: slot).first(where: isOutdated) else { return nil }
    let run = (first..<states.preparedCount).prefix(limit).prefix(while: isOutdated)
    let records = run.map(currentRecord)
    for (slot, record) in zip(run, records) {
      states.setRecordMetadata(RecordMetadata(record), of: slot)
      stored.setStamp(record.recency, of: slot)
    }
    return (first, records)
  }

  /// Notes that these records could not be written.
  func noteUnwritten(_ records: [SlotRecord], from slot: Int) {
    for (slot, var record) in zip(slot..., records) where isSame(slot, record.generation) {
      record.recency = 0
      states.setRecordMetadata(RecordMetadata(record), of: slot)
    }
  }

  private func isOutdated(_ slot: Int) -> Bool {
    hasImage(slot) && states.recordMetadata(of: slot).recency != states.stamp(of: slot)
  }
}

/// An image that made room for another.
package struct Eviction: Hashable, Sendable {
  /// Its entity; `nil` for an image of an earlier session that was never read in this one.
  package let entity: TableID?
}
