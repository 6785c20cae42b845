import Locking

/// The result of storing an image.
package struct Insertion: Sendable {
  /// The image, leased; in private memory where the table has it unverified.
  package let entry: TableEntry
  /// The image that was evicted for it.
  package let eviction: Eviction?
}

extension TableWriter {
  /// Stores an image; from its return on it is found, in this process and after a crash of it.
  mutating func insert(_ sealed: SealedSlot) throws(TableError) -> Insertion {
    guard sealed.content.layout.hasSameSlots(as: opener.layout) else { throw .foreignSlot }
    try ensureWritable()
    try backOff.admit()
    return try store(sealed)
  }

  /// Stores a placeholder, unless there is a real image of its entity.
  mutating func insertPlaceholder(_ sealed: SealedSlot) throws(TableError) -> Insertion? {
    try ensureWritable()
    try opener.wrapping { () throws(SystemError) in try findReader() }
    return hasReal(sealed) ? nil : try insert(sealed)
  }

  /// Whether there is a real image of a placeholder's entity, marked stale or not.
  func hasReal(_ placeholder: SealedSlot) -> Bool {
    // As a placeholder sees it, a real image is of another version.
    placeholder.key.flatMap { lookup.variant(of: $0) }?.standing == .otherVersion
  }

  /// Stores the image of a key anew with other metadata; `nil` if a lookup does not find it.
  mutating func setMetadata(
    _ metadata: [UInt8], of key: TableKey
  ) throws(TableError) -> Insertion? {
    try ensureWritable()
    guard let entry = lookup.entry(entity: key.entity, version: key.version) else {
      if lookup.isProtectedNow(key) { throw .protectedDataUnavailable(name: opener.name) }
      return nil
    }
    try backOff.admit()
    guard let buffer = lookup.pool.makeBuffer() else {
      throw .outOfMemory(byteCount: opener.layout.contentByteCount)
    }
    entry.withPixels { buffer.pixels.copyMemory(from: $0) }
    return try store(
      try buffer.sealed(
        key: key, extent: entry.extent, source: entry.source, metadata: metadata))
  }

  /// Stores an image in a table that is writable, by the steps of `Docs/TableFormat.md`, *Storing*.
  ///
  /// - Parameter drawn: The generation of an image that comes from another file of the table.
  mutating func store(
    _ sealed: SealedSlot, drawn: UInt64? = nil
  ) throws(TableError) -> Insertion {
    generation = max(generation, drawn ?? 0)
    // 1.
    let (found, claimed) = try withRecordsLoaded(of: sealed.entity) {
      ($0.file, $0.index.claimSlot(for: sealed.entity))
    }
    guard let file = found, let claim = claimed else { throw .allSlotsLeased }
    let slot = claim.slot
    let record = SlotRecord(
      entity: sealed.entity, version: sealed.version, generation: drawn ?? nextGeneration(),
      contentHash: sealed.contentHash, recency: file.states.hitIndex.nextStamp(),
      at: file.slotAddress(of: slot))
    do throws(SystemError) {
      // 2.
      if !claim.isErased { try file.writeRecord(nil, to: slot) }
      // 3.
      try file.writeContent(sealed.content.bytes, to: slot)
      byteCount = max(byteCount, file.layout.slotOffset(slot) + file.layout.contentByteCount)
      // 4.
      try file.writeRecord(record, to: slot)
    } catch {
      lookup.changeIndex(of: file) { $0.unclaim(slot) }
      erase(slot, in: file)
      // A locked device says nothing about the next attempt.
      if !opener.system.isLock(error) { backOff.fail() }
      throw opener.tableError(error)
    }
    backOff.succeed()
    // 5.
    let isStale = drawn.map { $0 <= stale[sealed.entity] ?? 0 } ?? false
    let older = lookup.current.withLock { current in
      defer { if isStale { current.index.markStale(sealed.entity, upTo: record.generation) } }
      return current.index.publish(slot, record: record, key: sealed.key, extent: sealed.extent)
    }
    if !isStale { unmark(sealed.entity) }
    // 6.
    if let older { erase(older, in: file) }
    let entry =
      sealed.key == nil
      ? TableEntry(keepingPrivate: sealed)
      : lookup.entry(ofLeased: slot, in: file, copy: sealed.content, extent: sealed.extent)
    return Insertion(entry: entry, eviction: claim.eviction)
  }
}
