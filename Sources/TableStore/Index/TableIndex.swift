/// Decides which image is in which slot. Copies share the memory of `SlotStates`, so that only one of them may
/// go on.
///
/// ```
/// fresh, free --claimSlot--> claimed --publish--> live --remove, replace, discard--> free
///  (unleased)                  |                   |
///                              +---unclaim--> free +--claimSlot (least recently used)--> claimed
/// (a file's record) --adopt--> live
/// live --markStale--> stale --replace, remove, discard, claimSlot (before live ones)--> as from live
/// ```
///
/// The caller holds the index lock (the current table's). The index makes no system call but for reading a record. Hits
/// take and end leases meanwhile without the lock: every decision that depends on leases is one atomic step of
/// `SlotStates`.
///
/// Where an image is, the stored index guesses. The record of a slot is read when its entity is asked for,
/// by `readRecords(of:)`, which comes before every other function that is given an entity.
///
/// Invariants:
/// 1. A slot is live or stale exactly when the stored index has it as live; one slot for each entity whose
///    records were read.
/// 2. Only live slots and stale ones are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is claimed only when it has no leases, checked and claimed in one atomic step; while
///    claimed it is in no list.
/// 4. Each slot below `usedCount` is live, stale, claimed or in `free`, where it may have leases; those above
///    were never used. Of those in `free`, the records are zeros but for `recordsToErase`.
struct TableIndex {
  /// Reads a slot's record from the table file; `nil` for one that is not whole.
  typealias RecordSource = @Sendable (Int) throws(SystemError) -> SlotRecord?

  let states: SlotStates
  private let slotCount: Int
  private let readRecord: RecordSource
  /// The images, stale ones included.
  private(set) var liveCount = 0
  private var free: [Int] = []
  /// Where the next search for the least recently used slot begins.
  private var windowStart = 0
  /// Slots without an image whose records may still be in the file, where a later session would find them;
  /// a claimed slot is its writer's.
  private(set) var recordsToErase: Set<Int> = []
  private(set) var evictionCount = 0
  private(set) var damageCount = 0

  var stored: StoredIndex { states.stored }
  private var usedCount: Int { states.preparedCount }
  /// The highest generation that a record ever had.
  var newestGeneration: UInt64 { stored.newestGeneration }

  /// An empty index. The records of a file come with a `StoredIndex.Builder`, and then `finishAdopting`.
  ///
  /// - Parameter states: of the same file.
  init(
    slotCount: Int, states: SlotStates, readRecord: @escaping RecordSource = { _ in nil }
  ) {
    self.slotCount = slotCount
    self.states = states
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
        recordsToErase.insert(slot)
      }
      free.append(slot)
    }
  }

  /// Leaves a record of the file out, and notes the slot for erasure.
  mutating func refuse(_ record: SlotRecord, in slot: Int) {
    stored.newestGeneration = max(newestGeneration, record.generation)
    stored.setMark(.changing, of: slot)
    recordsToErase.insert(slot)
  }

  /// Goes on with the slots that a builder has linked, `count` of them and others. Of two records for one
  /// entity the newer counts.
  mutating func finishAdopting(
    _ count: Int, _ builder: StoredIndex.Builder, reading source: @escaping RecordSource
  ) throws(SystemError) {
    states.prepare(count)
    stored.usedCount = usedCount
    liveCount = builder.count
    stored.newestGeneration = max(newestGeneration, builder.newestGeneration)
    stored.newestStamp = max(stored.newestStamp, builder.newestStamp)
    // Once and not for each record, since reading the processor's clock is slow.
    states.resumeClock(after: stored.newestStamp)
    if liveCount < usedCount {
      free = stored.otherSlots.reversed()
    }
    for entity in builder.twins { _ = try readRecords(of: entity, by: source) }
  }

  // MARK: Records

  /// Reads the records of the slots that may be the entity's, of which the stored index only knows a hash.
  ///
  /// A record that is not whole, or is another entity's, leaves the index as a damaged image.
  ///
  /// - Parameter source: `nil` for the index's own.
  /// - Returns: How many were damaged.
  mutating func readRecords(
    of entity: TableID.Digest, by source: RecordSource? = nil
  ) throws(SystemError) -> Int {
    let hash = stored.hash(of: entity)
    var lostCount = 0
    while let slot = stored.slot(under: hash, where: { !states.hasRecord($0) }) {
      let record = try (source ?? readRecord)(slot)
      if let record { addRecord(record, in: slot) }
      if !states.hasRecord(slot) {
        damageCount += 1
        lostCount += 1
        takeOut(slot)
      }
    }
    return lostCount
  }

  /// Notes the record of a slot, if the slot waits for it: no other slot's record is the same, and it changes
  /// only when it is known.
  mutating func addRecord(_ record: SlotRecord, in slot: Int) {
    guard slot < usedCount, isStored(slot), !states.hasRecord(slot),
      stored.hash(of: slot) == stored.hash(of: record.entity)
    else { return }
    let rival = find(record.entity)
    note(record, in: slot)
    // Only after a crash, or in a damaged file.
    guard let rival else { return }
    takeOut(states.recordMetadata(of: rival).generation < record.generation ? rival : slot)
  }

  /// True when an image in a range of slots waits for its record to be read.
  func hasUnknown(in slots: Range<Int>) -> Bool {
    slots.clamped(to: 0..<usedCount).contains { isStored($0) && !states.hasRecord($0) }
  }

  /// Notes that the record of a slot without an image is zeros in the file.
  mutating func noteErased(_ slot: Int) {
    if recordsToErase.remove(slot) != nil { stored.setMark(.free, of: slot) }
  }

  // MARK: Searching

  /// A slot with an image, and with a lease.
  struct Lease {
    let slot: Int
    let record: SlotRecord
    let isStale: Bool
    /// `nil` for an image whose content was not checked yet.
    let known: (version: TableID, extent: SlotExtent)?
  }

  /// Finds the image of a key's entity, and takes a lease on it.
  ///
  /// - Parameter isExact: A hit: finds the key's version only, and not if it is marked stale.
  func lease(_ key: TableKey, isExact: Bool) -> Lease? {
    guard let slot = find(key.entity.digest) else { return nil }
    if isExact, isStale(slot) || states.label(of: slot).version != key.version.digest { return nil }
    let stored = self.key(of: slot)
    if let stored {
      guard stored.entity == key.entity, !isExact || stored.version == key.version else {
        return nil
      }
    }
    states.lease(slot, isHit: isExact)
    return Lease(
      slot: slot, record: record(of: slot), isStale: isStale(slot),
      known: stored.map { ($0.version, states.label(of: slot).extent) })
  }

  /// The image of an entity by its record.
  ///
  /// - Parameter version: `nil` for whichever.
  func storedImageState(of entity: TableID, version: TableID? = nil) -> StoredImageState? {
    guard let slot = find(entity.digest) else { return nil }
    if let version {
      let key = TableKey(entity: entity, version: version)
      guard states.label(of: slot).version == version.digest, self.key(of: slot) ?? key == key
      else { return nil }
    }
    return StoredImageState(
      generation: states.recordMetadata(of: slot).generation, isStale: isStale(slot))
  }

  /// The slot of an entity's image, stale or not.
  func find(_ entity: TableID.Digest) -> Int? {
    stored.slot(under: stored.hash(of: entity)) {
      states.hasRecord($0) && states.label(of: $0).entity == entity
    }
  }

  /// The last slot with an image.
  var lastTakenSlot: Int? { (0..<usedCount).last(where: isStored) }

  /// True when an image is in the slot, stale or not, whether its record was read or not.
  func isStored(_ slot: Int) -> Bool { stored.mark(of: slot) == .live }

  /// The same for one whose record was read.
  func hasImage(_ slot: Int) -> Bool { states.hasRecord(slot) && isStored(slot) }

  /// True for an image whose record was read and which was marked stale.
  func isStale(_ slot: Int) -> Bool {
    states.hasRecord(slot) && !states.state(of: slot).isLive
  }

  // MARK: Verification

  /// Removes a damaged slot; false if another image is in it by now.
  mutating func discard(_ slot: Int, generation: UInt64) -> Bool {
    guard isSame(slot, generation) else { return false }
    takeOut(slot)
    damageCount += 1
    return true
  }

  // MARK: Changes

  /// Claims a slot for an image of `entity`, and evicts the image in it.
  ///
  /// The entity's own older image keeps its slot, so that lookups find it until the new one is
  /// published; it is evicted only where there is no other slot. `nil` where every slot is leased.
  mutating func claimSlot(for entity: TableID.Digest) -> Claim? {
    // Leases that end from now on get later stamps than the selection of the oldest sees.
    _ = states.advanceClock()
    if let claim = claimedFree(probes: 16) ?? claimedFresh() { return claim }
    let own = find(entity)
    while let slot = leastRecentlyUsed(except: own) {
      if let claim = evict(slot) { return claim }
    }
    return claimedFree(probes: free.count) ?? own.flatMap { evict($0) }
  }

  /// Makes a written slot live, with one lease taken, and returns the slot of the older image of
  /// the same entity, which is not live any more.
  ///
  /// - Parameter key: Without it the slot is not verified, and no lease is taken.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey?, extent: SlotExtent
  ) -> Int? {
    let older = find(record.entity)
    if let older { states.withdraw(older) }
    states.setRecordMetadata(RecordMetadata(record), of: slot)
    if let key {
      states.publish(slot, key: key, extent: extent)
    } else {
      states.publishUnverified(slot, entity: record.entity, version: record.version)
    }
    stored.newestGeneration = max(newestGeneration, record.generation)
    stored.replace(
      older, with: slot, hash: stored.hash(of: record.entity), stamp: states.stamp(of: slot))
    liveCount += 1
    if let older {
      liveCount -= 1
      free.append(older)
      recordsToErase.insert(older)
    }
    return older
  }

  /// Gives a claimed slot back without an image.
  mutating func unclaim(_ slot: Int) {
    states.unclaim(slot)
    free.append(slot)
    recordsToErase.insert(slot)
  }

  /// Removes an entity's image, if it was stored at one of these generations, and tells whether it did.
  mutating func remove(
    _ entity: TableID.Digest, generations: ClosedRange<UInt64> = 0...UInt64.max
  ) -> Bool {
    guard let slot = find(entity), generations.contains(generation(of: entity)) else {
      return false
    }
    takeOut(slot)
    return true
  }

  /// Marks the image of an entity stale, unless it was stored after `generation`: until the next store of the
  /// entity, or the end of the session, it is a miss, and is found by its entity only. The record stays as it
  /// is.
  mutating func markStale(_ entity: TableID.Digest, upTo generation: UInt64) {
    if let slot = find(entity), states.recordMetadata(of: slot).generation <= generation {
      states.close(slot)
    }
  }

  // MARK: Private

  /// True while the slot has the image that was stored with this generation.
  func isSame(_ slot: Int, _ generation: UInt64) -> Bool {
    hasImage(slot) && states.recordMetadata(of: slot).generation == generation
  }

  private mutating func takeOut(_ slot: Int) {
    states.withdraw(slot)
    forget(slot)
    free.append(slot)
    recordsToErase.insert(slot)
  }

  /// Takes a slot with an image, stale or not, from its entity.
  private mutating func forget(_ slot: Int) {
    liveCount -= 1
    stored.take(slot)
  }

  /// Claims a live slot; `nil` when a hit has just leased it.
  private mutating func evict(_ slot: Int) -> Claim? {
    let eviction = Eviction(entity: entity(of: slot))
    guard states.claim(slot) else { return nil }
    forget(slot)
    evictionCount += 1
    return Claim(slot: slot, isErased: false, eviction: eviction)
  }

  /// Claims a slot without an image and without leases, among the last `probes` of the list.
  private mutating func claimedFree(probes: Int) -> Claim? {
    for index in free.indices.suffix(probes).reversed() {
      guard let claim = claim(free[index]) else { continue }
      free.swapAt(index, free.count - 1)
      free.removeLast()
      return claim
    }
    return nil
  }

  private mutating func claimedFresh() -> Claim? {
    guard usedCount < slotCount else { return nil }
    let slot = usedCount
    states.prepare(slot + 1)
    stored.usedCount = slot + 1
    return claim(slot)
  }

  /// Claims a slot without an image.
  private mutating func claim(_ slot: Int) -> Claim? {
    // Of a slot that is not known, an index file says so, which is not trusted.
    let isErased = states.hasRecord(slot) && stored.mark(of: slot) == .free
    guard states.claim(slot) else { return nil }
    stored.take(slot)
    recordsToErase.remove(slot)
    return Claim(slot: slot, isErased: isErased, eviction: nil)
  }

  /// The least recently used slot without leases among the next neighbours, with stale ones before all others.
  ///
  /// A hit only writes a stamp; no list is reordered. A search looks at a window of slots, and the next search
  /// at the window behind it, so that no store looks at all slots of a large table. That evicts nearly as the
  /// order of all slots would: of Zipf's requests 47.49 % are hits instead of 47.50 %.
  private mutating func leastRecentlyUsed(except own: Int?) -> Int? {
    let windowCount = min(Self.windowCount, usedCount)
    // Once around, and the rest of the last window.
    for _ in 0...(usedCount / Self.windowCount + 1) {
      var oldest: (slot: Int, stamp: UInt64)?
      for number in windowStart..<windowStart + windowCount {
        let slot = number < usedCount ? number : number - usedCount
        guard isStored(slot), slot != own else { continue }
        let stamp = states.stamp(of: slot) | (isStale(slot) ? 0 : 1 << 63)
        if stamp < oldest?.stamp ?? .max, states.isUnleased(slot) { oldest = (slot, stamp) }
      }
      windowStart = (windowStart + windowCount) % max(1, usedCount)
      if let oldest { return oldest.slot }
    }
    return nil
  }

  private static let windowCount = 1024
}
