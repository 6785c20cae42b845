package import Foundation
import Locking
package import TableStore

/// The originals of one folder: the lock around their index, those that are about to be written, and
/// the leases of their readers.
///
/// Any thread looks, holds and reads. Files and records change on the budget's lane, one after the
/// other. Calls there wait for the disk; the lock is never held meanwhile.
///
/// Invariants:
/// 1. A held original is found before its file is. It is held until its file was written, given up
///    or removed; a write publishes what is still held, and nothing else.
/// 2. A file has a record in memory before another file of this budget is begun, so that it counts.
/// 3. Without `owned` nothing is written but what a removal demands.
/// 4. While `suspensions` is not empty, nothing is owned, so no file is locked.
/// 5. `index` names the entities of its originals as after `moves`; so do `held` and `loads`.
/// 6. A load that began before a removal of its original, or before that was marked stale, is not in `loads`
///    afterwards; it holds and confirms nothing. Nor does one that began before the load of a real original
///    that is held under its name, or before a store by hand, whichever cache it loads for.
package final class OriginalShelf: Sendable {
  /// An original before its file is there.
  struct Held {
    let content: Data
    var facts: OriginalFacts
    var record: OriginalRecord
    let key: OriginalKey
    /// The load that may have written its first blocks.
    let partial: PartialUse?
    /// Tells it from another one of the same key that came later.
    let number: Int

    /// As its file will have it.
    var contentHash: UInt64 {
      content.withUnsafeBytes { LaneHash.hash($0, seed: key.digest.seed) }
    }
  }

  /// A load that may keep its original.
  struct Load {
    var label: OriginalLabel
    var entity: TableID
  }

  struct State {
    var index = OriginalIndex()
    var held: [OriginalDigest: Held] = [:]
    var heldByteCount = 0
    var lastNumber = 0
    var loads: [Int: Load] = [:]
    var claims = PartialClaims()
    /// The originals that threads read now, once for each thread: a few.
    var readers: [OriginalDigest] = []
    /// The hints of the index were read.
    var isOpen = false
    var folder: OriginalFolder?
    var owned: IndexFile?
    var isSwept = false
    var suspensions: Set<ObjectIdentifier> = []
    /// The entities that were given other ids and whose records in the file do not say so yet, in the order
    /// of the moves.
    var moves: [(old: UInt64, new: UInt64)] = []
    /// Most bytes of this folder for now, by what is free on the volume, and the bytes written since
    /// that was found.
    var volumeLimit = Int.max
    var writtenSince = 0
  }

  /// How a shelf is made; the closures are called from any thread.
  package struct Settings: Sendable {
    package var path: String
    package var protection = FileProtection.untilFirstUnlock
    package var keepTime = KeepTime(seconds: 30 * 86_400, countsFromLastUse: true)
    package var system = SystemCalls.live
    /// Microseconds since 1970.
    package var now: @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000_000) }
    package var freeByteCount: @Sendable (OriginalFolder) -> Int? = { $0.freeByteCount }
    /// The server's word in an original's terms, for a file that has lost its record.
    package var freshness: @Sendable (OriginalFacts) -> RecordedFreshness = { _ in .init() }
    var recordCountLimit = OriginalIndex.maximumPlaceCount
    package var report: @Sendable (OriginalEvent) -> Void = { _ in }

    package init(path: String) { self.path = path }
  }

  let settings: Settings
  package let budget: OriginalBudget
  let state = Lock(State())

  /// Originals that wait for their turn to be written take at most so much memory; others are not
  /// kept.
  static let heldByteCountLimit = 64 << 20

  package init(_ settings: Settings, budget: OriginalBudget) {
    (self.settings, self.budget) = (settings, budget)
    budget.join(self)
  }

  deinit {
    // No job is on the lane: each retains the shelf. A failed write loses the order of use only.
    writeUses()
  }

  // MARK: From any thread

  package var usedByteCount: Int { state.withLock { $0.index.usedByteCount } }

  /// False before the hints of the index were read.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// This moment in microseconds since 1970.
  package var now: Int64 { settings.now() }

  /// What is known of an original; `nil` also for one that was kept long enough. A lock and a lookup.
  package func look(_ key: OriginalKey) -> OriginalRecord? {
    let record = state.withLock { state -> OriginalRecord? in
      if let held = state.held[key.digest] { return held.record }
      return state.index.place(of: key.digest).map { state.index[$0] }
    }
    guard let record, !settings.keepTime.isOver(record, now: settings.now()) else { return nil }
    return record
  }

  /// Notes a load whose original may be kept, before its first byte is asked for.
  package func begin(_ key: OriginalKey, of entity: TableID) -> OriginalLoad {
    let load = Load(
      label: OriginalLabel(key.digest, entity, audienceHash: key.audienceHash), entity: entity)
    let number = state.withLock { state in
      state.lastNumber += 1
      state.loads[state.lastNumber] = load
      return state.lastNumber
    }
    return OriginalLoad(number) { [weak self] number in
      self?.state.withLock { _ = $0.loads.removeValue(forKey: number) }
    }
  }

  /// Counts an original as kept from now on, before its file is there, in the place of an older one.
  ///
  /// - Parameters:
  ///   - load: The load that fetched it; `nil` where the bytes did not come by a load, so that no removal
  ///     can be newer.
  ///   - partial: The arrival whose bytes they are, if its first blocks may be on disk.
  ///   - mayKeep: Asked under the lock.
  package func hold(
    _ content: Data, _ key: OriginalKey, _ facts: OriginalFacts, _ freshness: RecordedFreshness,
    for load: OriginalLoad? = nil, from partial: PartialUse? = nil, if mayKeep: () -> Bool
  ) -> Bool {
    var facts = facts
    if let reason = refusal(of: content, key, facts) {
      settings.report(.refused(key.id, reason))
      return false
    }
    var record = OriginalRecord(
      key.digest, facts, audienceHash: key.audienceHash, contentHash: 0, byteCount: content.count,
      lastUse: budget.stamp(at: settings.now()))
    record.freshness = freshness
    let reason = state.withLock { state -> String? in
      guard state.suspensions.isEmpty else { return "The store is suspended." }
      // Before the question to the loads, whose yes keeps others from keeping theirs.
      guard !facts.isPlaceholder || !state.hasReal(key.digest) else {
        return "A placeholder takes the place of no real original."
      }
      guard load.map({ state.loads[$0.number] != nil }) ?? true, mayKeep() else {
        return "It was removed or replaced meanwhile."
      }
      if let load, let entity = state.loads[load.number]?.entity, entity != facts.entity {
        (facts.entity, record.entity) = (entity, OriginalRecord.digest(of: entity))
      }
      let known = state.held[key.digest]?.content.count ?? 0
      guard state.heldByteCount - known + content.count <= Self.heldByteCountLimit else {
        return "Too many originals wait for the disk."
      }
      state.unhold(key.digest)
      if !facts.isPlaceholder {
        state.forbidLoads(of: key.digest, before: load?.number ?? .max)
      }
      state.lastNumber += 1
      state.held[key.digest] = Held(
        content: content, facts: facts, record: record, key: key, partial: partial,
        number: state.lastNumber)
      state.heldByteCount += content.count
      return nil
    }
    if let reason { settings.report(.refused(key.id, reason)) }
    return reason == nil
  }

  /// Why an original cannot be kept, however much is evicted.
  private func refusal(
    of content: Data, _ key: OriginalKey, _ facts: OriginalFacts
  ) -> String? {
    let limit = budget.byteCount / 4
    do throws(TableError) {
      let byteCount = try OriginalFolder.fileByteCount(content: content.count, key, facts)
      guard RoomPlan.rounded(byteCount) > limit || byteCount > Int(UInt32.max) else { return nil }
      return "It takes \(byteCount) bytes, and one original at most \(limit)."
    } catch {
      return "\(error)"
    }
  }

  // MARK: For the budget, on the lane

  /// Bytes that are used, and of these the bytes that may go.
  typealias Usage = (used: Int, evictable: Int, partials: (used: Int, evictable: Int))

  func usage(sparing spared: Set<OriginalDigest>) -> Usage {
    state.withLock { state in
      let (used, partials) = (state.index.usedByteCount, state.index.partialByteCount)
      guard state.owned != nil else { return (used, 0, (partials, 0)) }
      var kept = (originals: 0, partials: 0)
      for key in spared.union(state.readers) {
        kept.originals += state.index.roundedByteCount(of: key, isPartial: false)
        kept.partials += state.index.roundedByteCount(of: key, isPartial: true)
      }
      let evictable =
        used - state.index.indexByteCount - state.index.foreignByteCount - kept.originals
        - kept.partials
      return (used, evictable, (partials, partials - kept.partials))
    }
  }

  /// The original or partial that goes first.
  func head(
    sparing spared: Set<OriginalDigest>
  ) -> (key: OriginalDigest, head: RoomPlan.Head)? {
    state.withLock { state in
      guard state.owned != nil else { return nil }
      let place = state.index.oldest { place in
        let key = state.index[place].key
        return !state.readers.contains(key) && !spared.contains(key)
      }
      return place.map { (state.index[$0].key, state.index.head($0)) }
    }
  }

  var volumeLimit: Int { state.withLock { $0.volumeLimit } }
}

extension OriginalShelf.State {
  fileprivate func hasReal(_ key: OriginalDigest) -> Bool {
    let record = held[key]?.record ?? index.place(of: key).map { index[$0] }
    return record?.flags.contains(.placeholder) == false
  }

  /// Keeps older loads from holding what is older than an original that is held now.
  fileprivate mutating func forbidLoads(of key: OriginalDigest, before number: Int) {
    let older = loads.lazy.filter { $0.key < number && $0.value.label.key == key }.map(\.key)
    for number in Array(older) { loads[number] = nil }
  }

  /// Has records that were just read follow `moves`.
  mutating func applyMoves() {
    for move in moves { apply(move) }
  }

  mutating func apply(_ move: (old: UInt64, new: UInt64)) {
    for place in index.places(of: move.old) { index.move(place, to: move.new) }
  }

  @discardableResult
  mutating func unhold(_ key: OriginalDigest) -> OriginalShelf.Held? {
    guard let held = held.removeValue(forKey: key) else { return nil }
    heldByteCount -= held.content.count
    return held
  }
}

extension OriginalIndex {
  fileprivate func roundedByteCount(of key: OriginalDigest, isPartial: Bool) -> Int {
    place(of: key, isPartial: isPartial).map { self[$0].roundedByteCount } ?? 0
  }
}
