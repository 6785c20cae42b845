/// Which picture is in which slot: a state machine without I/O and without locks.
///
/// ```
/// fresh, free --reserve--> claimed --publish--> live --remove, replace, discard--> free
///                              |                  |                      or, if leased, detained
///                              +---abandon--> free +--reserve (least recently used)--> claimed
/// detained --reserve, once its leases ended--> claimed
/// ```
///
/// It decides; the board has what hits see of it without asking.
///
/// Invariants:
/// 1. A slot is live exactly when `table` finds it, under its entity's digest; one slot per digest.
/// 2. Only live slots are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is claimed only when it has no leases, which is settled with those who take leases in
///    one atomic step; while claimed it is in no list.
/// 4. Each slot below `slots.count` is live, claimed, in `free`, or in `detained`; those above were
///    never used.
struct TableIndex {
  /// What only the index knows of one slot; the rest of its record is on the board.
  struct Slot {
    var generation: UInt64 = 0
    var slotHash: UInt64 = 0
    /// As it stands in the file.
    var recency: UInt64 = 0
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

  let board: SlotBoard
  private let slotCount: Int
  private(set) var slots: [Slot] = []
  private var table: DigestTable
  private var free: [Int] = []
  private var detained: [Int] = []
  private var queue = RecencyQueue()
  /// Slots that left the index, or never came into it, while the file goes on naming them.
  private var stale: [Int] = []
  private(set) var evictionCount = 0
  private(set) var damageCount = 0
  /// The latest use that a record tells of.
  private var newestStamp: UInt64 = 0
  /// The highest generation that a record ever had.
  private(set) var newestGeneration: UInt64 = 0

  /// An empty index. The records of a file come with `adopt`, in the order of slots, and then
  /// `finishAdopting`.
  ///
  /// - Parameter board: of the same file. Slots that it knows to be leased are not given out.
  init(slotCount: Int, board: SlotBoard) {
    self.slotCount = slotCount
    self.board = board
    table = DigestTable()
  }

  /// Makes room for so many records.
  mutating func reserveCapacity(_ count: Int) {
    slots.reserveCapacity(count)
    table = DigestTable(minimumCapacity: count)
  }

  /// Gets ready to adopt a record of this entity a little later, when memory has answered.
  @inline(__always)
  func expect(_ entity: TableID.Digest) { table.expect(entity) }

  /// Takes over a record that the file has, of a slot above all before; of two for one entity the
  /// newer counts.
  mutating func adopt(_ record: SlotRecord, in slot: Int) {
    append(upTo: slot + 1)
    slots[slot] = Slot(
      generation: record.generation, slotHash: record.slotHash, recency: record.recency)
    newestGeneration = max(newestGeneration, record.generation)
    if let rival = insert(slot, record.entity) {
      let isOlder = slots[rival].generation >= record.generation
      stale.append(isOlder ? slot : rival)
      if isOlder { return }
      table.remove(rival, for: record.entity)
      board.withdraw(rival)
      table.insert(slot, for: record.entity)
    }
    board.adopt(slot, entity: record.entity, source: record.source)
    // No clock comes so far, except in a file that somebody made up.
    let stamp = record.recency < UInt64.max / 2 ? record.recency : 0
    board.setStamp(stamp, of: slot)
    newestStamp = max(newestStamp, stamp)
  }

  /// Gives the slots without a picture out from now on.
  mutating func finishAdopting() {
    // Once and not for each record, since the processor takes its time to tell the time.
    board.resumeClock(after: newestStamp)
    append(upTo: board.preparedCount)
    if table.count == slots.count { return }
    for slot in slots.indices.reversed() where !isLive(slot) { setFree(slot) }
  }

  var liveCount: Int { table.count }
  var leasedCount: Int { slots.indices.count { !board.isUnleased($0) } }
  var unprovenCount: Int { slots.indices.count { isLive($0) && !board.state(of: $0).isProven } }

  // MARK: Searching

  /// Finds the slot of a key and takes a lease on it.
  func lease(_ key: TableKey) -> Finding {
    guard let slot = slot(of: key) else { return .missing }
    guard board.state(of: slot).isProven else {
      board.lease(slot)
      return .unproven(slot: slot, record: record(of: slot))
    }
    guard isStored(key, in: slot) else { return .missing }
    board.lease(slot)
    // Who came here found no hint.
    board.giveHint(of: slot)
    return .proven(slot: slot, extent: extent(of: slot))
  }

  /// True when the key's picture is there, as far as can be told without reading the file.
  func contains(_ key: TableKey) -> Bool {
    guard let slot = slot(of: key) else { return false }
    return !board.state(of: slot).isProven || isStored(key, in: slot)
  }

  /// The last of the live slots.
  var lastLiveSlot: Int? { slots.indices.last(where: isLive) }

  /// The live slots.
  var liveSlots: [Int] { slots.indices.filter(isLive) }

  func isLive(_ slot: Int) -> Bool { board.state(of: slot).isLive }

  func extent(of slot: Int) -> SlotExtent { board.label(of: slot).extent }

  /// The record of a live slot as it stands in the file.
  func record(of slot: Int) -> SlotRecord {
    let (label, known) = (board.label(of: slot), slots[slot])
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
    guard slots.indices.contains(slot), isLive(slot) else { return nil }
    board.leaseSilently(slot)
    return currentRecord(of: slot)
  }

  /// The record of a live slot as it ought to stand in the file, with the stamp of its last use.
  private func currentRecord(of slot: Int) -> SlotRecord {
    var record = record(of: slot)
    record.recency = board.stamp(of: slot)
    return record
  }

  // MARK: Proof

  /// Notes that a leased slot was read and holds what its record says.
  mutating func prove(_ slot: Int, generation: UInt64, key: TableKey, extent: SlotExtent) {
    guard isSame(slot, generation) else { return }
    board.prove(slot, key: key, extent: extent)
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
    return stale.filter { !isLive($0) }
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
    for (slot, record) in zip(run, records) { slots[slot].recency = record.recency }
    return (first, records)
  }

  private func isOutdated(_ slot: Int) -> Bool {
    isLive(slot) && slots[slot].recency != board.stamp(of: slot)
  }

  // MARK: Changes

  /// Finds a slot to write a picture of `entity` to, and evicts who is in it; `nil` when every slot
  /// is leased.
  ///
  /// The entity's own older picture keeps its slot, so that it can be shown until the new one is
  /// published; only where there is no other slot it goes first.
  mutating func reserve(for entity: TableID) -> Reservation? {
    // So that leases which end from now on are later than the selection of the oldest.
    _ = board.advanceClock()
    if let slot = claimedFree() ?? claimedFresh() ?? claimedReleased(probes: 16) {
      return Reservation(slot: slot, eviction: nil)
    }
    let own = find(entity.digest)
    while let slot = leastRecentlyUsed(except: own) {
      if let reservation = evict(slot) { return reservation }
    }
    if let slot = claimedReleased(probes: detained.count) {
      return Reservation(slot: slot, eviction: nil)
    }
    guard let own else { return nil }
    return evict(own)
  }

  /// Makes a written slot findable, with one lease taken, and returns the slot of the older picture
  /// of the same entity, which is not findable any more.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey, extent: SlotExtent
  ) -> Int? {
    let older = find(record.entity)
    if let older { takeOut(older) }
    slots[slot] = Slot(
      generation: record.generation, slotHash: record.slotHash, recency: record.recency)
    newestGeneration = max(newestGeneration, record.generation)
    table.insert(slot, for: record.entity)
    board.publish(slot, key: key, extent: extent)
    return older
  }

  /// Gives back a reserved slot that nothing was published in.
  mutating func abandon(_ slot: Int) {
    board.unclaim(slot)
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
    let unwanted = liveSlots.filter { isUnwanted(record(of: $0)) }
    for slot in unwanted { takeOut(slot) }
    return unwanted
  }

  // MARK: Private

  private func find(_ entity: TableID.Digest) -> Int? {
    table.slot(for: entity) { board.label(of: $0).entity == entity }
  }

  /// Notes whose picture a slot holds, unless there is another slot for the entity, which is
  /// returned then.
  private mutating func insert(_ slot: Int, _ entity: TableID.Digest) -> Int? {
    table.insert(slot, for: entity) { [board] in board.label(of: $0).entity == entity }
  }

  /// The slot with a key's digests.
  private func slot(of key: TableKey) -> Int? {
    find(key.entity.digest).flatMap {
      board.label(of: $0).source == key.source.digest ? $0 : nil
    }
  }

  /// Compares ids in full.
  private func isStored(_ key: TableKey, in slot: Int) -> Bool {
    key.lend { board.label(of: slot).matches($0) && board.strings(of: slot).match($0) }
  }

  private func isSame(_ slot: Int, _ generation: UInt64) -> Bool {
    isLive(slot) && slots[slot].generation == generation
  }

  private mutating func takeOut(_ slot: Int) {
    table.remove(slot, for: board.label(of: slot).entity)
    board.withdraw(slot)
    setFree(slot)
  }

  private mutating func setFree(_ slot: Int) {
    if board.isUnleased(slot) { free.append(slot) } else { detained.append(slot) }
  }

  /// Takes the picture out of a slot for another one; `nil` when somebody has just leased it.
  private mutating func evict(_ slot: Int) -> Reservation? {
    let eviction = Eviction(entity: entity(of: slot))
    guard board.claim(slot) else { return nil }
    table.remove(slot, for: board.label(of: slot).entity)
    evictionCount += 1
    return Reservation(slot: slot, eviction: eviction)
  }

  private mutating func claimedFree() -> Int? {
    while let slot = free.popLast() {
      if board.claim(slot) { return slot }
      detained.append(slot)
    }
    return nil
  }

  private mutating func claimedFresh() -> Int? {
    guard slots.count < slotCount else { return nil }
    append(upTo: slots.count + 1)
    let slot = slots.count - 1
    if board.claim(slot) { return slot }
    detained.append(slot)
    return nil
  }

  private mutating func append(upTo count: Int) {
    board.prepare(count)
    while slots.count < count { slots.append(Slot()) }
  }

  /// A detained slot whose leases have ended, looking at so many of them from the end.
  private mutating func claimedReleased(probes: Int) -> Int? {
    for index in detained.indices.suffix(probes) where board.claim(detained[index]) {
      detained.swapAt(index, detained.count - 1)
      return detained.removeLast()
    }
    return nil
  }

  private mutating func leastRecentlyUsed(except own: Int?) -> Int? {
    queue.oldest(
      among: slots.indices, stamp: { [board] in board.stamp(of: $0) },
      isEvictable: { [board] in
        guard $0 != own else { return false }
        let state = board.state(of: $0)
        return state.isLive && state.leaseCount == 0
      })
  }
}

/// A picture that made room for another.
package struct Eviction: Hashable, Sendable {
  /// Whose it was; `nil` when it came from an earlier session and was never looked at in this one.
  package let entity: TableID?
}
