/// From the records of a file to its index.
extension SlotReader {
  /// An index of the records, which stay unread where they can.
  func index(on board: SlotBoard) throws(SystemError) -> TableIndex {
    var index = TableIndex(slotCount: header.layout.slotCount, board: board)
    index.reserveCapacity(try writtenSlotCount())
    try forEachRecord(
      expecting: { index.expect($0) },
      found: { slot, record in
        // Of two for one entity, or with digests that begin alike, both have to be known.
        while let unread = index.unreadSlot(for: record.entity) { read(unread, into: &index) }
        index.adopt(record, in: slot)
      })
    index.finishAdopting()
    return index
  }

  private func read(_ slot: Int, into index: inout TableIndex) {
    // A record that cannot be read is as lost as a damaged one.
    if let record = (try? record(of: slot)) ?? nil {
      index.learn(record, in: slot)
    } else {
      index.lose(slot)
    }
  }

  /// Reads all records that an index left in the file; those that cannot be read are lost to it.
  ///
  /// - Parameter change: Changes the index. It is called for some records at a time, since readers
  ///   may have to wait meanwhile.
  func readRecords(of change: ((inout TableIndex) -> Void) -> Void) {
    var batch: [(slot: Int, record: SlotRecord)] = []
    func learnBatch() {
      change { index in
        for (slot, record) in batch { index.learn(record, in: slot) }
      }
      batch.removeAll(keepingCapacity: true)
    }
    // Why the rest cannot be read makes no difference to what is done then.
    try? forEachRecord { slot, record in
      batch.append((slot: slot, record: record))
      if batch.count == 256 { learnBatch() }
    }
    learnBatch()
    change { $0.loseUnread() }
  }
}
