/// Moves pictures from one table file to another with the same slots, newest first, for as long as
/// there is room.
///
/// Each slot is checked in full on the way. Content is the same in both files; only the hashes that
/// bind it to its place are made anew.
struct TableCopy {
  private let source: SlotReader
  private let target: SlotReader

  init(from source: SlotReader, to target: SlotReader) {
    self.source = source
    self.target = target
  }

  /// Copies what can be copied; a picture that cannot is left out, and one that cannot be written ends
  /// the copy. What is there by then is whole.
  ///
  /// - Parameter isUnwanted: Whose pictures were removed though their records stand in the source.
  /// - Throws: Why the records could not be read, or that the device is locked: the source should
  ///   keep its place then.
  func run(without isUnwanted: TableOpener.Filter) throws(SystemError) {
    let records = try source.records()
    let layout = target.header.layout
    let content = UnsafeMutableRawBufferPointer.allocate(
      byteCount: layout.contentByteCount, alignment: 64)
    defer { content.deallocate() }
    var slot = 0
    let newestFirst = newestPerEntity(records, without: isUnwanted).sorted {
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
        // The rest can be copied later; on a full device it never can.
        if target.system.isLock(error) { throw error }
        return
      }
      slot += 1
    }
  }

  private func newestPerEntity(
    _ records: [(slot: Int, record: SlotRecord)], without isUnwanted: TableOpener.Filter
  ) -> [(slot: Int, record: SlotRecord)] {
    // After the last generation there is none for the next store; such a file is begun anew.
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
