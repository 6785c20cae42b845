/// Moves pictures from one table file to another with the same slots, newest first, for as long as
/// there is room.
///
/// Each slot is checked in full on the way. Content is the same in both files; only the hashes that
/// bind it to its slot address are new.
struct TableCopy {
  private let source: SlotReader
  private let target: SlotReader

  init(from source: SlotReader, to target: SlotReader) {
    self.source = source
    self.target = target
  }

  /// Copies all intact pictures, until one cannot be written. The pictures copied by then are
  /// whole.
  ///
  /// - Parameter isUnwanted: Picks records of removed pictures, which are left out.
  /// - Throws: The error of reading the records, or of a locked device: the source must keep its
  ///   name then.
  func run(without isUnwanted: SlotReader.Filter) throws(SystemError) {
    let records = try source.records()
    let layout = target.header.layout
    let content = UnsafeMutableRawBufferPointer.allocate(
      byteCount: layout.contentByteCount, alignment: 64)
    defer { content.deallocate() }
    var slot = 0
    let newestFirst = Self.newestPerEntity(records, without: isUnwanted).sorted {
      $0.record.recency > $1.record.recency
    }
    for (sourceSlot, record) in newestFirst {
      guard slot < layout.slotCount else { return }
      switch source.read(sourceSlot, record: record, into: content) {
      case .intact: break
      case .damaged: continue
      case .refused(let error): throw error
      }
      let address = SlotAddress(nonce: target.header.nonce, slot: slot)
      let copy = SlotRecord(
        entity: record.entity, version: record.version, generation: record.generation,
        contentHash: SlotContent.hash(of: UnsafeRawBufferPointer(content)),
        recency: record.recency, at: address)
      do throws(SystemError) {
        try target.system.write(
          UnsafeRawBufferPointer(content), to: target.descriptor, at: layout.slotOffset(slot))
        try target.system.write(
          copy.bytes(at: address), to: target.descriptor, at: layout.recordOffset(slot))
      } catch {
        // A locked device is unlocked later, and then all can be copied; a full one stays full.
        if target.system.isLock(error) { throw error }
        return
      }
      slot += 1
    }
  }

  /// Of the records of each entity the one stored last; none where a record was forged.
  static func newestPerEntity(
    _ records: [(slot: Int, record: SlotRecord)], without isUnwanted: SlotReader.Filter
  ) -> [(slot: Int, record: SlotRecord)] {
    // After the last generation no store is possible; the new file begins empty.
    guard !records.contains(where: { $0.record.generation >= SlotRecord.maximumGeneration }) else {
      return []
    }
    var newest: [TableID.Digest: (slot: Int, record: SlotRecord)] = [:]
    for item in records where !isUnwanted(item.slot, item.record) {
      guard item.record.generation > newest[item.record.entity]?.record.generation ?? 0 else {
        continue
      }
      newest[item.record.entity] = item
    }
    return Array(newest.values)
  }
}
