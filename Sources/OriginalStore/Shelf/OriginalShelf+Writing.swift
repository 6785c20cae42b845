import Foundation
import Locking
package import TableStore

extension OriginalShelf {
  /// Writes the original that is held under a key, if there is one, or gives it up; on the lane.
  package func write(_ key: OriginalKey) {
    budget.checkLane()
    guard let held = state.withLock({ $0.held[key.digest] }) else { return }
    defer { endPartial(of: held) }
    do throws(TableError) {
      guard try prepare() else { return giveUp(held, "Another process owns the folder.") }
      budget.prepareAll(but: self)
      let byteCount = try OriginalFolder.fileByteCount(
        content: held.content.count, key, held.facts)
      defer { budget.reserve(0) }
      if let finished = finishPartial(held, byteCount) {
        return publish(held, note(held, finished))
      }
      if held.partial != nil { revokePartial(key.digest) }
      guard makeRoom(for: byteCount, sparing: key.digest) else {
        return giveUp(held, "There is no room beside originals that are being read.")
      }
      let written = try replacing(key.digest) { () throws(TableError) in
        try folder().write(held.content, key, held.facts) {
          // What is left of it goes before the next one is written.
          state.withLock { $0.isSwept = false }
        }
      }
      publish(held, note(held, written))
    } catch {
      giveUp(held, "\(error)")
    }
  }

  /// Writes all originals that are held now.
  package func writeHeld() {
    for key in state.withLock({ $0.held.values.map(\.key) }) { write(key) }
  }

  /// Lets the originals of an entity count as another's, those of loads under way too; their files go on
  /// naming the old one. While this shelf owns nothing, the records in the file wait until it does.
  package func move(_ entity: TableID, to newEntity: TableID) {
    budget.checkLane()
    let (old, new) = (OriginalRecord.digest(of: entity), OriginalRecord.digest(of: newEntity))
    state.withLock { state in
      for key in state.held.filter({ $0.value.facts.entity == entity }).keys {
        state.held[key]?.facts.entity = newEntity
        state.held[key]?.record.entity = new
      }
      for number in state.loads.filter({ $0.value.entity == entity }).keys {
        state.loads[number]?.entity = newEntity
        state.loads[number]?.label.entity = new
      }
      state.moves.append((old, new))
      state.apply((old, new))
    }
    // A folder that is not there has nothing to be moved.
    ownExisting()
  }

  /// Writes the records that were moved; this shelf owns the folder.
  func settleMoves() {
    let places = state.withLock { state in
      defer { state.moves = [] }
      state.applyMoves()
      return state.moves.flatMap { state.index.places(of: $0.new) }
    }
    // A record that cannot be written names the old entity in the next session.
    for place in places { try? writeRecord(place) }
  }

  // MARK: Records

  /// Writes the record at a place into the index file, if this shelf owns it.
  func writeRecord(_ place: Int) throws(TableError) {
    let (file, record) = state.withLock { state -> (IndexFile?, OriginalRecord) in
      // Before the call: a use meanwhile is newer than what is written.
      state.index.note(place) { $0.flags.remove(.isUsed) }
      return (state.owned, state.index[place])
    }
    try file?.write(record, at: place)
  }

  /// Frees a record in the file and in memory.
  func forget(_ key: OriginalDigest, isPartial: Bool = false) {
    let (file, place) = state.withLock { state in
      (state.owned, state.index.place(of: key, isPartial: isPartial))
    }
    guard let place else { return }
    // A record without a file is forgotten by the next sweep.
    try? file?.clear(place)
    state.withLock { $0.index.remove(place) }
  }

  /// Deletes an original or a partial to make room; false if it stays.
  func evict(_ key: OriginalDigest, isPartial: Bool = false) -> Bool {
    if isPartial {
      revokePartial(key)
      return state.withLock { $0.index.place(of: key, isPartial: true) == nil }
    }
    guard (try? folder().remove(key)) != nil else { return false }
    let isOver = state.withLock { state in
      state.index.place(of: key).map {
        settings.keepTime.isOver(state.index[$0], now: settings.now())
      }
    }
    forget(key)
    settings.report(isOver == true ? .expired : .evicted)
    return true
  }

  // MARK: Private

  /// Makes room for so many bytes of a file, and reserves it.
  func makeRoom(for byteCount: Int, sparing key: OriginalDigest) -> Bool {
    let need = RoomPlan.rounded(byteCount)
    let indexGrowth = indexGrowth
    measureVolume(for: need + indexGrowth)
    guard need <= budget.byteCount / 4,
      budget.makeRoom(need + indexGrowth, for: self, sparing: key), makePlace(for: key)
    else { return false }
    budget.reserve(need + indexGrowth)
    return true
  }

  /// The bytes by which one more record lets the index file grow.
  var indexGrowth: Int {
    state.withLock { state in
      let place = min(state.index.nextPlace, settings.recordCountLimit - 1)
      return max(0, RoomPlan.rounded(IndexFile.byteCount(upTo: place)) - state.index.indexByteCount)
    }
  }

  /// Evicts the original that goes first, if the index has no place for one more.
  func makePlace(for key: OriginalDigest, isPartial: Bool = false) -> Bool {
    let isFull = state.withLock { state in
      state.index.nextPlace >= settings.recordCountLimit
        && state.index.place(of: key, isPartial: isPartial) == nil
    }
    guard isFull else { return true }
    guard let oldest = head(sparing: [key]) else { return false }
    return evict(oldest.key, isPartial: oldest.head.rank == .partial)
  }

  /// Finds how much of the volume the folder may take: at first, after each 64 MiB, and where that
  /// was too little for what is needed now, since others may have freed some.
  func measureVolume(for need: Int) {
    let isDue = state.withLock { state in
      state.volumeLimit == .max || state.writtenSince >= 64 << 20
        || need > state.volumeLimit - state.index.usedByteCount
    }
    guard isDue, let folder = try? folder(), let free = settings.freeByteCount(folder) else {
      return
    }
    state.withLock { state in
      // No more than is left to others. Bytes that move from free to used leave this as it is, so
      // asking again gives the folder no more.
      let used = state.index.usedByteCount
      (state.volumeLimit, state.writtenSince) = (max(used, used + (free - used) / 2), 0)
    }
  }

  /// Records a file that was written.
  private func note(
    _ held: Held, _ written: (contentHash: UInt64, byteCount: Int)
  ) -> OriginalRecord {
    let digest = held.key.digest
    var record = held.record
    record.contentHash = written.contentHash
    record.byteCount = UInt32(clamping: written.byteCount)
    let place = state.withLock { state -> Int in
      state.writtenSince += written.byteCount
      if let place = state.index.place(of: digest) {
        state.index.replace(place, with: record)
        return place
      }
      let place = state.index.insert(record)
      let grown = RoomPlan.rounded(IndexFile.byteCount(upTo: place))
      state.index.indexByteCount = max(state.index.indexByteCount, grown)
      return place
    }
    // Without its record the file is found now all the same, and adopted by the next sweep.
    try? writeRecord(place)
    return record
  }

  /// Runs a job that puts a file in the place of an older one.
  func replacing<Result>(
    _ key: OriginalDigest, _ job: () throws(TableError) -> Result
  ) throws(TableError) -> Result {
    let (file, older) = state.withLock { ($0.owned, $0.index.place(of: key)) }
    // After a kill it would speak for the newer file, if that is as long.
    if let older { try? file?.clear(older) }
    do throws(TableError) { return try job() } catch {
      if let older { try? writeRecord(older) }
      throw error
    }
  }

  /// The last step: the file takes the place of the held original. Removals are jobs of the lane too, so
  /// that nothing was removed meanwhile; but a newer original may be held, and is written next.
  private func publish(_ held: Held, _ record: OriginalRecord) {
    let smaller = state.withLock { state -> [Int] in
      if state.held[record.key]?.number == held.number { state.unhold(record.key) }
      return state.outgrown(by: record)
    }
    for place in smaller { try? writeRecord(place) }
    settings.report(.stored(held.key.id))
  }

  private func giveUp(_ held: Held, _ reason: String) {
    state.withLock { state in
      if state.held[held.key.digest]?.number == held.number { state.unhold(held.key.digest) }
    }
    settings.report(.refused(held.key.id, reason))
  }
}

extension OriginalShelf.State {
  /// Lets smaller real pictures of the same entity go before others, and returns their places.
  mutating func outgrown(by record: OriginalRecord) -> [Int] {
    let area = Int(record.width) * Int(record.height)
    guard area > 0, !record.flags.contains(.placeholder) else { return [] }
    let places = index.places(of: record.entity).filter { place in
      let other = index[place]
      return other.key != record.key && other.audience == record.audience && other.rank == .regular
        && Int(other.width) * Int(other.height) < area
    }
    for place in places { index.outgrow(place) }
    return places
  }
}
