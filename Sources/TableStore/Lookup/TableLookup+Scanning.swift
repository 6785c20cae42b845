import Locking
import Synchronization

/// Looks at all slots of a table.
extension TableLookup {
  var statistics: TableStatistics {
    let file = shelf.withLock { $0.file }
    let storage = storage
    let diskByteCount = file?.slotReader.diskByteCount ?? 0
    return shelf.withLock { shelf in
      TableStatistics(
        slotCount: shelf.file?.layout.slotCount ?? opener.layout.slotCount,
        liveCount: shelf.index.liveCount,
        leasedCount: shelf.index.leasedSlots.count,
        unprovenCount: shelf.index.unprovenCount,
        evictionCount: shelf.index.evictionCount,
        damageCount: formerDamageCount.load(ordering: .relaxed) + shelf.index.damageCount,
        hitCount: formerHitCount.load(ordering: .relaxed) + shelf.index.states.hitCount,
        diskByteCount: diskByteCount,
        mappedByteCount: shelf.file?.mappedByteCount ?? 0,
        isOwner: shelf.isOwner, storage: storage)
    }
  }

  /// Reads every slot and checks every byte; damaged slots leave the index. Counts as no use of a
  /// picture. Finds nothing while the device is locked.
  func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    // Only a locked device throws.
    guard let file = shelf.withLock({ $0.file }), let lost = try? readRecords(of: file) else {
      return ([], [])
    }
    var entries: [TableEntryInfo] = []
    var damages = lost.map { TableDamage(slot: $0, entity: nil) }
    for slot in 0..<file.layout.slotCount {
      let leased = shelf.withLock { shelf in
        shelf.file === file ? shelf.index.leaseSilently(slot) : nil
      }
      guard let record = leased else { continue }
      switch read(LeasedSlot(file: file, slot: slot, record: record), of: nil)?.result {
      case .intact(let trailer)?:
        entries.append(TableEntryInfo(slot: slot, record: record, trailer: trailer))
      case .damaged(let entity)? where shelf.withLock({ $0.file === file }):
        damages.append(TableDamage(slot: slot, entity: entity))
      case .damaged, .refused, nil:
        // Another process may write to a file that was let go meanwhile.
        break
      }
      file.states.releaseSilently(slot)
    }
    return (entries, damages)
  }
}
