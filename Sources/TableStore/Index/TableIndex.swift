/// Decides which picture is in which slot. The lists are its own; the state of each slot is in
/// `SlotStates`, memory that hits read and change at the same time.
///
/// So it is no pure value: copies share that memory, and only one of them may go on.
///
/// ```
/// fresh, free --claimSlot--> claimed --publish--> live --remove, replace, discard--> free
///                              |                  ||                 or, if leased, pending free
///                              +---unclaim--> free |+--claimSlot (least recently used)--> claimed
/// pending free --claimSlot, once its leases ended--> claimed
/// (a file's record) --adopt--> unread --learn--> live
///                                 +---lose---> free
/// live --setAside--> aside --replace, remove, discard, claimSlot (before live ones)--> as from live
/// ```
///
/// The caller holds the index lock (the shelf's). The index makes no system call and takes no lock
/// of its own. Taking a lease changes only shared atomics, so such functions are not mutating. Hits
/// take and end leases meanwhile without the lock: every decision that depends on leases is one
/// atomic step of `SlotStates`, and all other state changes under the lock only.
///
/// Opening a file leaves its records unread: the index keeps their slots under the first bits of
/// their digests, because writing memory costs more than checking records. `TableLookup` reads the
/// records that the index names as unread.
///
/// Invariants:
/// 1. A slot is live or unread exactly when `table` finds it, under its entity's digest, and aside exactly
///    when `aside` does; one slot per digest in both together.
/// 2. Only live slots and those aside are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is claimed only when it has no leases, checked and claimed in one atomic step; while
///    claimed it is in no list.
/// 4. Each slot below `usedCount` is live, aside, unread, claimed, in `free`, or in `pendingFree`; those
///    above were never used.
/// 5. The index decides nothing about an entity while a slot under its digest is unread, nor about
///    the order of use while any slot is.
struct TableIndex {
  let states: SlotStates
  private let slotCount: Int
  private var usedCount = 0
  /// False where leases of an earlier opening go on: their labels must be known.
  private let leavesUnread: Bool
  var table = DigestTable()
  /// Pictures that only their entity finds: see `TableIndex+Aside.swift`.
  var aside: [TableID.Digest: Int] = [:]
  private var free: [Int] = []
  private var pendingFree: [Int] = []
  private var queue = RecencyQueue()
  /// Slots that are not in the index though the file has records of them.
  private var recordsToErase: [Int] = []
  private(set) var evictionCount = 0
  private(set) var damageCount = 0
  /// The latest use that a record tells of.
  private var newestStamp: UInt64 = 0
  /// The highest generation that a record ever had.
  private(set) var newestGeneration: UInt64 = 0

  /// An empty index. The records of a file come with `adopt`, in the order of slots, and then
  /// `finishAdopting`.
  ///
  /// - Parameter states: of the same file. Leased slots are not given out.
  init(slotCount: Int, states: SlotStates) {
    self.slotCount = slotCount
    self.states = states
    leavesUnread = states.preparedCount == 0
  }

  /// Makes room for so many records.
  mutating func reserveCapacity(_ count: Int) {
    table = DigestTable(minimumCapacity: count)
  }

  /// Prefetches the bucket of an entity whose record is adopted a little later.
  @inline(__always)
  func prefetch(_ entity: TableID.Digest) { table.prefetch(entity) }

  /// Adopts a record of the file, in a slot above all before. Of two records for one entity the
  /// newer counts. No slot under the record's digest may be unread.
  mutating func adopt(_ record: SlotRecord, in slot: Int) {
    if let rival = insert(slot, record.entity) {
      let isOlder = states.recordMetadata(of: rival).generation >= record.generation
      recordsToErase.append(isOlder ? slot : rival)
      if isOlder { return use(upTo: slot + 1) }
      table.remove(rival, for: record.entity)
      states.withdraw(rival)
      table.insert(slot, for: record.entity)
    }
    finishAdopting(record, in: slot)
  }

  /// Adopts a record if its bucket is free, as it nearly always is; false otherwise.
  @inline(__always)
  mutating func adoptFirst(_ record: SlotRecord, in slot: Int) -> Bool {
    guard table.insertFirst(slot, for: record.entity) else { return false }
    finishAdopting(record, in: slot)
    return true
  }

  @inline(__always)
  private mutating func finishAdopting(_ record: SlotRecord, in slot: Int) {
    use(upTo: slot + 1)
    newestGeneration = max(newestGeneration, record.generation)
    newestStamp = max(newestStamp, Self.stamp(of: record))
    if leavesUnread { states.leaveUnread(slot) } else { note(record, in: slot) }
  }

  /// Leaves a record out, in a slot above all before, and notes the slot for erasure.
  mutating func refuse(_ record: SlotRecord, in slot: Int) {
    use(upTo: slot + 1)
    newestGeneration = max(newestGeneration, record.generation)
    recordsToErase.append(slot)
  }

  /// Collects the slots without a picture, after the last record.
  mutating func finishAdopting() {
    // Once and not for each record, since reading the processor's clock is slow.
    states.resumeClock(after: newestStamp)
    use(upTo: states.preparedCount)
    // Slots that were lost meanwhile are collected again below.
    (free, pendingFree) = ([], [])
    if table.count == usedCount { return }
    for slot in (0..<usedCount).reversed() where !isTaken(slot) { setFree(slot) }
  }

  // MARK: Unread records

  /// A slot whose record must be read before a decision about this entity.
  func unreadSlot(for entity: TableID.Digest) -> Int? {
    if states.unreadCount == 0 { return nil }
    return table.slot(for: entity) { states.isUnread($0) }
  }

  /// Notes the record of an unread slot. A record that cannot be the adopted one leaves the slot
  /// unread.
  mutating func learn(_ record: SlotRecord, in slot: Int) {
    guard states.isUnread(slot) else { return }
    // A record that another process changed since may have another digest, or be there twice.
    let known = table.slot(for: record.entity) {
      !states.isUnread($0) && states.label(of: $0).entity == record.entity
    }
    guard known == nil, table.slot(for: record.entity, where: { $0 == slot }) != nil
    else { return }
    newestGeneration = max(newestGeneration, record.generation)
    note(record, in: slot)
  }

  /// Removes an unread slot whose record turned out not to be the adopted one; false if the slot is
  /// not unread.
  ///
  /// - Parameter entity: The digest of the adopted record.
  mutating func lose(_ slot: Int, of entity: TableID.Digest) -> Bool {
    guard states.isUnread(slot) else { return false }
    damageCount += 1
    dropUnread(slot, entity)
    return true
  }

  /// Removes all unread slots that may be the entity's, and returns them.
  mutating func loseUnread(of entity: TableID.Digest) -> [Int] {
    var lost: [Int] = []
    while let slot = unreadSlot(for: entity) {
      dropUnread(slot, entity)
      lost.append(slot)
    }
    return lost
  }

  /// Removes the slots that are still unread after the whole file was read, and returns them.
  mutating func loseUnread() -> [Int] {
    if states.unreadCount == 0 { return [] }
    let lost = unreadSlots
    table.removeAll(where: states.isUnread)
    for slot in lost { dropUnread(slot, nil) }
    damageCount += lost.count
    return lost
  }

  /// - Parameter entity: The digest under which the table has the slot; `nil` if it has not.
  private mutating func dropUnread(_ slot: Int, _ entity: TableID.Digest?) {
    if let entity { table.remove(slot, for: entity) }
    states.giveUpUnread(slot)
    setFree(slot)
    recordsToErase.append(slot)
  }

  /// The pictures, those aside included.
  var liveCount: Int { table.count + aside.count }
  var unreadSlots: [Int] { (0..<usedCount).filter(states.isUnread) }

  // MARK: Searching

  /// Finds the slot of a key and takes a lease on it.
  func lease(_ key: TableKey) -> Finding {
    guard let slot = slot(of: key), isLive(slot) else { return .missing }
    guard states.state(of: slot).isProven else {
      states.lease(slot)
      return .unproven(slot: slot, record: record(of: slot))
    }
    guard isStored(key, in: slot) else { return .missing }
    states.lease(slot)
    // The hit found no hint.
    states.giveHint(of: slot)
    return .proven(slot: slot, extent: extent(of: slot))
  }

  /// True when the key's picture is there, by the records; an unproven one counts.
  func contains(_ key: TableKey) -> Bool {
    guard let slot = slot(of: key) else { return false }
    return !states.state(of: slot).isProven || isStored(key, in: slot)
  }

  /// The last slot with a picture.
  var lastTakenSlot: Int? { (0..<usedCount).last(where: isTaken) }

  /// The slots with a picture; none may be unread.
  var pictureSlots: [Int] {
    assert(states.unreadCount == 0, "Pictures with unread records are left out.")
    return (0..<usedCount).filter(hasPicture)
  }

  func isLive(_ slot: Int) -> Bool { states.state(of: slot).isLive }

  // MARK: Proof

  /// Removes a damaged slot; false if another picture is in it by now.
  mutating func discard(_ slot: Int, generation: UInt64) -> Bool {
    guard isSame(slot, generation) else { return false }
    takeOut(slot)
    recordsToErase.append(slot)
    damageCount += 1
    return true
  }

  /// The slots whose records must be erased: of an entity's older pictures that a crash left
  /// behind, and of pictures that could not be read, since a later session might read them. No slot
  /// may be claimed.
  mutating func takeRecordsToErase() -> [Int] {
    defer { recordsToErase = [] }
    // Slots that were published since have other records.
    return recordsToErase.filter { !hasPicture($0) }
  }

  // MARK: Changes

  /// Claims a slot for a picture of `entity`, and evicts the picture in it.
  ///
  /// The entity's own older picture keeps its slot, so that lookups find it until the new one is
  /// published; it is evicted only where there is no other slot. Pictures aside are evicted before others.
  ///
  /// - Parameter mayGuess: True evicts the least recently used picture among those whose records
  ///   were read, though some are unread.
  mutating func claimSlot(for entity: TableID.Digest, mayGuess: Bool = false) -> Room {
    // Leases that end from now on get later stamps than the selection of the oldest sees.
    _ = states.advanceClock()
    if let slot = claimedFree() ?? claimedFresh() ?? claimedReleased(probes: 16) {
      return .claimed(Claim(slot: slot, eviction: nil))
    }
    let own = findAny(entity)
    if let claim = leastRecentlyUsedAside(except: own).flatMap({ evict($0) }) {
      return .claimed(claim)
    }
    guard states.unreadCount == 0 || mayGuess else { return .unread }
    while let slot = leastRecentlyUsed(except: own) {
      if let claim = evict(slot) { return .claimed(claim) }
    }
    if let slot = claimedReleased(probes: pendingFree.count) {
      return .claimed(Claim(slot: slot, eviction: nil))
    }
    let room = own.flatMap { evict($0) }.map { Room.claimed($0) }
    return room ?? (states.unreadCount == 0 ? .full : .unread)
  }

  /// Makes a written slot live, with one lease taken, and returns the slot of the older picture of
  /// the same entity, which is not live any more.
  ///
  /// - Parameter key: Without it the slot is not proven, and no lease is taken.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey?, extent: SlotExtent
  ) -> Int? {
    let older = findAny(record.entity)
    if let older { takeOut(older) }
    states.setRecordMetadata(RecordMetadata(record), of: slot)
    newestGeneration = max(newestGeneration, record.generation)
    table.insert(slot, for: record.entity)
    if let key {
      states.publish(slot, key: key, extent: extent)
    } else {
      states.publishUnproven(slot, entity: record.entity, version: record.version)
    }
    return older
  }

  /// Gives a claimed slot back without a picture.
  mutating func unclaim(_ slot: Int) {
    states.unclaim(slot)
    setFree(slot)
    queue.reset()
  }

  /// Removes an entity's picture and returns its slot.
  mutating func remove(_ entity: TableID) -> Int? {
    guard let slot = findAny(entity.digest) else { return nil }
    if let stored = self.entity(of: slot), stored != entity { return nil }
    takeOut(slot)
    return slot
  }

  /// Removes one stored picture of an entity and returns its slot; `nil` if another one took its place.
  mutating func remove(_ entity: TableID.Digest, generation: UInt64) -> Int? {
    guard let slot = findAny(entity), isSame(slot, generation) else { return nil }
    takeOut(slot)
    return slot
  }

  // MARK: Private

  /// Enters a slot under an entity, or returns the slot that the entity has already.
  private mutating func insert(_ slot: Int, _ entity: TableID.Digest) -> Int? {
    table.insert(slot, for: entity) { [states] in states.label(of: $0).entity == entity }
  }

  /// The slot with a key's digests.
  private func slot(of key: TableKey) -> Int? {
    find(key.entity.digest).flatMap {
      states.label(of: $0).version == key.version.digest ? $0 : nil
    }
  }

  /// Compares ids in full.
  private func isStored(_ key: TableKey, in slot: Int) -> Bool {
    key.lend { states.label(of: slot).matches($0) && states.strings(of: slot).match($0) }
  }

  /// True while the slot has the picture that was stored with this generation.
  func isSame(_ slot: Int, _ generation: UInt64) -> Bool {
    hasPicture(slot) && states.recordMetadata(of: slot).generation == generation
  }

  mutating func takeOut(_ slot: Int) {
    forget(slot)
    states.withdraw(slot)
    setFree(slot)
  }

  private mutating func setFree(_ slot: Int) {
    if states.isUnleased(slot) { free.append(slot) } else { pendingFree.append(slot) }
  }

  /// Claims a live slot; `nil` when a hit has just leased it.
  private mutating func evict(_ slot: Int) -> Claim? {
    let eviction = Eviction(entity: entity(of: slot))
    guard states.claim(slot) else { return nil }
    forget(slot)
    evictionCount += 1
    return Claim(slot: slot, eviction: eviction)
  }

  private mutating func claimedFree() -> Int? {
    while let slot = free.popLast() {
      if states.claim(slot) { return slot }
      pendingFree.append(slot)
    }
    return nil
  }

  private mutating func claimedFresh() -> Int? {
    guard usedCount < slotCount else { return nil }
    let slot = usedCount
    use(upTo: slot + 1)
    if states.claim(slot) { return slot }
    pendingFree.append(slot)
    return nil
  }

  private mutating func use(upTo count: Int) {
    states.prepare(count)
    usedCount = max(usedCount, count)
  }

  /// True when the slot has a picture, even if its record is unread.
  private func isTaken(_ slot: Int) -> Bool { states.isUnread(slot) || hasPicture(slot) }

  /// Claims a slot pending free whose leases have ended, among the last `probes` of the list.
  private mutating func claimedReleased(probes: Int) -> Int? {
    for index in pendingFree.indices.suffix(probes) where states.claim(pendingFree[index]) {
      pendingFree.swapAt(index, pendingFree.count - 1)
      return pendingFree.removeLast()
    }
    return nil
  }

  private mutating func leastRecentlyUsed(except own: Int?) -> Int? {
    queue.oldest(
      among: 0..<usedCount, stamp: { [states] in states.stamp(of: $0) },
      isCandidate: { [states] in states.state(of: $0).isLive },
      isEvictable: { [states] in
        guard $0 != own else { return false }
        let state = states.state(of: $0)
        return state.isLive && state.leaseCount == 0
      })
  }
}
