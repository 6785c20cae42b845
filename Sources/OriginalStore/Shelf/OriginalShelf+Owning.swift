import Locking
import TableStore

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension OriginalShelf {
  /// Makes this shelf the owner of its folder, and sweeps the folder once; false while another
  /// process owns it, while the store is suspended, and where the budget has no room for an index.
  func prepare() throws(TableError) -> Bool {
    budget.checkLane()
    guard state.withLock({ $0.suspensions.isEmpty }) else { return false }
    leaveToParent()
    try leaveMissingFolder()
    guard try own() else { return false }
    if !state.withLock({ $0.isSwept }) {
      try sweep()
      state.withLock { $0.isSwept = true }
      budget.trim()
    }
    settleMoves()
    // A small budget may have cost the index.
    return state.withLock { $0.owned != nil }
  }

  /// Owns the folder, if it is there and nobody else does: a session that only reads owns nothing, and would
  /// forget at its end what it was told.
  func ownExisting() {
    guard state.withLock({ $0.owned == nil }), (try? existingFolder()) != nil else { return }
    _ = try? prepare()
  }

  /// Reads the index as it is now, without owning it. Other faults than a lock show at the first read or
  /// write.
  ///
  /// - Throws: `protectedNow` while the device is locked. The former hints stay.
  func readHints() throws(TableError) {
    var index = OriginalIndex()
    do throws(TableError) {
      let hints = try folder().readIndex()
      index = OriginalIndex(
        hints, placeCount: hints.placeCount, now: settings.now(), isOrdered: false)
      if let failure = hints.failure { throw failure }
    } catch {
      if case .protectedNow = error { throw error }
    }
    state.withLock { state in
      state.isOpen = true
      guard state.owned == nil else { return }
      state.index = index
      state.applyMoves()
    }
  }

  /// Gives the index file up, if there is nothing in it.
  func removeEmptyIndex() {
    guard state.withLock({ $0.owned != nil && $0.index.count == 0 }),
      (try? folder().remove(IndexFile.name)) != nil
    else { return }
    let owned = state.withLock { state in
      defer {
        (state.owned, state.isSwept) = (nil, false)
        state.index = OriginalIndex()
      }
      return state.owned
    }
    // The last reference unlocks and closes the file, outside the lock.
    withExtendedLifetime(owned) {}
  }

  /// Whether there can be anything to own; makes no folder.
  var isThere: Bool {
    if state.withLock({ $0.folder != nil }) { return true }
    return (try? settings.system.status(ofPath: settings.path)) != nil
  }

  /// In a child of fork(2) the folder is its parent's.
  func leaveToParent() {
    let inherited = state.withLock { state in
      state.owned?.isInherited == true ? state.owned.take() : nil
    }
    if inherited != nil { state.withLock { $0.isSwept = false } }
  }

  /// Forgets a folder that was deleted: nothing that is in it can be found, and it comes anew.
  func leaveMissingFolder() throws(TableError) {
    let (owned, folder) = state.withLock { ($0.owned, $0.folder) }
    guard let folder else { return }
    let isInPlace = if let owned { try owned.isInPlace() } else { try folder.isInPlace() }
    guard !isInPlace else { return }
    // Closed outside the lock.
    withExtendedLifetime((owned, folder)) {
      state.withLock { state in
        (state.owned, state.folder, state.isSwept) = (nil, nil, false)
        (state.volumeLimit, state.writtenSince) = (.max, 0)
        state.index = OriginalIndex()
      }
    }
  }

  // MARK: Private

  private func own() throws(TableError) -> Bool {
    guard state.withLock({ $0.owned == nil }) else { return true }
    let folder = try folder()
    let byteCount = try folder.wrapping(IndexFile.name) { () throws(SystemError) in
      try folder.system.status(of: IndexFile.name, in: folder.descriptor)?.byteCount ?? 0
    }
    if byteCount == 0 {
      guard budget.makeRoom(RoomPlan.rounded(1), for: self) else { return false }
    }
    guard let file = try folder.ownIndex() else { return false }
    var index = OriginalIndex(file.records, now: settings.now())
    file.forgetRecords()
    // Not the length before the lock: the file may have grown since, or be a new one.
    index.indexByteCount = RoomPlan.rounded(file.byteCount)
    state.withLock { state in
      index.takeUses(of: state.index)
      state.index = index
      (state.owned, state.isSwept, state.isOpen) = (file, false, true)
    }
    return true
  }

  /// Makes folder and index agree: adopts files that prove themselves, deletes what is ours and
  /// nothing, forgets records without a file and originals whose time is over.
  private func sweep() throws(TableError) {
    let folder = try folder()
    var (present, partials): (Set<OriginalDigest>, Set<OriginalDigest>) = ([], [])
    var foreignByteCount = 0
    for file in try folder.sweep() {
      switch file.kind {
      case .original(let digest):
        present.insert(digest)
        let isKnown = state.withLock { state in
          let record = state.index.place(of: digest).map { state.index[$0] }
          return record.map { Int($0.byteCount) } == file.byteCount && record?.isUnread == false
        }
        if !isKnown { adopt(digest, file.byteCount) }
      case .partial(let digest):
        if adoptPartial(digest, byteCount: file.byteCount) {
          partials.insert(digest)
        } else if (try? folder.removePartial(digest)) == nil {
          foreignByteCount += RoomPlan.rounded(file.byteCount)
        }
      case .index: continue
      case .foreign: foreignByteCount += RoomPlan.rounded(file.byteCount)
      }
    }
    state.withLock { $0.index.foreignByteCount = foreignByteCount }
    let now = settings.now()
    let gone = state.withLock { state in
      state.index.places { record in
        !(record.flags.contains(.partial) ? partials : present).contains(record.key)
      }.map { state.index[$0] }
    }
    for record in gone { forget(record.key, isPartial: record.flags.contains(.partial)) }
    let expired = state.withLock { state in
      // Partials have a time of their own.
      state.index.places { !$0.flags.contains(.partial) && settings.keepTime.isOver($0, now: now) }
        .map { state.index[$0].key }
    }
    for key in expired { _ = evict(key) }
  }

  /// Takes a file in that no record speaks for. One that cannot be read or deleted now counts and may
  /// be evicted all the same; the next session looks at it again.
  private func adopt(_ digest: OriginalDigest, _ byteCount: Int) {
    do throws(TableError) {
      switch try folder().adopt(digest) {
      case .missing: forget(digest)
      case .damaged:
        try folder().remove(digest)
        forget(digest)
      case .whole(let original): enter(record(of: original, digest), isRead: true)
      }
    } catch {
      let now = settings.now()
      enter(
        OriginalRecord(
          key: digest, entity: 0, audience: 0, contentHash: 0,
          byteCount: UInt32(clamping: byteCount),
          stored: UInt32(clamping: now / 1_000_000), lastUse: now), isRead: false)
    }
  }

  private func enter(_ record: OriginalRecord, isRead: Bool) {
    let place = state.withLock { state -> Int? in
      if let place = state.index.place(of: record.key) {
        state.index.replace(place, with: record)
        return place
      }
      return state.index.nextPlace < settings.recordCountLimit ? state.index.insert(record) : nil
    }
    guard let place else {
      _ = try? folder().remove(record.key)
      return
    }
    let grown = RoomPlan.rounded(IndexFile.byteCount(upTo: place))
    state.withLock { $0.index.indexByteCount = max($0.index.indexByteCount, grown) }
    // Without its record it is adopted again.
    if isRead { try? writeRecord(place) }
  }

  /// The record of a file that none speaks for, or an older one: what its server said at first.
  func record(of original: ProvenOriginal, _ digest: OriginalDigest) -> OriginalRecord {
    var record = OriginalRecord(
      digest, original.facts, audienceHash: original.audienceHash,
      contentHash: original.contentHash, byteCount: original.byteCount,
      lastUse: min(settings.now(), original.facts.stored &* 1_000_000))
    record.freshness = settings.freshness(original.facts)
    return record
  }
}

extension OriginalRecord {
  /// True for a file that could not be read when it was found; such a record speaks for no file.
  var isUnread: Bool { contentHash == 0 && !flags.contains(.partial) }
}

extension OriginalIndex {
  /// Takes over the uses that another telling of the same files has noted.
  mutating func takeUses(of other: OriginalIndex) {
    let uses = other.places { $0.flags.contains(.isUsed) }.map { other[$0] }
    for use in uses.sorted(by: { $0.lastUse < $1.lastUse }) {
      guard let place = place(of: use.key), self[place].contentHash == use.contentHash,
        self[place].lastUse < use.lastUse
      else { continue }
      self.use(place, at: use.lastUse)
    }
  }
}

extension OriginalFolder {
  /// The bytes that are free on the folder's volume for programs like this one; `nil` where the
  /// system does not say.
  package var freeByteCount: Int? {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0 else { return nil }
    let (count, overflows) = Int(clamping: status.f_bavail)
      .multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
    return overflows ? .max : count
  }
}
