import Locking
package import TableStore

extension OriginalShelf {
  /// Unlocks the folder until each of those that suspended it has resumed it; on the lane, so that a
  /// write under way has ended. Originals that are still held are not kept.
  package func suspend(by user: ObjectIdentifier) {
    budget.checkLane()
    writeUses()
    let held = state.withLock { state in
      state.suspensions.insert(user)
      // The lock is given up with the last reference.
      state.owned = nil
      let held = state.held.values.map(\.key)
      for key in held { state.unhold(key.digest) }
      return held
    }
    for key in held { settings.report(.refused(key.id, "The store is suspended.")) }
  }

  /// Ends one suspension; after the last one the index is read anew, since another process may have
  /// written.
  package func resume(by user: ObjectIdentifier) {
    budget.checkLane()
    let isResumed = state.withLock { state in
      state.suspensions.remove(user) != nil && state.suspensions.isEmpty && state.isOpen
    }
    guard isResumed else { return }
    readHints()
  }

  /// Brings removals and the order of use to the device.
  package func flush() throws(TableError) {
    budget.checkLane()
    writeUses()
    // In a folder that was never opened nothing was removed.
    try state.withLock { $0.folder }?.synchronize()
  }

  /// Writes the records whose originals were used since.
  func writeUses() {
    let places = state.withLock { state in
      state.owned == nil ? [] : state.index.places { $0.flags.contains(.isUsed) }
    }
    for place in places { try? writeRecord(place) }
  }
}
