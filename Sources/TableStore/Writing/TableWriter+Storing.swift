import Locking

/// The result of storing a picture.
package struct Insertion: Sendable {
  /// The picture, leased; in private memory where the table has it unproven.
  package let entry: TableEntry
  /// The picture that was evicted for it.
  package let eviction: Eviction?
}

extension TableWriter {
  /// Stores a picture; from its return on it is found, in this process and after a crash of it.
  ///
  /// The order of the steps makes a picture whole or absent after a kill at any instant:
  ///
  /// 1. A slot is claimed, and leaves the index.
  /// 2. The record of the slot becomes zero, if it is not yet: nothing names the slot while it is
  ///    written.
  /// 3. The content is written.
  /// 4. The record is written. The system already has the content that it names.
  /// 5. Readers see the picture.
  /// 6. The record of the entity's older picture becomes zero.
  ///
  /// A power cut may keep any mixture of these writes; then the hashes decide.
  mutating func insert(_ sealed: SealedSlot) throws(TableError) -> Insertion {
    guard sealed.content.layout.hasSameSlots(as: opener.layout) else { throw .foreignSlot }
    try ensureWritable()
    try backOff.admit()
    return try store(sealed)
  }

  /// Stores a placeholder, unless there is a real picture of its entity, here or in the owner's file.
  mutating func insertPlaceholder(_ sealed: SealedSlot) throws(TableError) -> Insertion? {
    try ensureWritable()
    try opener.wrapping { () throws(SystemError) in try findReader() }
    return hasReal(sealed) ? nil : try insert(sealed)
  }

  /// Whether there is a real picture of a placeholder's entity, marked stale or not.
  func hasReal(_ placeholder: SealedSlot) -> Bool {
    // As a placeholder sees it, a real picture is of another version.
    placeholder.key.flatMap { lookup.variant(of: $0) }?.standing == .otherVersion
  }

  /// Stores the picture of a key anew with other metadata; `nil` if a lookup does not find it.
  ///
  /// Costs a copy of the slot. The older slot stays as it is for its leases.
  mutating func setMetadata(
    _ metadata: [UInt8], of key: TableKey
  ) throws(TableError) -> Insertion? {
    try ensureWritable()
    guard let entry = lookup.entry(entity: key.entity, version: key.version) else {
      if lookup.isProtectedNow(key) { throw .protectedNow(name: opener.name) }
      return nil
    }
    try backOff.admit()
    guard let buffer = lookup.pool.makeBuffer(isCleared: false) else {
      throw .outOfMemory(byteCount: opener.layout.contentByteCount)
    }
    entry.withPixels { buffer.pixels.copyMemory(from: $0) }
    return try store(try buffer.sealed(key: key, extent: entry.extent, metadata: metadata))
  }

  /// Stores a picture in a table that is writable, by the steps of ``insert(_:)``.
  ///
  /// - Parameter drawn: The generation of a picture that comes from another file of the table.
  mutating func store(
    _ sealed: SealedSlot, drawn: UInt64? = nil
  ) throws(TableError) -> Insertion {
    generation = max(generation, drawn ?? 0)
    // 1.
    guard let (file, claim) = try claimSlot(for: sealed.entity) else { throw .allSlotsLeased }
    let slot = claim.slot
    let record = SlotRecord(
      entity: sealed.entity, version: sealed.version, generation: drawn ?? nextGeneration(),
      contentHash: sealed.contentHash, recency: file.states.hitIndex.nextStamp(),
      at: file.slotAddress(of: slot))
    do throws(SystemError) {
      // 2. The record of the slot erased last is zeros already (invariant 5).
      if erased != slot { try file.writeRecord(nil, to: slot) }
      noteErased(slot)
      // 3.
      try file.writeContent(sealed.content.bytes, to: slot)
      byteCount = max(byteCount, file.layout.slotOffset(slot) + file.layout.contentByteCount)
      // 4.
      noteRecord(of: slot)
      try file.writeRecord(record, to: slot)
    } catch {
      erase(slot, in: file)
      lookup.changeIndex(of: file) { $0.unclaim(slot) }
      throw failure(for: error)
    }
    backOff.succeed()
    // 5.
    let isStale = drawn.map { $0 <= stale[sealed.entity] ?? 0 } ?? false
    let older = lookup.shelf.withLock { shelf in
      shelf.change { index in
        defer { if isStale { index.setAside(sealed.entity, upTo: record.generation) } }
        return index.publish(slot, record: record, key: sealed.key, extent: sealed.extent)
      }
    }
    if !isStale { unmark(sealed.entity) }
    // 6.
    if let older { erase(older, in: file) }
    let entry =
      sealed.key == nil
      ? nil
      : lookup.entry(ofLeased: slot, in: file, copy: sealed.content, extent: sealed.extent)
    return Insertion(
      entry: entry ?? TableEntry(keepingPrivate: sealed), eviction: claim.eviction)
  }

  // MARK: Private

  private func claimSlot(
    for entity: TableID.Digest
  ) throws(TableError) -> (TableFile, TableIndex.Claim)? {
    let found = try opener.wrapping { () throws(SystemError) in
      try lookup.ask(about: entity) { ($0.file, $0.change { $0.claimSlot(for: entity) }) }
    }
    guard let file = found.0, let claim = found.1 else { return nil }
    return (file, claim)
  }

  /// The error of a store that failed; counts it, unless a locked device is the reason.
  private mutating func failure(for error: SystemError) -> TableError {
    if !opener.system.isLock(error) { backOff.fail() }
    return opener.tableError(error)
  }
}
