/// What is known of the records of live slots.
extension TableIndex {
  func extent(of slot: Int) -> SlotExtent { board.label(of: slot).extent }

  /// The record of a live slot as it stands in the file.
  func record(of slot: Int) -> SlotRecord {
    let (label, known) = (board.label(of: slot), board.facts(of: slot))
    return SlotRecord(
      entity: label.entity, source: label.source, generation: known.generation,
      slotHash: known.slotHash, recency: known.recency)
  }

  /// The id of a slot's entity, when this process has seen it.
  func entity(of slot: Int) -> TableID? {
    guard board.state(of: slot).isProven else { return nil }
    let label = board.label(of: slot)
    return TableID(
      kind: label.entityKind, digest: label.entity, bytes: board.strings(of: slot).entityBytes)
  }

  /// The key of a slot, when this process has seen it.
  func key(of slot: Int) -> TableKey? {
    guard let entity = entity(of: slot) else { return nil }
    let label = board.label(of: slot)
    let source = TableID(
      kind: label.sourceKind, digest: label.source, bytes: board.strings(of: slot).sourceBytes)
    return TableKey(entity: entity, source: source)
  }

  /// Takes a silent lease on a live slot, for looking into it outside the lock.
  func leaseSilently(_ slot: Int) -> SlotRecord? {
    guard slot < board.preparedCount, isLive(slot) else { return nil }
    board.leaseSilently(slot)
    return currentRecord(of: slot)
  }

  /// The record of a live slot as it ought to stand in the file, with the stamp of its last use.
  private func currentRecord(of slot: Int) -> SlotRecord {
    var record = record(of: slot)
    record.recency = board.stamp(of: slot)
    return record
  }

  // MARK: Recency

  /// The records whose recency differs from the file's, noted as written: those of the first run of
  /// neighbours at or after `slot`, at most `limit` of them.
  func takeOutdatedRecords(
    from slot: Int, limit: Int
  ) -> (slot: Int, records: [SlotRecord])? {
    let rest = board.readSlots(in: slot..<max(slot, board.preparedCount))
    guard let first = rest.first(where: isOutdated) else { return nil }
    let run = (first..<board.preparedCount).prefix(limit).prefix(while: isOutdated)
    let records = run.map(currentRecord)
    for (slot, record) in zip(run, records) { board.setFacts(SlotFacts(record), of: slot) }
    return (first, records)
  }

  private func isOutdated(_ slot: Int) -> Bool {
    !board.isUnread(slot) && isLive(slot)
      && board.facts(of: slot).recency != board.stamp(of: slot)
  }
}
