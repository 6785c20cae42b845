import Locking
package import TableStore

// Removals are jobs of the lane. A process that does not own the folder deletes files all the same:
// for the owner that is a record without a file, which a read or a sweep finds. A removal makes neither
// a folder nor an index.
extension OriginalShelf {
  /// Removes one original, or what stands under its name.
  ///
  /// As with all removals, loads that are under way now keep nothing of what is removed.
  package func remove(_ key: OriginalKey) throws(TableError) {
    try remove(.key(key.digest))
    settings.report(.removed(key.id))
  }

  /// Removes the originals of an entity, of every audience.
  package func removeAll(of entity: TableID) throws(TableError) {
    try remove(.entity(OriginalRecord.digest(of: entity)))
  }

  /// Removes the originals of an audience.
  package func removeAll(forAudience audience: String) throws(TableError) {
    let hash = OriginalKey(TableID(""), audience: audience).audienceHash
    try remove(.audience(OriginalRecord.digest(of: hash)))
  }

  /// Removes all originals.
  package func removeAll() throws(TableError) { try remove(.all) }

  /// The folder if there is one; on the lane.
  func existingFolder() throws(TableError) -> OriginalFolder? {
    leaveToParent()
    try leaveMissingFolder()
    if let folder = state.withLock({ $0.folder }) { return folder }
    let status = try TableError.wrapping { () throws(SystemError) in
      try settings.system.status(ofPath: settings.path)
    }
    return status == nil ? nil : try folder()
  }

  // MARK: Private

  /// Removes all that can be, before the first error is thrown.
  private func remove(_ removal: OriginalRemoval) throws(TableError) {
    budget.checkLane()
    // First the loads: one that held its original after it was looked for would bring it back.
    state.withLock { $0.forbid(removal) }
    guard let folder = try existingFolder() else { return }
    var (keys, failure) = find(removal, in: folder)
    for key in keys {
      do throws(TableError) { try delete(key, in: folder) } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  private func delete(_ key: OriginalDigest, in folder: OriginalFolder) throws(TableError) {
    try folder.removePartial(key)
    try folder.remove(key)
    forget(key, isPartial: true)
    forget(key)
  }

  /// The originals that a removal takes: by the index of an owner that has swept the folder and read what
  /// no record named, and else by the folder itself.
  ///
  /// - Returns: Also the first error, behind which a file may have been left out.
  private func find(
    _ removal: OriginalRemoval, in folder: OriginalFolder
  ) -> (keys: Set<OriginalDigest>, failure: TableError?) {
    if case .key(let key) = removal { return ([key], nil) }
    var found: (keys: Set<OriginalDigest>, failure: TableError?) = ([], nil)
    let isComplete = state.withLock { state in
      state.owned != nil && state.isSwept && state.index.places(where: \.isUnread).isEmpty
    }
    if !isComplete {
      found = search(folder, for: removal)
    }
    let recorded = state.withLock { state in
      state.index.places { removal.covers(OriginalLabel($0)) }.map { state.index[$0].key }
    }
    found.keys.formUnion(recorded)
    return found
  }

  /// Files that are wanted and that no record speaks for.
  private func search(
    _ folder: OriginalFolder, for removal: OriginalRemoval
  ) -> (keys: Set<OriginalDigest>, failure: TableError?) {
    // Of a locked device the records that are known may be old.
    let isUpToDate = state.withLock { $0.owned != nil } || (try? readHints()) != nil
    var keys: Set<OriginalDigest> = []
    var failure: TableError?
    func look(
      at digests: Set<OriginalDigest>,
      _ label: (OriginalDigest) throws(TableError) -> OriginalLabel?
    ) {
      for digest in digests {
        do throws(TableError) {
          if let label = try label(digest), removal.covers(label) { keys.insert(digest) }
        } catch {
          failure = failure ?? error
        }
      }
    }
    do throws(TableError) {
      let (originals, partials) = try folder.names()
      if case .all = removal { return (originals.union(partials), nil) }
      look(at: originals) { digest throws(TableError) in
        if isUpToDate, try isRecorded(digest, in: folder) { return nil }
        return try folder.label(ofOriginal: digest).map(moved)
      }
      look(at: partials) { digest throws(TableError) in
        try folder.label(ofPartial: digest).map(moved)
      }
    } catch {
      failure = error
    }
    return (keys, failure)
  }

  /// A file names the entity that its original was stored for.
  private func moved(_ label: OriginalLabel) -> OriginalLabel {
    var label = label
    for move in state.withLock({ $0.moves }) where move.old == label.entity {
      label.entity = move.new
    }
    return label
  }

  /// Whether a record speaks for a file, as for the sweep.
  private func isRecorded(
    _ digest: OriginalDigest, in folder: OriginalFolder
  ) throws(TableError) -> Bool {
    let record = state.withLock { state in state.index.place(of: digest).map { state.index[$0] } }
    guard let record, !record.isUnread else { return false }
    return try folder.byteCount(of: digest) == Int(record.byteCount)
  }
}

extension OriginalShelf.State {
  /// Keeps loads under way, and originals that no file has yet, from being kept.
  fileprivate mutating func forbid(_ removal: OriginalRemoval) {
    loads = loads.filter { !removal.covers($0.value.label) }
    for held in held.values where removal.covers(OriginalLabel(held.record)) {
      unhold(held.record.key)
    }
  }
}
