import Locking
package import TableStore

// Removals are jobs of the lane. A process that does not own the folder deletes files all the same:
// for the owner that is a record without a file, which a read or a sweep finds.
extension OriginalShelf {
  /// Removes one original, or what stands under its name.
  package func remove(_ key: OriginalKey) throws(TableError) {
    try remove([key.digest], and: .success(()))
    settings.report(.removed(key.id))
  }

  /// Removes the originals of an entity, of every audience.
  package func removeAll(of entity: TableID) throws(TableError) {
    let digest = OriginalRecord.digest(of: entity)
    try removeAll { $0.entity == digest }
  }

  /// Removes the originals of an audience.
  package func removeAll(forAudience audience: String) throws(TableError) {
    let hash = OriginalKey(TableID(""), audience: audience).audienceHash
    let digest = OriginalRecord.digest(of: hash)
    try removeAll { $0.audience == digest }
  }

  /// Removes all originals.
  package func removeAll() throws(TableError) { try removeAll { _ in true } }

  // MARK: Private

  private func removeAll(_ isUnwanted: (OriginalRecord) -> Bool) throws(TableError) {
    budget.checkLane()
    // What no record speaks for is found by the sweep.
    let preparation = Result { () throws(TableError) in try prepare() }
    if state.withLock({ $0.owned == nil }) { readHints() }
    let keys = state.withLock { state in
      state.held.values.filter { isUnwanted($0.record) }.map(\.record.key)
        + state.index.places(where: isUnwanted).map { state.index[$0].key }
    }
    try remove(Set(keys), and: preparation.map { _ in })
  }

  /// Removes originals and their partials: all that can be, before the first error is thrown.
  private func remove(
    _ keys: Set<OriginalDigest>, and result: Result<Void, TableError>
  ) throws(TableError) {
    budget.checkLane()
    var result = result
    for key in keys {
      state.withLock { _ = $0.unhold(key) }
      do throws(TableError) {
        let folder = try folder()
        try folder.removePartial(key)
        try folder.remove(key)
        forget(key, isPartial: true)
        forget(key)
      } catch {
        if case .success = result { result = .failure(error) }
      }
    }
    try result.get()
  }
}
