import Locking
package import TableStore

// A server, or a decoder, speaks of certain bytes. Others may be kept under their name by then: the
// content hash tells them apart.
extension OriginalShelf {
  /// Takes a server's newer word for an original; on the lane.
  ///
  /// - Parameters:
  ///   - contentHash: Of the bytes that the server was asked about.
  ///   - load: The load that asked. It may have asked before a mark, so none that is forbidden confirms.
  package func confirm(
    _ key: OriginalKey, of contentHash: UInt64, _ freshness: RecordedFreshness,
    for load: OriginalLoad? = nil
  ) {
    budget.checkLane()
    ownExisting()
    let number = heldNumber(key, contentHash)
    let place = state.withLock { state -> Int? in
      if let load, state.loads[load.number] == nil { return nil }
      if let number, state.held[key.digest]?.number == number {
        state.held[key.digest]?.record.freshness = freshness
      }
      guard let place = state.index.place(of: key.digest),
        state.index[place].contentHash == contentHash
      else { return nil }
      state.index.note(place) { $0.freshness = freshness }
      return place
    }
    if let place { try? writeRecord(place) }
  }

  /// Ends the freshness of an entity's originals, of every audience: none answers before its server was
  /// asked anew; on the lane. Loads that are under way now keep and confirm none of them.
  package func markStale(_ entity: TableID) {
    budget.checkLane()
    ownExisting()
    let digest = OriginalRecord.digest(of: entity)
    let void = RecordedFreshness(answered: 0, freshFor: 0, mustRevalidate: true)
    let places = state.withLock { state in
      state.loads = state.loads.filter { $0.value.entity != entity }
      for key in state.held.filter({ $0.value.record.entity == digest }).keys {
        state.held[key]?.record.freshness = void
      }
      let places = state.index.places(of: digest).filter {
        !state.index[$0].flags.contains(.partial)
      }
      for place in places { state.index.note(place) { $0.freshness = void } }
      return places
    }
    for place in places { try? writeRecord(place) }
  }

  /// Removes an original that turned out to be no picture, or that its server forbids to keep; on the
  /// lane. Loads under way may keep another in its place.
  ///
  /// - Parameter contentHash: Of the bytes that are meant.
  package func drop(_ key: OriginalKey, of contentHash: UInt64) throws(TableError) {
    budget.checkLane()
    let number = heldNumber(key, contentHash)
    let isHeld = state.withLock { state in
      guard let number, state.held[key.digest]?.number == number else { return false }
      return state.unhold(key.digest) != nil
    }
    // The file itself: a record may be missing, or an older one.
    var isThere = false
    if case .whole(let original) = try folder().read(key) {
      isThere = original.contentHash == contentHash
    }
    if isThere {
      try folder().remove(key.digest)
      forget(key.digest)
    }
    if isHeld || isThere { settings.report(.removed(key.id)) }
  }

  /// The number of what is held, if it has this content.
  private func heldNumber(_ key: OriginalKey, _ contentHash: UInt64) -> Int? {
    let held = state.withLock { $0.held[key.digest] }
    return held.flatMap { $0.contentHash == contentHash ? $0.number : nil }
  }
}
