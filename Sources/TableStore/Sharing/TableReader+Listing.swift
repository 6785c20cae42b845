import Locking

/// Lists the pictures of another owner's file.
extension TableReader {
  /// All pictures that are intact, and all slots that are not, both in the order of slots; reads the
  /// whole file.
  package func scan() -> (entries: [TableEntryInfo], damages: [TableDamage]) {
    let (file, records) = freshRecords()
    var entries: [TableEntryInfo] = []
    var damages: [TableDamage] = []
    for (slot, record) in records {
      let finding = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
      switch finding?.result {
      case .intact(let trailer)?:
        entries.append(TableEntryInfo(slot: slot, record: record, trailer: trailer))
      case .damaged(let entity)?:
        // An owner at work may have reused the slot meanwhile, which is no damage.
        let current = (try? file.slotReader.record(of: slot)) ?? nil
        if current?.generation == record.generation {
          damages.append(TableDamage(slot: slot, entity: entity))
        }
      case .refused?, nil:
        continue
      }
    }
    return (entries, damages)
  }

  /// All records in the order of slots; after an error those of the last snapshot.
  private func freshRecords() -> (ReadableFile, [(key: Int, value: SlotRecord)]) {
    _ = try? refresh()
    let (file, records) = snapshot.withLock { ($0.file, $0.records) }
    return (file, records.sorted { $0.key < $1.key })
  }

  /// The pictures that have a record, by their trailers, in the order of slots; reads no pixels.
  ///
  /// A picture whose slot an owner writes meanwhile is left out, or is the new one.
  package func entries() -> [TableEntryInfo] {
    let (file, records) = freshRecords()
    return records.compactMap { slot, record in
      let trailer = try? file.slotReader.trailer(of: slot, record: record)
      return trailer.map { TableEntryInfo(slot: slot, record: record, trailer: $0) }
    }
  }

  /// The part of the file that is in memory.
  package var residency: TableResidency {
    let file = file
    return TableResidency(of: file.slotReader.descriptor, mapped: nil, file.header.layout)
  }

  /// The intact pictures in the next `count` slots, without those that have tombstones; `nil` at the
  /// end of the file.
  func list(_ position: inout ListingCursor.Position, count: Int) -> [TableEntryInfo]? {
    // After an error the records of the last snapshot are read.
    if position.slot == 0 { _ = try? refresh() }
    let (file, records) = snapshot.withLock { ($0.file, $0.records) }
    position.enter(file.header)
    guard position.slot < file.header.layout.slotCount else { return nil }
    let slots = position.slot..<(position.slot + count)
    position.slot = slots.upperBound
    return slots.compactMap { slot in
      guard let record = records[slot], !isBuried(record),
        let made = pool.makeContent({ file.slotReader.read(slot, record: record, into: $0) }),
        let trailer = made.result.trailer
      else { return nil }
      return TableEntryInfo(slot: slot, record: record, trailer: trailer)
    }
  }
}
