/// Reading records into an index.
extension SlotReader {
  /// Makes an index of the file; it leaves records unread where it can.
  ///
  /// - Parameter isUnwanted: Picks records of removed pictures, which are left out.
  func index(
    on states: SlotStates, without isUnwanted: Filter = { _, _ in false }
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
          // Two records of one entity, or with digests that begin alike, must both be read.
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

  /// Reads all records that the index left in the file, and returns the slots that were lost.
  ///
  /// It reads page by page, so that a page that cannot be read leaves the others readable.
  ///
  /// - Parameter change: Changes the index under its lock; called for each page, since readers wait
  ///   meanwhile.
  /// - Throws: The error of a page that could not be read; no slot is lost then.
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
        // A failing device is slow to answer each read.
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
