/// From the records of a file to its index.
extension SlotReader {
  /// An index of the records, which stay unread where they can.
  func index(on board: SlotBoard) throws(SystemError) -> TableIndex {
    var index = TableIndex(slotCount: header.layout.slotCount, board: board)
    index.reserveCapacity(try writtenSlotCount())
    var failure: SystemError?
    try forEachRecord(
      expecting: { index.expect($0) },
      found: { slot, record in
        if index.adoptFirst(record, in: slot) { return }
        do throws(SystemError) {
          // Of two for one entity, or with digests that begin alike, both have to be known.
          while let unread = index.unreadSlot(for: record.entity) {
            index.learn(try self.record(of: unread), in: unread, of: record.entity)
          }
          index.adopt(record, in: slot)
        } catch {
          failure = error
        }
      })
    if let failure { throw failure }
    index.finishAdopting()
    return index
  }

  /// Reads all records that an index left in the file, and returns the slots that it lost by that.
  ///
  /// - Parameter change: Changes the index. It is called for some records at a time, since readers
  ///   may have to wait meanwhile.
  func readRecords(
    of change: ((inout TableIndex) -> Void) -> Void
  ) throws(SystemError) -> [Int] {
    var batch: [(slot: Int, record: SlotRecord)] = []
    func learnBatch() {
      change { index in
        for (slot, record) in batch { index.learn(record, in: slot) }
      }
      batch.removeAll(keepingCapacity: true)
    }
    try forEachRecord { slot, record in
      batch.append((slot: slot, record: record))
      if batch.count == 256 { learnBatch() }
    }
    learnBatch()
    var lost: [Int] = []
    change { lost = $0.loseUnread() }
    return lost
  }
}
