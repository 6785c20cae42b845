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
/// (a file's record) --adopt--> live
/// live --setAside--> aside --replace, remove, discard, claimSlot (before live ones)--> as from live
/// ```
///
/// The caller holds the index lock (the shelf's). The index takes no lock of its own, and makes no system
/// call but for reading a record. Taking a lease changes only shared atomics, so such functions are not
/// mutating. Hits take and end leases meanwhile without the lock: every decision that depends on leases is
/// one atomic step of `SlotStates`, and all other state changes under the lock only.
///
/// Where a picture is, the stored index guesses. The record of a slot is read when its entity is asked for,
/// by `readRecords(of:)`, which comes before every other function that is given an entity.
///
/// Invariants:
/// 1. A slot is live or aside exactly when the stored index has it as live; one slot for each entity whose
///    records were read.
/// 2. Only live slots and those aside are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is claimed only when it has no leases, checked and claimed in one atomic step; while
///    claimed it is in no list.
/// 4. Each slot below `usedCount` is live, aside, claimed, in `free`, or in `pendingFree`; those above were
///    never used.
struct TableIndex {
  /// Reads a slot's record from the table file; `nil` for one that is not whole.
  typealias RecordSource = @Sendable (Int) throws(SystemError) -> SlotRecord?

  let states: SlotStates
  private let slotCount: Int
  private let readRecord: RecordSource
  /// True where all records are kept in memory: leases of an earlier opening go on, or each hit is a copy.
  let learnsAtOnce: Bool
  /// Pictures that only their entity finds: see `TableIndex+Aside.swift`.
  var aside: Set<Int> = []
  /// The pictures, those aside included.
  private(set) var liveCount = 0
  private var free: [Int] = []
  private var pendingFree: [Int] = []
  private var queue = RecencyQueue()
  /// Slots that are not in the index though the file has records of them.
  private var recordsToErase: [Int] = []
  private(set) var evictionCount = 0
  private(set) var damageCount = 0

  var stored: StoredIndex { states.stored }
  private var usedCount: Int { states.preparedCount }
  /// The highest generation that a record ever had.
  var newestGeneration: UInt64 { stored.newestGeneration }

  /// An empty index. The records of a file come with `adopt`, in the order of slots, and then
  /// `finishAdopting`.
  ///
  /// - Parameter states: of the same file. Leased slots are not given out.
  init(
    slotCount: Int, states: SlotStates, learnsAtOnce: Bool = false,
    readRecord: @escaping RecordSource = { _ in nil }
  ) {
    self.slotCount = slotCount
    self.states = states
    self.learnsAtOnce = learnsAtOnce || states.preparedCount > 0
    self.readRecord = readRecord
  }

  /// The index of an earlier session, which the stored index of `states` has.
  init(continuing states: SlotStates, readRecord: @escaping RecordSource) {
    self.init(slotCount: states.slotCount, states: states, readRecord: readRecord)
    states.prepare(stored.usedCount)
    states.resumeClock(after: stored.newestStamp)
    let others = stored.otherSlots
    liveCount = usedCount - others.count
    // In turn from the first slot on, as `free` is used from its end.
    for slot in others.reversed() {
      if stored.mark(of: slot) != .free {
        // A dead owner had it in hand.
        stored.take(slot)
        recordsToErase.append(slot)
      }
      setFree(slot)
    }
  }

  /// Adopts a record of the file, in a slot above all before. Of two records for one entity the
  /// newer counts.
  mutating func adopt(_ record: SlotRecord, in slot: Int) throws(SystemError) {
    states.prepare(slot + 1)
    stored.usedCount = usedCount
    let hash = stored.hash(of: record.entity)
    if stored.slot(under: hash, where: { _ in true }) != nil,
      try isOutdated(record, in: slot)
    {
      return
    }
    stored.newestGeneration = max(newestGeneration, record.generation)
    stored.replace(nil, with: slot, hash: hash, stamp: Self.stamp(of: record))
    liveCount += 1
    if learnsAtOnce { note(record, in: slot) }
  }

  /// Whether there is a newer record of the entity; an older one is removed.
  private mutating func isOutdated(_ record: SlotRecord, in slot: Int) throws(SystemError) -> Bool {
    _ = try readRecords(of: record.entity)
    guard let rival = findAny(record.entity) else { return false }
    if states.recordMetadata(of: rival).generation >= record.generation {
      refuse(record, in: slot)
      return true
    }
    takeOut(rival)
    recordsToErase.append(rival)
    return false
  }

  /// Leaves a record out, in a slot above all before, and notes the slot for erasure.
  mutating func refuse(_ record: SlotRecord, in slot: Int) {
    states.prepare(slot + 1)
    stored.newestGeneration = max(newestGeneration, record.generation)
    stored.setMark(.inHand, of: slot)
    recordsToErase.append(slot)
  }

  /// Collects the slots without a picture, after the last record.
  ///
  /// - Parameters:
  ///   - count: The slots that have been read.
  ///   - builder: Linked some of them.
  mutating func finishAdopting(_ count: Int = 0, _ builder: StoredIndex.Builder? = nil) {
    states.prepare(count)
    stored.usedCount = usedCount
    if let builder {
      liveCount += builder.count
      stored.newestGeneration = max(newestGeneration, builder.newestGeneration)
      stored.newestStamp = max(stored.newestStamp, builder.newestStamp)
    }
    // Once and not for each record, since reading the processor's clock is slow.
    states.resumeClock(after: stored.newestStamp)
    // Slots that were lost meanwhile are collected again.
    (free, pendingFree) = ([], [])
    if liveCount == usedCount { return }
    for slot in stored.otherSlots.reversed() { setFree(slot) }
  }

  // MARK: Records

  /// Reads the records of the slots that may be the entity's, of which the stored index only knows a hash.
  ///
  /// A record that is not whole, or is another entity's, leaves the index as a damaged picture.
  ///
  /// - Returns: How many were damaged.
  mutating func readRecords(of entity: TableID.Digest) throws(SystemError) -> Int {
    let hash = stored.hash(of: entity)
    var lostCount = 0
    while let slot = stored.slot(under: hash, where: { !states.isKnown($0) }) {
      let record = try readRecord(slot)
      if let record { learn(record, in: slot) }
      if !states.isKnown(slot) {
        damageCount += 1
        lostCount += 1
        lose(slot)
      }
    }
    return lostCount
  }

  /// Removes the slots that may be the entity's and cannot be read, and returns them.
  mutating func loseRecords(of entity: TableID.Digest) -> [Int] {
    let hash = stored.hash(of: entity)
    var lost: [Int] = []
    while let slot = stored.slot(under: hash, where: { !states.isKnown($0) }) {
      lose(slot)
      lost.append(slot)
    }
    return lost
  }

  /// Notes the record of a slot, if the slot waits for it: no other slot's record is the same, and it changes
  /// only when it is known.
  mutating func learn(_ record: SlotRecord, in slot: Int) {
    guard slot < usedCount, isStored(slot), !states.isKnown(slot),
      stored.hash(of: slot) == stored.hash(of: record.entity)
    else { return }
    let rival = findAny(record.entity)
    note(record, in: slot)
    // Only in a damaged file.
    guard let rival else { return }
    lose(states.recordMetadata(of: rival).generation < record.generation ? rival : slot)
  }

  /// Removes the slots whose record is not known after the whole file was read, and returns them.
  mutating func loseOtherRecords() -> [Int] {
    let lost = unknownSlots
    for slot in lost { lose(slot) }
    damageCount += lost.count
    return lost
  }

  var unknownSlots: [Int] { (0..<usedCount).filter(isUnknown) }

  /// True when a picture in a range of slots waits for its record to be read.
  func hasUnknown(in slots: Range<Int>) -> Bool {
    slots.clamped(to: 0..<usedCount).contains(where: isUnknown)
  }

  private func isUnknown(_ slot: Int) -> Bool { isStored(slot) && !states.isKnown(slot) }

  private mutating func lose(_ slot: Int) {
    takeOut(slot)
    recordsToErase.append(slot)
  }

  /// Notes that a slot's record is zeros in the file.
  func noteErased(_ slot: Int) {
    guard stored.mark(of: slot) == .inHand, !states.state(of: slot).isClaimed else { return }
    stored.setMark(.free, of: slot)
  }

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
    return .proven(slot: slot, extent: extent(of: slot))
  }

  /// True when the key's picture is there, by the records; an unproven one counts.
  func contains(_ key: TableKey) -> Bool {
    guard let slot = slot(of: key) else { return false }
    return !states.state(of: slot).isProven || isStored(key, in: slot)
  }

  /// The last slot with a picture.
  var lastTakenSlot: Int? { (0..<usedCount).last(where: isStored) }

  /// The slots with a picture whose records were read.
  var pictureSlots: [Int] { states.knownSlots.filter(isStored) }

  /// True when a picture is in the slot, aside or not, whether its record was read or not.
  func isStored(_ slot: Int) -> Bool { stored.mark(of: slot) == .live }

  /// The same for one whose record was read.
  func hasPicture(_ slot: Int) -> Bool { states.isKnown(slot) && isStored(slot) }

  func isLive(_ slot: Int) -> Bool { hasPicture(slot) && !aside.contains(slot) }

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
    return recordsToErase.filter { !isStored($0) }
  }

  // MARK: Changes

  /// Claims a slot for a picture of `entity`, and evicts the picture in it.
  ///
  /// The entity's own older picture keeps its slot, so that lookups find it until the new one is
  /// published; it is evicted only where there is no other slot. Pictures aside are evicted before others.
  /// `nil` where every slot is leased.
  mutating func claimSlot(for entity: TableID.Digest) -> Claim? {
    // Leases that end from now on get later stamps than the selection of the oldest sees.
    _ = states.advanceClock()
    if let slot = claimedFree() ?? claimedFresh() ?? claimedReleased(probes: 16) {
      return Claim(slot: slot, eviction: nil)
    }
    let own = findAny(entity)
    if let claim = leastRecentlyUsedAside(except: own).flatMap({ evict($0) }) { return claim }
    while let slot = leastRecentlyUsed(except: own) {
      if let claim = evict(slot) { return claim }
    }
    if let slot = claimedReleased(probes: pendingFree.count) {
      return Claim(slot: slot, eviction: nil)
    }
    return own.flatMap { evict($0) }
  }

  /// Makes a written slot live, with one lease taken, and returns the slot of the older picture of
  /// the same entity, which is not live any more.
  ///
  /// - Parameter key: Without it the slot is not proven, and no lease is taken.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey?, extent: SlotExtent
  ) -> Int? {
    let older = findAny(record.entity)
    if let older { states.withdraw(older) }
    states.setRecordMetadata(RecordMetadata(record), of: slot)
    if let key {
      states.publish(slot, key: key, extent: extent)
    } else {
      states.publishUnproven(slot, entity: record.entity, version: record.version)
    }
    stored.newestGeneration = max(newestGeneration, record.generation)
    stored.replace(
      older, with: slot, hash: stored.hash(of: record.entity), stamp: states.stamp(of: slot))
    liveCount += 1
    if let older {
      aside.remove(older)
      liveCount -= 1
      setFree(older)
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
    states.withdraw(slot)
    forget(slot)
    setFree(slot)
  }

  /// Takes a slot with a picture, aside or not, from its entity.
  private mutating func forget(_ slot: Int) {
    aside.remove(slot)
    liveCount -= 1
    stored.take(slot)
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
      if claim(slot) { return slot }
      pendingFree.append(slot)
    }
    return nil
  }

  private mutating func claimedFresh() -> Int? {
    guard usedCount < slotCount else { return nil }
    let slot = usedCount
    states.prepare(slot + 1)
    stored.usedCount = slot + 1
    if claim(slot) { return slot }
    pendingFree.append(slot)
    return nil
  }

  /// Claims a slot without a picture.
  private func claim(_ slot: Int) -> Bool {
    guard states.claim(slot) else { return false }
    stored.take(slot)
    return true
  }

  /// Claims a slot pending free whose leases have ended, among the last `probes` of the list.
  private mutating func claimedReleased(probes: Int) -> Int? {
    for index in pendingFree.indices.suffix(probes) where claim(pendingFree[index]) {
      pendingFree.swapAt(index, pendingFree.count - 1)
      return pendingFree.removeLast()
    }
    return nil
  }

  private mutating func leastRecentlyUsed(except own: Int?) -> Int? {
    queue.oldest(
      below: usedCount, stamp: { [states] in states.stamp(of: $0) },
      isCandidate: { [self] in isStored($0) && !aside.contains($0) },
      isEvictable: { [self] in
        $0 != own && isStored($0) && !aside.contains($0) && states.isUnleased($0)
      })
  }
}
