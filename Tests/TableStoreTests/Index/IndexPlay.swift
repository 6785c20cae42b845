import Locking

@testable import TableStore

/// The plain model of an index: all slots in one list.
struct IndexModel {
  struct Slot {
    var entity: Int
    var version: Int
    /// The number of the slot in the index, which is free to choose it.
    let slot: Int
    var isLive = true
    /// Only its entity finds it.
    var isStale = false
    /// Seen in this session.
    var isVerified = true
    var leases = 0
    var lastUse: Int
  }
  let capacity: Int
  var slots: [Int: Slot] = [:]
  var now = 0

  func live(_ entity: Int) -> Int? {
    slots.first { $0.value.isLive && $0.value.entity == entity }?.key
  }

  /// The candidates for eviction: `[nil]` when there is room, none when every slot is leased. There
  /// are several when their leases ended between the same two events.
  func victims(for entity: Int) -> [Int?] {
    let taken = slots.values.count { $0.isLive || $0.leases > 0 }
    if taken < capacity { return [nil] }
    let own = live(entity)
    var evictable = slots.filter { $0.value.isLive && $0.value.leases == 0 && $0.key != own }
    if evictable.values.contains(where: \.isStale) { evictable = evictable.filter(\.value.isStale) }
    if let oldest = evictable.values.map(\.lastUse).min() {
      return evictable.filter { $0.value.lastUse == oldest }.map(\.key)
    }
    if let own, slots[own]?.leases == 0 { return [own] }
    return []
  }

  mutating func hit(_ slot: Int) {
    now += 1
    slots[slot]?.lastUse = now
    slots[slot]?.leases += 1
  }

  mutating func release(_ slot: Int) {
    slots[slot]?.lastUse = now
    slots[slot]?.leases -= 1
  }
}

/// Something that happens to an index.
enum IndexEvent: Hashable {
  case store(entity: Int, version: Int)
  /// An image whose ids are not known in full is stored.
  case storeUnverified(entity: Int, version: Int)
  /// A slot is claimed, and its writing fails.
  case unclaim(entity: Int)
  case look(entity: Int, version: Int)
  /// Of the leases in hand, counted from the oldest or from the newest.
  case release(Int, fromNewest: Bool)
  case remove(entity: Int)
  /// The image is marked stale.
  case markStale(entity: Int)
  /// The entity's image is looked up and leased.
  case lookAny(entity: Int)
  /// The file is closed and opened again, if there is no lease.
  case reopen
  /// The process ends, if there is no lease, and the next one goes on with the stored index.
  case resume
  /// The record of an image in the file is lost, if it was not read since the file was opened.
  case spoil(entity: Int)
}

/// An index and its model, which get the same events.
struct IndexPlay {
  /// Faults that a play must find.
  enum Plant {
    case none
    /// Leases do not keep a slot.
    case leasesIgnored
    /// A removal takes nothing out.
    case removalsIgnored
    /// A hit counts as no use.
    case usesIgnored
    /// An image that is marked stale stays as it is, or goes at once.
    case marksIgnored, marksRemove
    /// The order of use is not written before the file is closed.
    case orderForgotten
  }

  private let plant: Plant
  private var states: SlotStates
  private var index: TableIndex
  /// The records in the file.
  private let file = IndexedFile()
  private var model: IndexModel
  /// Leases in hand: the slot of the index, and of the model.
  private var leases: [(slot: Int, modelled: Int)] = []
  private var nextModelled = 0
  private var generation = 0

  init(capacity: Int, plant: Plant = .none) {
    self.plant = plant
    states = SlotStates(slotCount: capacity, clockGrain: 0)
    index = TableIndex(slotCount: capacity, states: states, readRecord: file.source)
    model = IndexModel(capacity: capacity)
  }

  var leaseCount: Int { leases.count }

  /// Plays an event, and returns the disagreement of the two, if any.
  mutating func apply(_ event: IndexEvent) -> String? {
    let problem: String?
    switch event {
    case .store(let entity, let version): problem = store(entity, version, fails: false)
    case .storeUnverified(let entity, let version):
      problem = store(entity, version, fails: false, isVerified: false)
    case .unclaim(let entity): problem = store(entity, 0, fails: true)
    case .look(let entity, let version): problem = look(entity, version)
    case .release(let index, let fromNewest): problem = release(index, fromNewest)
    case .remove(let entity): problem = remove(entity)
    case .markStale(let entity): problem = markStale(entity)
    case .lookAny(let entity): problem = lookAny(entity)
    case .reopen: problem = reopen()
    case .resume: problem = resume()
    case .spoil(let entity): problem = spoil(entity)
    }
    model.slots = model.slots.filter { $0.value.isLive || $0.value.leases > 0 }
    if let problem { return problem }
    if index.liveCount != model.slots.values.count(where: \.isLive) {
      return "\(index.liveCount) images are live"
    }
    let leased = model.slots.values.count { $0.leases > 0 }
    if plant != .leasesIgnored, index.leasedSlots.count != leased {
      return "\(index.leasedSlots.count) slots are leased"
    }
    return nil
  }

  // MARK: Events

  private mutating func store(
    _ entity: Int, _ version: Int, fails: Bool, isVerified: Bool = true
  ) -> String? {
    model.now += 1
    let expected = model.victims(for: entity)
    guard let claim = claimSlot(for: entity) else {
      return expected.isEmpty ? nil : "no slot is claimed"
    }
    if claim.isErased, file.records.contains(where: { $0.slot == claim.slot }) {
      return "a record stays while its slot is written"
    }
    file.write(nil, to: claim.slot)
    // A leased slot is in use, of whatever entity it was.
    let isLeased = leases.contains { $0.slot == claim.slot }
    if isLeased { return "a leased slot is claimed" }
    let victim = expected.first { victim in
      guard let evicted = victim.flatMap({ model.slots[$0] }) else {
        return claim.eviction == nil
      }
      let name = evicted.isVerified ? key(evicted.entity).entity : nil
      return evicted.slot == claim.slot && claim.eviction == Eviction(entity: name)
    }
    guard let victim else { return "the wrong image makes room" }
    if let victim { model.slots[victim] = nil }
    if fails {
      index.unclaim(claim.slot)
      // Or the erasure fails too.
      if entity % 2 == 0 { erase(claim.slot) }
      return nil
    }
    generation += 1
    let record = record(entity, version, generation)
    let older = index.publish(
      claim.slot, record: record, key: isVerified ? key(entity, version) : nil,
      extent: SlotExtent(width: 1, height: 1))
    file.write(record, to: claim.slot)
    if let older { erase(older) }
    let modelledOlder = model.live(entity)
    if let modelledOlder { model.slots[modelledOlder]?.isLive = false }
    model.slots[nextModelled] = .init(
      entity: entity, version: version, slot: claim.slot, isVerified: isVerified, lastUse: model.now
    )
    if isVerified { take(claim.slot, nextModelled) }
    nextModelled += 1
    return (older == nil) == (modelledOlder == nil) ? nil : "the older image is another"
  }

  private mutating func look(_ entity: Int, _ version: Int) -> String? {
    let modelled = model.live(entity).flatMap { slot in
      model.slots[slot].flatMap { $0.version == version && !$0.isStale ? slot : nil }
    }
    read(entity)
    if index.contains(key(entity, version)) != (modelled != nil) { return "contains is wrong" }
    guard let lease = index.lease(key(entity, version), isExact: true) else {
      return modelled == nil ? nil : "an image is missed"
    }
    guard let modelled else { return "an image is found" }
    let (slot, record) = (lease.slot, lease.record)
    if lease.known == nil {
      if record.version != key(entity, version).version.digest { return "another version is found" }
      index.verify(
        slot, generation: record.generation, key: key(entity, version),
        extent: SlotExtent(width: 1, height: 1))
      model.slots[modelled]?.isVerified = true
      take(slot, modelled)
      return nil
    }
    if model.slots[modelled]?.isVerified != true { return "an unverified image is found" }
    if plant == .usesIgnored { states.setStamp(0, of: slot) }
    take(slot, modelled)
    return nil
  }

  private mutating func take(_ slot: Int, _ modelled: Int) {
    model.hit(modelled)
    leases.append((slot, modelled))
    if plant == .leasesIgnored { states.release(slot) }
  }

  private mutating func release(_ index: Int, _ fromNewest: Bool) -> String? {
    guard index < leases.count else { return nil }
    let lease = leases.remove(at: fromNewest ? leases.count - 1 - index : index)
    if plant != .leasesIgnored { states.release(lease.slot) }
    if plant == .usesIgnored { states.setStamp(0, of: lease.slot) }
    model.release(lease.modelled)
    return nil
  }

  private mutating func markStale(_ entity: Int) -> String? {
    read(entity)
    let digest = key(entity).entity.digest
    if let modelled = model.live(entity) { model.slots[modelled]?.isStale = true }
    // A mark of before the store changes nothing.
    index.markStale(
      digest, upTo: index.generation(of: digest) - min(1, index.generation(of: digest)))
    switch plant {
    case .marksIgnored: break
    case .marksRemove: _ = index.remove(key(entity).entity.digest)
    default: index.markStale(digest, upTo: UInt64(generation))
    }
    return nil
  }

  private mutating func lookAny(_ entity: Int) -> String? {
    read(entity)
    let modelled = model.live(entity)
    let found = index.lease(key(entity, 0), isExact: false)
    guard let found, let modelled, let slot = model.slots[modelled] else {
      return found == nil && modelled == nil ? nil : "an entity's image is missed, or found"
    }
    if plant == .usesIgnored { states.setStamp(0, of: found.slot) }
    take(found.slot, modelled)
    if found.isStale != slot.isStale { return "the mark is another" }
    if (found.known != nil) != slot.isVerified { return "it is verified otherwise" }
    return found.known.map { $0.version == key(entity, slot.version).version } ?? true
      ? nil : "the version is another"
  }

  private mutating func remove(_ entity: Int) -> String? {
    let modelled = model.live(entity)
    if let modelled { model.slots[modelled]?.isLive = false }
    if plant == .removalsIgnored { return nil }
    read(entity)
    let isRemoved = index.remove(key(entity).entity.digest)
    for slot in index.recordsToErase { erase(slot) }
    return isRemoved == (modelled != nil) ? nil : "another removal"
  }

  private mutating func reopen() -> String? {
    guard leases.isEmpty else { return nil }
    writeOrder()
    states = SlotStates(slotCount: model.capacity, clockGrain: 0)
    index = TableIndex(slotCount: model.capacity, states: states, readRecord: file.source)
    do throws(SystemError) { try index.adopt(file.records, reading: file.source) } catch {
      return "\(error)"
    }
    forget()
    return nil
  }

  private mutating func resume() -> String? {
    guard leases.isEmpty else { return nil }
    writeOrder()
    let former = states.stored
    states = SlotStates(slotCount: model.capacity, clockGrain: 0)
    states.stored.copy(former)
    index = TableIndex(continuing: states, readRecord: file.source)
    forget()
    // No slot is in hand between two events but those whose writing failed.
    for slot in index.recordsToErase { erase(slot) }
    return nil
  }

  private mutating func writeOrder() {
    var next = 0
    while plant != .orderForgotten,
      let (slot, records) = index.takeOutdatedRecords(from: next, limit: 2)
    {
      for (index, record) in records.enumerated() { file.write(record, to: slot + index) }
      next = slot + records.count
    }
  }

  private mutating func forget() {
    for modelled in model.slots.keys {
      model.slots[modelled]?.isVerified = false
      model.slots[modelled]?.isStale = false
    }
  }

  private mutating func spoil(_ entity: Int) -> String? {
    let digest = key(entity).entity.digest
    let hash = states.stored.hash(of: digest)
    guard let slot = states.stored.slot(under: hash, where: { !states.hasRecord($0) }) else {
      return nil
    }
    file.write(nil, to: slot)
    if let modelled = model.live(entity) { model.slots[modelled] = nil }
    // As the next caller sees it.
    read(entity)
    if !index.recordsToErase.contains(slot) { return "what was lost is not to be erased" }
    erase(slot)
    return nil
  }

  // MARK: The table's part

  private mutating func claimSlot(for entity: Int) -> TableIndex.Claim? {
    read(entity)
    return index.claimSlot(for: key(entity).entity.digest)
  }

  private mutating func erase(_ slot: Int) {
    file.write(nil, to: slot)
    index.noteErased(slot)
  }

  private mutating func read(_ entity: Int) {
    // The file's calls do not fail.
    _ = try? index.readRecords(of: key(entity).entity.digest)
  }

  private func record(_ entity: Int, _ version: Int, _ generation: Int) -> SlotRecord {
    SlotRecord(
      entity: key(entity).entity.digest, version: key(entity, version).version.digest,
      generation: UInt64(generation), slotHash: 0, recency: states.advanceClock())
  }
}

/// The records of a table file.
final class IndexedFile: Sendable {
  private let content = Lock<[Int: SlotRecord]>([:])

  var records: [(slot: Int, record: SlotRecord)] {
    content.withLock { $0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
  }

  func write(_ record: SlotRecord?, to slot: Int) { content.withLock { $0[slot] = record } }

  var source: TableIndex.RecordSource {
    { [self] slot throws(SystemError) in content.withLock { $0[slot] } }
  }
}

extension StoredIndex {
  /// Takes over what another one has, as a file does.
  func copy(_ other: StoredIndex) {
    other.withBytes { bytes in withBytes { $0.copyMemory(from: UnsafeRawBufferPointer(bytes)) } }
  }
}

extension TableIndex {
  /// Takes over the records of a file, as an opening does; without a source records that were written in order.
  mutating func adopt(
    _ records: [(slot: Int, record: SlotRecord)], reading source: RecordSource? = nil
  ) throws(SystemError) {
    var builder = stored.makeBuilder(slotCount: records.count)
    for (slot, record) in records { builder.adopt(record, in: slot) }
    let byNumber = Dictionary(uniqueKeysWithValues: records.map { ($0.slot, $0.record) })
    try finishAdopting((records.last?.slot ?? -1) + 1, builder) { slot throws(SystemError) in
      try source.map { source throws(SystemError) in try source(slot) } ?? byNumber[slot]
    }
  }

  func contains(_ key: TableKey) -> Bool {
    storedImageState(of: key.entity, version: key.version)?.isStale == false
  }
}
