/// Reading records into an index.
extension SlotReader {
  /// Makes an index of the file from its records.
  ///
  /// - Parameters:
  ///   - loadsRecords: Keeps all records in memory, so that the index reads none later.
  ///   - isUnwanted: Picks records of removed images, which are left out.
  func index(
    on states: SlotStates, loadsRecords: Bool = false,
    without isUnwanted: Filter = { _, _ in false }
  ) throws(SystemError) -> TableIndex {
    var index = TableIndex(
      slotCount: header.layout.slotCount, states: states, readRecord: recordSource)
    let writtenCount = try writtenSlotCount()
    var builder = index.stored.makeBuilder(slotCount: writtenCount)
    var count = 0
    var loaded: [(slot: Int, record: SlotRecord)] = []
    try forEachRecord(
      in: 0..<writtenCount, prefetching: { builder.prefetch($0, isNear: $1) },
      found: { slot, record in
        count = slot + 1
        if isUnwanted(slot, record) { return index.refuse(record, in: slot) }
        builder.adopt(record, in: slot)
        if loadsRecords { loaded.append((slot, record)) }
      })
    // Without the newer of two records the older one would count, so that any error ends the opening.
    try index.finishAdopting(count, builder) { slot throws(SystemError) in try record(of: slot) }
    for (slot, record) in loaded { index.addRecord(record, in: slot) }
    return index
  }

  /// A record that cannot be read is lost, unless a locked device is the reason.
  var recordSource: TableIndex.RecordSource {
    { [self] slot throws(SystemError) in
      do throws(SystemError) { return try record(of: slot) } catch {
        if system.isLock(error) { throw error }
        return nil
      }
    }
  }
}
