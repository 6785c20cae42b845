package import Foundation
import Locking
import TableStore

// Partials are read, written and removed by jobs of the lane. `PartialClaims` decides whose they are.
// A partial has a record in the index from before its first block on: so a later session knows of it
// without a call. The record in the file is written once, and names the bytes of one block.
extension OriginalShelf {
  /// How long a download may take that breaks off again and again.
  static let partialTime = KeepTime(seconds: 7 * 86_400, countsFromLastUse: false)

  /// Whether a load that begins has something to wait for; from any thread, a lock and two lookups.
  package func mayHavePartial(_ key: OriginalKey) -> Bool {
    state.withLock { state in
      state.claims.load(of: key.digest) != nil
        || state.index.place(of: key.digest, isPartial: true) != nil
    }
  }

  /// Gives a load the first blocks of its original, each proven; `nil` where there are none, and where
  /// another load has them.
  package func takePartial(
    _ key: OriginalKey, for load: OriginalLoad
  ) -> (bytes: Data, facts: OriginalFacts)? {
    budget.checkLane()
    guard takesClaim(key.digest, load) else { return nil }
    let found: FoundPartial?
    // A later load may read it.
    do throws(TableError) { found = try folder().openPartial(key) } catch { return nil }
    guard let found, !Self.partialTime.isOver(from: found.facts.stored, now: settings.now()) else {
      dropPartial(key.digest)
      return nil
    }
    return (found.content, found.facts)
  }

  /// Writes the next whole block of an arrival, if there is one and nothing speaks against it. Whatever
  /// fails, the partial goes, and the load goes on without.
  ///
  /// - Returns: Whether to call again: another block may be there.
  package func writeBlock(of source: some PartialSource, for load: OriginalLoad) -> Bool {
    budget.checkLane()
    let key = source.key.digest
    do throws(TableError) {
      // Nothing is written while another process owns the folder, or the store is suspended.
      guard try prepare(), takesClaim(key, load) else { return false }
      guard var writing = try openPartial(source, load),
        let block = source.block(writing.blockCount)
      else { return false }
      guard try makeRoom(forBlock: writing.blockCount, of: source) else {
        revokePartial(key)
        return false
      }
      try writing.file.append(block, at: writing.blockCount)
      writing.blockCount += 1
      let now = writing
      _ = state.withLock { state in
        state.writtenSince += block.count
        return state.claims.open(key, now)
      }
      return true
    } catch {
      revokePartial(key)
      return false
    }
  }

  /// Ends a load's part in a partial.
  ///
  /// - Parameter keeps: Whether a later load may continue it.
  package func endPartial(_ key: OriginalKey, of load: OriginalLoad, keeps: Bool) {
    budget.checkLane()
    let claim = state.withLock { state in
      // The write that follows finishes it, or drops it.
      state.held[key.digest]?.partial?.load == load.number
        ? nil : state.claims.giveBack(key.digest, of: load.number)
    }
    // One that could not be deleted when it was over is tried again.
    if let claim, claim.had, !keeps || claim.wasOver { dropPartial(key.digest) }
  }

  // MARK: For the lane

  /// Makes the partial the original, where the load of a held original wrote one and there is room for
  /// the rest; `nil` otherwise.
  func finishPartial(_ held: Held, _ byteCount: Int) -> (contentHash: UInt64, byteCount: Int)? {
    let key = held.key.digest
    guard let use = held.partial, state.withLock({ $0.claims.take(key, for: use.load) }),
      let partialByteCount = state.withLock({ state in
        state.index.place(of: key, isPartial: true).map { Int(state.index[$0].byteCount) }
      }),
      let writing = try? continuedPartial(WholeSource(held, use), of: use.load),
      makeRoom(for: Self.growth(of: partialByteCount, to: byteCount), sparing: key),
      let written = try? replacing(
        key,
        { () throws(TableError) in
          try writing.file.finish(held.content, blockCount: writing.blockCount, held.facts)
        })
    else { return nil }
    _ = state.withLock { $0.claims.revoke(key) }
    forget(key, isPartial: true)
    return written
  }

  /// The bytes that a partial takes more while it becomes the original: its terms are there until the file
  /// has its name.
  private static func growth(of partialByteCount: Int, to byteCount: Int) -> Int {
    let termsByteCount = partialByteCount % PartialFile.blockByteCount
    return RoomPlan.rounded(byteCount) + RoomPlan.rounded(termsByteCount)
      - RoomPlan.rounded(partialByteCount)
  }

  /// Ends what the load of a held original has, now that this is written or given up. Nothing that is on
  /// disk of an original that is kept is of use, unless a load is writing it.
  func endPartial(of held: Held) {
    let key = held.key.digest
    if let use = held.partial { _ = state.withLock { $0.claims.giveBack(key, of: use.load) } }
    let isUnclaimed = state.withLock { state in
      state.claims.load(of: key).map { state.loads[$0] == nil } ?? true
    }
    if isUnclaimed { dropPartial(key) }
  }

  /// Deletes a partial, and lets its load write no other.
  func revokePartial(_ key: OriginalDigest) {
    _ = state.withLock { $0.claims.revoke(key) }
    dropPartial(key)
  }

  /// Takes in a partial that the sweep found, if it says whose it is and is young enough; what its blocks
  /// are worth shows when it is read.
  ///
  /// - Returns: Whether it stays.
  func adoptPartial(_ digest: OriginalDigest, byteCount: Int) -> Bool {
    guard let (trailer, hasBlock) = try? folder().partialHeader(digest), hasBlock,
      !Self.partialTime.isOver(from: trailer.facts.stored, now: settings.now())
    else { return false }
    var record = OriginalRecord(
      digest, trailer.facts, audienceHash: trailer.subject.prefix(SHA256.byteCount), contentHash: 0,
      byteCount: byteCount, lastUse: min(settings.now(), trailer.facts.stored &* 1_000_000))
    record.flags.insert(.partial)
    return (try? note(record)) == true
  }

  // MARK: Private

  private func takesClaim(_ key: OriginalDigest, _ load: OriginalLoad) -> Bool {
    let (isTaken, _) = state.withLock { state -> (Bool, PartialFile?) in
      // A removal has ended the loads that it covers.
      guard state.loads[load.number] != nil else { return (false, nil) }
      var left: PartialFile?
      if let other = state.claims.load(of: key), state.loads[other] == nil {
        left = state.claims.giveBack(key, of: other).file
      }
      return (state.claims.take(key, for: load.number), left)
    }
    return isTaken
  }

  /// The partial of an arrival: the one that is there, else a new one; `nil` where there is no room.
  private func openPartial(
    _ source: some PartialSource, _ load: OriginalLoad
  ) throws(TableError) -> PartialClaims.Writing? {
    if let writing = try continuedPartial(source, of: load.number) { return writing }
    guard source.block(0) != nil else { return nil }
    let key = source.key.digest
    dropPartial(key)
    budget.prepareAll(but: self)
    guard try makeRoom(forBlock: 0, of: source) else {
      revokePartial(key)
      return nil
    }
    let file = try folder().beginPartial(source.key, source.facts)
    let writing = PartialClaims.Writing(file: file, arrival: source.arrival, blockCount: 0)
    _ = state.withLock { $0.claims.open(key, writing) }
    return writing
  }

  /// The partial of an arrival that is there: the one that is open; else the one on disk, as far as its
  /// blocks are the arrival's.
  private func continuedPartial(
    _ source: some PartialSource, of load: Int
  ) throws(TableError) -> PartialClaims.Writing? {
    let key = source.key.digest
    let (isThere, open) = state.withLock { state in
      (
        // A folder that was deleted has taken the record along.
        state.index.place(of: key, isPartial: true) != nil,
        state.claims.writing(key, load, arrival: source.arrival)
      )
    }
    guard isThere else { return nil }
    if let open { return open }
    guard let found = try folder().openPartial(source.key),
      source.isVersion(of: found.facts.terms)
    else { return nil }
    var blockCount = 0
    while blockCount < found.blockCount, let block = source.block(blockCount) {
      // Another version under the same validator: the blocks behind this one are the other's, too.
      guard block == found.block(blockCount) else { return nil }
      blockCount += 1
    }
    guard blockCount > 0 else { return nil }
    let writing = PartialClaims.Writing(
      file: found.file, arrival: source.arrival, blockCount: blockCount)
    _ = state.withLock { $0.claims.open(key, writing) }
    return writing
  }

  /// Makes room for a block and counts it. The first one of all gets its record.
  private func makeRoom(
    forBlock number: Int, of source: some PartialSource
  ) throws(TableError) -> Bool {
    let key = source.key.digest
    let whole = try OriginalFolder.fileByteCount(
      content: source.byteCount, source.key, source.facts)
    // A larger one is not kept when it is whole.
    guard RoomPlan.rounded(whole) <= budget.byteCount / 4 else { return false }
    let byteCount = try PartialFile.byteCount(blocks: number + 1, source.key, source.facts)
    let known = state.withLock { state in
      state.index.place(of: key, isPartial: true).map { state.index[$0] }
    }
    let growth = RoomPlan.rounded(byteCount) - (known?.roundedByteCount ?? 0)
    // An older session left half a block behind the last one.
    if known != nil, growth <= 0 { return true }
    let need = growth + (known == nil ? indexGrowth : 0)
    measureVolume(for: need)
    guard budget.makeRoom(need, for: self, sparing: key, isPartial: true),
      makePlace(for: key, isPartial: true)
    else { return false }
    var record =
      known
      ?? OriginalRecord(
        key, source.facts, audienceHash: source.key.audienceHash, contentHash: 0, byteCount: 0,
        lastUse: 0)
    record.flags.insert(.partial)
    record.byteCount = UInt32(clamping: byteCount)
    record.lastUse = budget.stamp(at: settings.now())
    return try note(record)
  }

  /// Puts the record of a partial in the place of the one that is there, or writes the first one.
  private func note(_ record: OriginalRecord) throws(TableError) -> Bool {
    let place = state.withLock { state -> (place: Int, isNew: Bool)? in
      if let place = state.index.place(of: record.key, isPartial: true) {
        state.index.replace(place, with: record)
        return (place, false)
      }
      guard state.index.nextPlace < settings.recordCountLimit else { return nil }
      return (state.index.insert(record), true)
    }
    guard let (place, isNew) = place else { return false }
    let grown = RoomPlan.rounded(IndexFile.byteCount(upTo: place))
    state.withLock { $0.index.indexByteCount = max($0.index.indexByteCount, grown) }
    if isNew { try writeRecord(place) }
    return true
  }

  /// Deletes both files of a partial, if this shelf may, and forgets it.
  private func dropPartial(_ key: OriginalDigest) {
    let (wasThere, _) = state.withLock { state in
      (state.index.place(of: key, isPartial: true) != nil, state.claims.close(key))
    }
    guard wasThere else { return }
    // A shelf becomes the owner by its first write, and this may be the first.
    ownExisting()
    let (isThere, isOwner) = state.withLock { state in
      (state.index.place(of: key, isPartial: true) != nil, state.owned != nil)
    }
    guard isThere else { return }
    guard isOwner else { return forget(key, isPartial: true) }
    // One that stays counts, and is tried again.
    guard (try? folder().removePartial(key)) != nil else { return }
    forget(key, isPartial: true)
  }
}
