/// Which picture is in which slot: a state machine without I/O and without locks.
///
/// ```
/// fresh, free --reserve--> reserved --publish--> live --remove, replace, discard--> free
///                              |                  |                       or, if leased, detained
///                              +---abandon--> free +--reserve (least recently used)--> reserved
/// detained --reserve, once its leases ended--> reserved
/// ```
///
/// Invariants:
/// 1. A slot is live exactly when `table` finds it, under its entity's digest; one slot per digest.
/// 2. Only live slots are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is reserved only when it has no leases; while reserved it is in no list.
/// 4. Each slot below `slots.count` is live, reserved, in `free`, or in `detained`; those above
///    were never used.
struct TableIndex {
  /// What the index knows of one slot.
  struct Slot {
    var record: SlotRecord
    var entityKind = TableID.Kind.string
    var sourceKind = TableID.Kind.string
    var width: UInt16 = 0
    var height: UInt16 = 0
    var isLive = false
    /// True once this process has written the slot, or has checked every byte of it.
    var isProven = false
  }

  /// What a search for a key found.
  enum Finding {
    case missing
    /// A slot with a lease taken, ready to be shown.
    case proven(slot: Int, extent: SlotExtent)
    /// A slot with a lease taken, of which only the record has been seen.
    case unproven(slot: Int, record: SlotRecord)
  }

  /// A slot to be written, and who lost it.
  struct Reservation {
    let slot: Int
    let eviction: Eviction?
  }

  let cells: SlotCells
  private let slotCount: Int
  private(set) var slots: [Slot] = []
  private let keys: KeyShelf
  private var table: DigestTable
  private var free: [Int] = []
  private var detained: [Int] = []
  private var queue = RecencyQueue()
  /// Slots that left the index, or never came into it, while the file goes on naming them.
  private var stale: [Int] = []
  private(set) var evictionCount = 0
  private(set) var damageCount = 0
  private var touched: UInt64 = 0
  /// The highest generation that a record ever had.
  private(set) var newestGeneration: UInt64 = 0

  /// An empty index. The records of a file come with `adopt`, in the order of slots, and then
  /// `finishAdopting`.
  ///
  /// - Parameter cells: of the same file. Slots that they know to be leased are not given out.
  init(slotCount: Int, cells: SlotCells) {
    self.slotCount = slotCount
    self.cells = cells
    keys = KeyShelf(slotCount: slotCount)
    table = DigestTable()
  }

  /// Makes room for so many records.
  mutating func reserveCapacity(_ count: Int) {
    slots.reserveCapacity(count)
    table = DigestTable(minimumCapacity: count)
  }

  /// Takes over several records; faster than one by one, since waiting for memory is most of it.
  mutating func adopt(_ records: [(slot: Int, record: SlotRecord)]) {
    // Kept, or the compiler would find the reading useless.
    touched ^= table.touch(records.lazy.map(\.record.entity))
    for (slot, record) in records { adopt(record, in: slot) }
  }

  /// Takes over a record that the file has, of a slot above all before; of two for one entity the
  /// newer counts.
  mutating func adopt(_ record: SlotRecord, in slot: Int) {
    append(upTo: slot)
    cells.prepare(slot + 1)
    slots.append(Slot(record: record))
    newestGeneration = max(newestGeneration, record.generation)
    if let rival = find(record.entity) {
      let isOlder = slots[rival].record.generation >= record.generation
      stale.append(isOlder ? slot : rival)
      if isOlder { return }
      table.remove(rival, for: record.entity)
      slots[rival].isLive = false
    }
    slots[slot].isLive = true
    table.insert(slot, for: record.entity)
    // No clock comes so far, except in a file that somebody made up.
    let stamp = record.recency < UInt64.max / 2 ? record.recency : 0
    cells.setStamp(stamp, of: slot)
    cells.resumeClock(after: stamp)
  }

  /// Gives the slots without a picture out from now on.
  mutating func finishAdopting() {
    append(upTo: cells.preparedCount)
    for slot in slots.indices.reversed() where !slots[slot].isLive { setFree(slot) }
  }

  var liveCount: Int { table.count }
  var leasedCount: Int { slots.indices.count { !cells.isUnleased($0) } }
  var unprovenCount: Int { slots.count { $0.isLive && !$0.isProven } }

  // MARK: Searching

  /// Finds the slot of a key and takes a lease on it.
  @inline(__always)
  func lease(_ key: TableKey) -> Finding {
    guard let slot = find(key.entity.digest), slots[slot].record.source == key.source.digest
    else { return .missing }
    guard slots[slot].isProven else {
      cells.lease(slot)
      return .unproven(slot: slot, record: slots[slot].record)
    }
    guard isStored(key, in: slot) else { return .missing }
    cells.lease(slot)
    return .proven(slot: slot, extent: extent(of: slot))
  }

  /// True when the key's picture is there, as far as can be told without reading the file.
  func contains(_ key: TableKey) -> Bool {
    guard let slot = find(key.entity.digest), slots[slot].record.source == key.source.digest
    else { return false }
    return !slots[slot].isProven || isStored(key, in: slot)
  }

  /// The live slots.
  var liveSlots: [Int] { slots.indices.filter { slots[$0].isLive } }

  func extent(of slot: Int) -> SlotExtent {
    SlotExtent(width: Int(slots[slot].width), height: Int(slots[slot].height))
  }

  /// The id of a slot's entity, when this process has seen it.
  func entity(of slot: Int) -> TableID? {
    guard slots[slot].isProven else { return nil }
    return TableID(
      kind: slots[slot].entityKind, digest: slots[slot].record.entity,
      bytes: keys.entityBytes(of: slot))
  }

  /// The key of a slot, when this process has seen it.
  func key(of slot: Int) -> TableKey? {
    guard let entity = entity(of: slot) else { return nil }
    let source = TableID(
      kind: slots[slot].sourceKind, digest: slots[slot].record.source,
      bytes: keys.sourceBytes(of: slot))
    return TableKey(entity: entity, source: source)
  }

  /// Takes a silent lease on a live slot, for looking into it outside the lock.
  func leaseSilently(_ slot: Int) -> SlotRecord? {
    guard slots.indices.contains(slot), slots[slot].isLive else { return nil }
    cells.leaseSilently(slot)
    return currentRecord(of: slot)
  }

  /// The record of a live slot as it ought to stand in the file, with the stamp of its last use.
  private func currentRecord(of slot: Int) -> SlotRecord {
    var record = slots[slot].record
    record.recency = cells.stamp(of: slot)
    return record
  }

  // MARK: Proof

  /// Notes that a leased slot was read and holds what its record says.
  mutating func prove(_ slot: Int, generation: UInt64, key: TableKey, extent: SlotExtent) {
    guard isSame(slot, generation) else { return }
    setKey(key, extent: extent, of: slot)
  }

  /// Takes a slot out that does not hold what its record says.
  mutating func discard(_ slot: Int, generation: UInt64) {
    guard isSame(slot, generation) else { return }
    takeOut(slot)
    stale.append(slot)
    damageCount += 1
  }

  /// The slots whose records must not outlive a removal: those of older pictures of an entity that
  /// were left behind by a crash, and those of pictures that could not be read, which a later
  /// session might be able to read. No slot is reserved meanwhile.
  mutating func takeStale() -> [Int] {
    defer { stale = [] }
    // Slots that were published since have other records.
    return stale.filter { !slots[$0].isLive }
  }

  // MARK: Recency

  /// The records whose recency differs from the file's, noted as written: those of the first run of
  /// neighbours at or after `slot`, at most `limit` of them.
  mutating func takeOutdatedRecords(
    from slot: Int, limit: Int
  ) -> (slot: Int, records: [SlotRecord])? {
    guard let first = slots.indices.dropFirst(slot).first(where: isOutdated) else { return nil }
    let run = slots.indices.dropFirst(first).prefix(limit).prefix(while: isOutdated)
    let records = run.map(currentRecord)
    for (slot, record) in zip(run, records) { slots[slot].record.recency = record.recency }
    return (first, records)
  }

  private func isOutdated(_ slot: Int) -> Bool {
    slots[slot].isLive && slots[slot].record.recency != cells.stamp(of: slot)
  }

  // MARK: Changes

  /// Finds a slot to write a picture of `entity` to, and evicts who is in it; `nil` when every slot
  /// is leased.
  ///
  /// The entity's own older picture keeps its slot, so that it can be shown until the new one is
  /// published; only where there is no other slot it goes first.
  mutating func reserve(for entity: TableID) -> Reservation? {
    if let slot = free.popLast() ?? freshSlot() ?? releasedSlot(probes: 16) {
      return Reservation(slot: slot, eviction: nil)
    }
    let own = find(entity.digest)
    if let slot = leastRecentlyUsed(except: own) { return evict(slot) }
    if let slot = releasedSlot(probes: detained.count) {
      return Reservation(slot: slot, eviction: nil)
    }
    if let own, cells.isUnleased(own) { return evict(own) }
    return nil
  }

  /// Makes a written slot findable, with one lease taken, and returns the slot of the older picture
  /// of the same entity, which is not findable any more.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey, extent: SlotExtent
  ) -> Int? {
    let older = find(record.entity)
    if let older { takeOut(older) }
    slots[slot] = Slot(record: record, isLive: true)
    newestGeneration = max(newestGeneration, record.generation)
    setKey(key, extent: extent, of: slot)
    table.insert(slot, for: record.entity)
    cells.lease(slot)
    return older
  }

  /// Gives back a reserved slot that nothing was published in.
  mutating func abandon(_ slot: Int) {
    setFree(slot)
    queue.reset()
  }

  /// Takes an entity's picture out and returns its slot.
  mutating func remove(_ entity: TableID) -> Int? {
    guard let slot = find(entity.digest) else { return nil }
    if let stored = self.entity(of: slot), stored != entity { return nil }
    takeOut(slot)
    return slot
  }

  /// Takes the pictures of some records out and returns their slots.
  mutating func removeAll(where isUnwanted: (SlotRecord) -> Bool) -> [Int] {
    let unwanted = liveSlots.filter { isUnwanted(slots[$0].record) }
    for slot in unwanted { takeOut(slot) }
    return unwanted
  }

  // MARK: Private

  @inline(__always)
  private func find(_ entity: TableID.Digest) -> Int? {
    table.slot(for: entity) { slots[$0].record.entity == entity }
  }

  /// Compares ids in full; digests are known to be equal.
  @inline(__always)
  private func isStored(_ key: TableKey, in slot: Int) -> Bool {
    // Of ids that are no strings, equal digests are equal ids (invariant 2 of `TableID`).
    slots[slot].entityKind == key.entity.kind && slots[slot].sourceKind == key.source.kind
      && keys.hasStrings(of: key, slot)
  }

  private func isSame(_ slot: Int, _ generation: UInt64) -> Bool {
    slots[slot].isLive && slots[slot].record.generation == generation
  }

  private mutating func setKey(_ key: TableKey, extent: SlotExtent, of slot: Int) {
    slots[slot].entityKind = key.entity.kind
    slots[slot].sourceKind = key.source.kind
    slots[slot].width = UInt16(extent.width)
    slots[slot].height = UInt16(extent.height)
    slots[slot].isProven = true
    keys.set(slot, to: key)
  }

  private mutating func takeOut(_ slot: Int) {
    table.remove(slot, for: slots[slot].record.entity)
    slots[slot].isLive = false
    slots[slot].isProven = false
    keys.clear(slot)
    setFree(slot)
  }

  private mutating func setFree(_ slot: Int) {
    if cells.isUnleased(slot) { free.append(slot) } else { detained.append(slot) }
  }

  private mutating func evict(_ slot: Int) -> Reservation {
    let eviction = Eviction(entity: entity(of: slot))
    takeOut(slot)
    // It had no leases, and got none since, so that it now ends the list of free slots.
    free.removeLast()
    evictionCount += 1
    return Reservation(slot: slot, eviction: eviction)
  }

  private mutating func freshSlot() -> Int? {
    guard slots.count < slotCount else { return nil }
    append(upTo: slots.count + 1)
    return slots.count - 1
  }

  private mutating func append(upTo count: Int) {
    cells.prepare(count)
    let none = TableID.Digest(low: 0, high: 0)
    let empty = Slot(
      record: SlotRecord(entity: none, source: none, generation: 0, slotHash: 0, recency: 0))
    while slots.count < count { slots.append(empty) }
  }

  /// A detained slot whose leases have ended, looking at so many of them from the end.
  private mutating func releasedSlot(probes: Int) -> Int? {
    for index in detained.indices.suffix(probes) where cells.isUnleased(detained[index]) {
      detained.swapAt(index, detained.count - 1)
      return detained.removeLast()
    }
    return nil
  }

  private mutating func leastRecentlyUsed(except own: Int?) -> Int? {
    queue.oldest(
      among: slots.indices, stamp: { [cells] in cells.stamp(of: $0) },
      isEvictable: { [slots, cells] in $0 != own && slots[$0].isLive && cells.isUnleased($0) })
  }
}

/// A picture that made room for another.
package struct Eviction: Hashable, Sendable {
  /// Whose it was; `nil` when it came from an earlier session and was never looked at in this one.
  package let entity: TableID?
}
