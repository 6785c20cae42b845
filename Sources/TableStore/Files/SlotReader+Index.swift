/// From the records of a file to its index.
extension SlotReader {
  /// An index of the records, which stay unread where they can.
  ///
  /// - Parameter isUnwanted: Whose pictures were removed, though the file has them.
  func index(
    on states: SlotStates, without isUnwanted: TableOpener.Filter = { _, _ in false }
  ) throws(SystemError) -> TableIndex {
    var index = TableIndex(slotCount: header.layout.slotCount, states: states)
    let count = try writtenSlotCount()
    index.reserveCapacity(count)
    var failure: SystemError?
    try forEachRecord(
      in: 0..<count, prefetching: { index.prefetch($0) },
      found: { slot, record in
        if isUnwanted(slot, record) { return index.refuse(record, in: slot) }
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
  /// A page at a time, so that one that cannot be read does not keep the others unread.
  ///
  /// - Parameter change: Changes the index; called for each page, since readers may have to wait
  ///   meanwhile.
  /// - Throws: Why some could not be read; nothing is lost then.
  func readRecords(
    of change: ((inout TableIndex) -> Void) -> Void
  ) throws(SystemError) -> [Int] {
    let count = try writtenSlotCount()
    let page = 4096 / TableLayout.recordByteCount
    var failures: [SystemError] = []
    for start in stride(from: 0, to: count, by: page) {
      var records: [(slot: Int, record: SlotRecord)] = []
      do throws(SystemError) {
        try forEachRecord(in: start..<min(start + page, count), found: { records.append(($0, $1)) })
      } catch {
        failures.append(error)
        // A device that fails takes its time for each answer.
        if failures.count == 8 { throw error }
      }
      change { index in
        for (slot, record) in records { index.learn(record, in: slot) }
      }
    }
    if let failure = failures.first { throw failure }
    var lost: [Int] = []
    change { lost = $0.loseUnread() }
    return lost
  }
}
