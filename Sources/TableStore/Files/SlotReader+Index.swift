/// Reading records into an index.
extension SlotReader {
  /// Makes an index of the file from its records.
  ///
  /// - Parameters:
  ///   - learnsAtOnce: Keeps all records in memory, so that the index reads none later.
  ///   - isUnwanted: Picks records of removed pictures, which are left out.
  func index(
    on states: SlotStates, learnsAtOnce: Bool = false,
    without isUnwanted: Filter = { _, _ in false }
  ) throws(SystemError) -> TableIndex {
    var index = TableIndex(
      slotCount: header.layout.slotCount, states: states, learnsAtOnce: learnsAtOnce,
      readRecord: recordSource)
    let writtenCount = try writtenSlotCount()
    var builder = index.stored.makeBuilder(slotCount: writtenCount)
    let isQuick = !index.learnsAtOnce
    var (failure, count): (SystemError?, Int) = (nil, 0)
    try forEachRecord(
      in: 0..<writtenCount, prefetching: { builder.prefetch($0, isNear: $1) },
      found: { slot, record in
        count = slot + 1
        if isUnwanted(slot, record) { return index.refuse(record, in: slot) }
        if isQuick, builder.adopt(record, in: slot) { return }
        do throws(SystemError) { try index.adopt(record, in: slot) } catch { failure = error }
      })
    if let failure { throw failure }
    index.finishAdopting(count, builder)
    return index
  }

  var recordSource: TableIndex.RecordSource {
    { [self] slot throws(SystemError) in try record(of: slot) }
  }
}
