import CMappedFiles

/// What a lookup finds that reads no image.
package enum TableFinding: Sendable {
  case verified(TableEntry)

  /// The image is there, and a look at it reads and checks it: one of an earlier session, or in a file that is copied
  /// from.
  ///
  /// - Parameter isInMemory: Whether reading it waits for no disk.
  case unverified(isInMemory: Bool)

  case missing
}

extension TableLookup {
  func find(_ key: TableKey) -> TableFinding {
    // A record that cannot be read now is a miss now, as for a lookup.
    guard let (leased, reader) = try? lease(key, isExact: true) else { return .missing }
    guard let leased else {
      let record = reader?.record(of: key.entity, version: key.version)
      let isThere = record.map { reader?.isStale($0) == false } ?? false
      return isThere ? .unverified(isInMemory: false) : .missing
    }
    let (file, slot) = (leased.file, leased.lease.slot)
    if let known = leased.lease.known, let content = file.mappedContent(of: slot) {
      return .verified(
        TableEntry(HitIndex.Hit(lease: leased.held, content: content, extent: known.extent)))
    }
    defer { leased.held.undo() }
    return .unverified(isInMemory: file.isInMemory(slot))
  }
}

extension TableFile {
  /// Whether all pages of a slot are in memory, as the system tells of a mapped file; one system call.
  fileprivate func isInMemory(_ slot: Int) -> Bool {
    guard let base else { return false }
    let page = SystemMemory.pageByteCount
    let start = layout.slotOffset(slot) / page * page
    let end = layout.slotOffset(slot) + layout.contentByteCount
    // Without a descriptor it is the mapping that is looked at.
    let counts = fic_count_pages(-1, base + start, end - start)
    return counts.resident == (end - start + page - 1) / page
  }
}
