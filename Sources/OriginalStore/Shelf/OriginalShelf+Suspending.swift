import Locking
package import TableStore

/// One of those that use a shelf, a cache for example, and may suspend it.
///
/// Its suspension ends with the last reference at the latest: a cache that is gone resumes nothing.
package final class OriginalUser: Sendable {
  private let shelf: OriginalShelf

  package init(of shelf: OriginalShelf) { self.shelf = shelf }

  deinit {
    let (shelf, user) = (shelf, ObjectIdentifier(self))
    // In front of the jobs of a later user that gets the same identifier.
    shelf.budget.enqueue { shelf.resume(by: user) }
  }

  /// Unlocks the folder; see `OriginalShelf.suspend(by:)`.
  package func suspend() async {
    await shelf.budget.run { [shelf, self] in shelf.suspend(by: ObjectIdentifier(self)) }
  }

  package func resume() async {
    await shelf.budget.run { [shelf, self] in shelf.resume(by: ObjectIdentifier(self)) }
  }
}

extension OriginalShelf {
  /// Unlocks the folder until each of those that suspended it has resumed it; on the lane, so that a
  /// write under way has ended. Originals that are still held are not kept.
  func suspend(by user: ObjectIdentifier) {
    budget.checkLane()
    saveUses()
    let (held, owned, _) = state.withLock { state in
      state.suspensions.insert(user)
      let (held, owned) = (state.held.values.map(\.key), state.owned)
      for key in held { state.unhold(key.digest) }
      state.owned = nil
      return (held, owned, state.claims.closeAll())
    }
    // The last reference unlocks and closes the file, outside the lock.
    withExtendedLifetime(owned) {}
    for key in held { settings.report(.refused(key.id, "The store is suspended.")) }
  }

  /// Ends one suspension; after the last one the index is read anew, since another process may have
  /// written.
  func resume(by user: ObjectIdentifier) {
    budget.checkLane()
    let isResumed = state.withLock { state in
      state.suspensions.remove(user) != nil && state.suspensions.isEmpty && state.isOpen
    }
    guard isResumed else { return }
    // On a locked device the records that were known stay.
    try? readHints()
  }

  /// Brings removals and the order of use to the device.
  package func flush() throws(TableError) {
    budget.checkLane()
    saveUses()
    // In a folder that was never opened nothing was removed.
    try state.withLock { $0.folder }?.synchronize()
  }

  /// Writes the order of use, also that of a shelf that has only read: it owns the folder meanwhile, if
  /// nobody else does.
  package func saveUses() {
    budget.checkLane()
    let (wasOwner, isUsed) = state.withLock { state in
      (state.owned != nil, !state.index.places { $0.flags.contains(.isUsed) }.isEmpty)
    }
    guard isUsed, (try? prepare()) == true else { return }
    writeUses()
    if wasOwner { return }
    // The last reference unlocks and closes the file, outside the lock.
    let owned = state.withLock { $0.owned.take() }
    withExtendedLifetime(owned) {}
  }

  /// Writes the records whose originals were used since, if this shelf owns the folder.
  func writeUses() {
    let places = state.withLock { state in
      state.owned == nil ? [] : state.index.places { $0.flags.contains(.isUsed) }
    }
    for place in places { try? writeRecord(place) }
  }
}
