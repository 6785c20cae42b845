/// Which picture is in which slot: a state machine without I/O and without locks.
///
/// ```
/// fresh, free --reserve--> claimed --publish--> live --remove, replace, discard--> free
///                              |                 ||                      or, if leased, detained
///                              +---abandon--> free|+--reserve (least recently used)--> claimed
/// detained --reserve, once its leases ended--> claimed
/// (a file's record) --adopt--> unread --learn--> live
///                                 +---lose---> free
/// ```
///
/// It decides; the board has what hits see of it without asking. Of the records that an opened file
/// has, it keeps the places only, until somebody asks: so opening writes little memory, which costs
/// more than checking the records does. Who asks reads what the index names as unread (`TableCore`).
///
/// Invariants:
/// 1. A slot is live or unread exactly when `table` finds it, under its entity's digest; one slot per
///    digest.
/// 2. Only live slots are leased, so that the leases of any other slot only get fewer.
/// 3. A slot is claimed only when it has no leases, which is settled with those who take leases in
///    one atomic step; while claimed it is in no list.
/// 4. Each slot below `usedCount` is live, unread, claimed, in `free`, or in `detained`; those above
///    were never used.
/// 5. Nothing is decided about an entity while a slot under its digest is unread, nor about the order
///    of use while any is.
struct TableIndex {
  let board: SlotBoard
  private let slotCount: Int
  private var usedCount = 0
  /// False where leases go on from before, of which the board must know whose they are.
  private let leavesUnread: Bool
  private var table = DigestTable()
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
    leavesUnread = board.preparedCount == 0
  }

  /// Makes room for so many records.
  mutating func reserveCapacity(_ count: Int) {
    table = DigestTable(minimumCapacity: count)
  }

  /// Gets ready to adopt a record of this entity a little later, when memory has answered.
  @inline(__always)
  func expect(_ entity: TableID.Digest) { table.expect(entity) }

  /// Takes over a record that the file has, of a slot above all before; of two for one entity the
  /// newer counts. Nothing under the record's digest may be unread.
  mutating func adopt(_ record: SlotRecord, in slot: Int) {
    if let rival = insert(slot, record.entity) {
      let isOlder = board.facts(of: rival).generation >= record.generation
      stale.append(isOlder ? slot : rival)
      if isOlder { return use(upTo: slot + 1) }
      table.remove(rival, for: record.entity)
      board.withdraw(rival)
      table.insert(slot, for: record.entity)
    }
    finishAdopting(record, in: slot)
  }

  /// Takes over a record as above, if nothing else has to be known for that, which is nearly always so.
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
    if leavesUnread { board.leaveUnread(slot) } else { note(record, in: slot) }
  }

  /// Leaves a record out that the file has, of a slot above all before; it is to be erased.
  mutating func refuse(_ record: SlotRecord, in slot: Int) {
    use(upTo: slot + 1)
    newestGeneration = max(newestGeneration, record.generation)
    stale.append(slot)
  }

  /// Gives the slots without a picture out from now on.
  mutating func finishAdopting() {
    // Once and not for each record, since the processor takes its time to tell the time.
    board.resumeClock(after: newestStamp)
    use(upTo: board.preparedCount)
    // Slots that were lost on the way are among those that are found now.
    (free, detained) = ([], [])
    if table.count == usedCount { return }
    for slot in (0..<usedCount).reversed() where !isTaken(slot) { setFree(slot) }
  }

  // MARK: Unread records

  /// A slot whose record has to be read before anything is decided about this entity.
  func unreadSlot(for entity: TableID.Digest) -> Int? {
    if board.unreadCount == 0 { return nil }
    return table.slot(for: entity) { board.isUnread($0) }
  }

  /// Notes what stands in the file for a slot, if that is not known yet. A record that cannot be the
  /// one that was adopted leaves the slot unread.
  mutating func learn(_ record: SlotRecord, in slot: Int) {
    guard board.isUnread(slot) else { return }
    // One that somebody changed since may be found under another digest, or twice.
    let known = table.slot(for: record.entity) {
      !board.isUnread($0) && board.label(of: $0).entity == record.entity
    }
    guard known == nil, table.slot(for: record.entity, where: { $0 == slot }) != nil
    else { return }
    newestGeneration = max(newestGeneration, record.generation)
    note(record, in: slot)
  }

  /// Takes a slot out that is unread though what stands in the file for it was read; false for others.
  ///
  /// - Parameter entity: Whose record was expected there.
  mutating func lose(_ slot: Int, of entity: TableID.Digest) -> Bool {
    guard board.isUnread(slot) else { return false }
    damageCount += 1
    letGo(of: slot, entity)
    return true
  }

  /// Takes all slots out that may have to do with an entity and cannot be read, and returns them.
  mutating func loseUnread(of entity: TableID.Digest) -> [Int] {
    var lost: [Int] = []
    while let slot = unreadSlot(for: entity) {
      letGo(of: slot, entity)
      lost.append(slot)
    }
    return lost
  }

  /// Takes all slots out that are unread though the whole file was read, and returns them.
  mutating func loseUnread() -> [Int] {
    if board.unreadCount == 0 { return [] }
    let lost = unreadSlots
    table.removeAll(where: board.isUnread)
    for slot in lost { letGo(of: slot, nil) }
    damageCount += lost.count
    return lost
  }

  /// - Parameter entity: Under which the table has the slot, if it still does.
  private mutating func letGo(of slot: Int, _ entity: TableID.Digest?) {
    if let entity { table.remove(slot, for: entity) }
    board.giveUpUnread(slot)
    setFree(slot)
    stale.append(slot)
  }

  /// Makes an adopted slot live.
  private func note(_ record: SlotRecord, in slot: Int) {
    board.setFacts(SlotFacts(record), of: slot)
    board.adopt(slot, entity: record.entity, source: record.source)
    board.setStamp(Self.stamp(of: record), of: slot)
  }

  /// When a record's picture was used last. No clock comes so far as those that are refused, except
  /// in a file that somebody made up.
  private static func stamp(of record: SlotRecord) -> UInt64 {
    record.recency < UInt64.max / 2 ? record.recency : 0
  }

  var liveCount: Int { table.count }
  var leasedSlots: [Int] { board.readSlots.filter { !board.isUnleased($0) } }
  var unreadCount: Int { board.unreadCount }
  var unreadSlots: [Int] { (0..<usedCount).filter(board.isUnread) }
  var unprovenCount: Int {
    board.unreadCount + board.readSlots.count { isLive($0) && !board.state(of: $0).isProven }
  }

  // MARK: Searching

  /// Finds the slot of a key and takes a lease on it.
  func lease(_ key: TableKey) -> Finding {
    guard let slot = slot(of: key), isLive(slot) else { return .missing }
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

  /// The last of the slots that a picture is in.
  var lastTakenSlot: Int? { (0..<usedCount).last(where: isTaken) }

  /// The live slots; none may be unread.
  var liveSlots: [Int] {
    assert(board.unreadCount == 0, "Pictures are left out whose records were not read.")
    return (0..<usedCount).filter(isLive)
  }

  func isLive(_ slot: Int) -> Bool { board.state(of: slot).isLive }

  // MARK: Proof

  /// Notes that a leased slot was read and holds what its record says.
  mutating func prove(_ slot: Int, generation: UInt64, key: TableKey, extent: SlotExtent) {
    guard isSame(slot, generation) else { return }
    board.prove(slot, key: key, extent: extent)
  }

  /// Takes a slot out that does not hold what its record says; false if that is another one by now.
  mutating func discard(_ slot: Int, generation: UInt64) -> Bool {
    guard isSame(slot, generation) else { return false }
    takeOut(slot)
    stale.append(slot)
    damageCount += 1
    return true
  }

  /// The slots whose records must not outlive a removal: those of older pictures of an entity that
  /// were left behind by a crash, and those of pictures that could not be read, which a later
  /// session might be able to read. No slot is reserved meanwhile.
  mutating func takeStale() -> [Int] {
    defer { stale = [] }
    // Slots that were published since have other records.
    return stale.filter { !isLive($0) }
  }

  // MARK: Changes

  /// Finds a slot to write a picture of `entity` to, and evicts who is in it.
  ///
  /// The entity's own older picture keeps its slot, so that it can be shown until the new one is
  /// published; only where there is no other slot it goes first.
  ///
  /// - Parameter mayGuess: Whether the order of use is taken from the records that were read, where
  ///   others cannot be.
  mutating func reserve(for entity: TableID, mayGuess: Bool = false) -> Room {
    // So that leases which end from now on are later than the selection of the oldest.
    _ = board.advanceClock()
    if let slot = claimedFree() ?? claimedFresh() ?? claimedReleased(probes: 16) {
      return .reserved(Reservation(slot: slot, eviction: nil))
    }
    guard board.unreadCount == 0 || mayGuess else { return .unread }
    let own = find(entity.digest)
    while let slot = leastRecentlyUsed(except: own) {
      if let reservation = evict(slot) { return .reserved(reservation) }
    }
    if let slot = claimedReleased(probes: detained.count) {
      return .reserved(Reservation(slot: slot, eviction: nil))
    }
    let room = own.flatMap { evict($0) }.map { Room.reserved($0) }
    return room ?? (board.unreadCount == 0 ? .full : .unread)
  }

  /// Makes a written slot findable, with one lease taken, and returns the slot of the older picture
  /// of the same entity, which is not findable any more.
  mutating func publish(
    _ slot: Int, record: SlotRecord, key: TableKey, extent: SlotExtent
  ) -> Int? {
    let older = find(record.entity)
    if let older { takeOut(older) }
    board.setFacts(SlotFacts(record), of: slot)
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

  // MARK: Private

  private func find(_ entity: TableID.Digest) -> Int? {
    assert(unreadSlot(for: entity) == nil, "A record was not read that may be the entity's.")
    return table.slot(for: entity) { board.label(of: $0).entity == entity }
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
    isLive(slot) && board.facts(of: slot).generation == generation
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
    guard usedCount < slotCount else { return nil }
    let slot = usedCount
    use(upTo: slot + 1)
    if board.claim(slot) { return slot }
    detained.append(slot)
    return nil
  }

  private mutating func use(upTo count: Int) {
    board.prepare(count)
    usedCount = max(usedCount, count)
  }

  /// True when a picture is in the slot, whether its record was read or not.
  private func isTaken(_ slot: Int) -> Bool { board.isUnread(slot) || isLive(slot) }

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
      among: 0..<usedCount, stamp: { [board] in board.stamp(of: $0) },
      isEvictable: { [board] in
        guard $0 != own else { return false }
        let state = board.state(of: $0)
        return state.isLive && state.leaseCount == 0
      })
  }
}
