import Locking

/// Lists the images of another owner's file.
extension TableReader {
  /// All images that are intact, and all slots that are not, both in the order of slots; reads the
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
  private func freshRecords() -> (ReadableFile, [SlotReader.Found]) {
    _ = try? refresh()
    let snapshot = snapshot.withLock { $0 }
    return (snapshot.file, snapshot.images.values.sorted { $0.slot < $1.slot })
  }

  /// The images that have a record, by their trailers, in the order of slots; reads no pixels.
  ///
  /// An image whose slot an owner writes meanwhile is left out, or is the new one.
  package func entries() -> [TableEntryInfo] {
    let (file, records) = freshRecords()
    return records.compactMap { file.slotReader.info(of: $0.slot, $0.record) }
  }

  /// The part of the file that is in memory.
  package var residency: TableResidency {
    let file = file
    return TableResidency(of: file.slotReader.descriptor, mapped: nil, file.header.layout)
  }

  /// The images in the next `count` slots by their trailers, without those that have tombstones; `nil` at
  /// the end of the file.
  func list(_ position: inout ListingCursor.Position, count: Int) -> [TableEntryInfo]? {
    // After an error the records of the last snapshot are known.
    if position.slot == 0 { _ = try? refresh() }
    let snapshot = snapshot.withLock { $0 }
    let reader = snapshot.file.slotReader
    position.enter(reader.header)
    let rest = position.slot..<max(position.slot, reader.header.layout.slotCount)
    if rest.isEmpty { return nil }
    position.slot += count
    var listed: [TableEntryInfo] = []
    // Images whose records cannot be read now are left out.
    try? reader.forEachRecord(in: rest.prefix(count)) { slot, record in
      guard snapshot.images[record.entity]?.slot == slot, !hasTombstone(record) else { return }
      if let info = reader.info(of: slot, record) { listed.append(info) }
    }
    return listed
  }
}

extension SlotReader {
  /// What record and trailer tell of an image; `nil` if they disagree, or cannot be read.
  fileprivate func info(of slot: Int, _ record: SlotRecord) -> TableEntryInfo? {
    let trailer = try? trailer(of: slot, record: record)
    return trailer.map { TableEntryInfo(slot: slot, record: record, trailer: $0) }
  }
}
