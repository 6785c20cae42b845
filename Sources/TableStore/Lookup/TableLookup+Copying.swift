import Locking

/// The content of a slot in private memory, of which every byte was checked.
struct SlotCopy {
  let content: SlotContent
  let record: SlotRecord
  let trailer: SlotTrailer
}

/// A slot with a silent lease.
struct LeasedSlot {
  let file: TableFile
  let slot: Int
  let record: SlotRecord
}

/// Copies pictures of whichever version, for changes that keep the pixels.
extension TableLookup {
  /// Takes a silent lease on the slot of an entity's picture.
  func leaseSilently(_ entity: TableID) throws(SystemError) -> LeasedSlot? {
    try ask(about: entity.digest) { shelf in
      guard let file = shelf.file, let slot = shelf.index.findAny(entity.digest),
        let record = shelf.index.leaseSilently(slot)
      else { return nil }
      return LeasedSlot(file: file, slot: slot, record: record)
    }
  }

  /// Reads a leased slot from its file and checks it; `nil`, and the slot out of the index, where it
  /// is damaged, and `nil` if it is another entity's.
  func copy(of leased: LeasedSlot, _ entity: TableID) -> SlotCopy? {
    let (file, slot, record) = (leased.file, leased.slot, leased.record)
    let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
    guard let made else { return nil }
    switch made.result {
    case .intact(let trailer):
      guard trailer.entity.matches(entity) else { return nil }
      return SlotCopy(content: made.content, record: record, trailer: trailer)
    case .damaged:
      var isLost = false
      changeIndex(of: file) { isLost = $0.discard(slot, generation: record.generation) }
      if isLost { tellOfDamage(to: entity) }
      return nil
    case .refused:
      return nil
    }
  }
}
