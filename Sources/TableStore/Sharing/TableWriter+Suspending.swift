import Locking

extension TableWriter {
  /// Writes pending changes and gives the file's lock up, until the opening resumes or closes.
  ///
  /// Meanwhile the table is a second opener that does not ask for the lock. The order of steps keeps every
  /// image right:
  ///
  /// 1. Erasures and the order of use are written, and all is brought to the device, while no other
  ///    process may write.
  /// 2. Readers see the private file. From here on no lease on the old one begins.
  /// 3. Leased slots get pages of their own, at the same addresses.
  /// 4. The lock is given up. From here on another process may write to any slot.
  ///
  /// When step 1 fails, the table goes on as before. When step 3 fails, it is suspended, but its
  /// lock goes with the last lease only.
  mutating func suspend(_ opening: ObjectIdentifier) throws(TableError) {
    leaveToParent()
    guard lookup.file != nil else { throw .closed }
    if lookup.isLocked { throw .protectedDataUnavailable(name: opener.name) }
    let isFirst = suspensions.isEmpty
    suspensions.insert(opening)
    // Owned, too, when a flush meanwhile could not let go. A guest file's lock is let go like the
    // table's; the owner may take that file in, or this process goes on with it when it resumes.
    guard let (file, fileOpener) = lockedFile else { return }
    formerFile = fileOpener.fileName
    let replacement: CurrentTable
    do throws(TableError) {
      replacement = try prepareToLetGo(of: file)
    } catch {
      if isFirst { suspensions.remove(opening) }
      throw error
    }
    try letGo(of: file, for: replacement)
  }

  /// Brings the waiting changes of a suspended table to the device, if no other process has the
  /// file.
  mutating func flushSuspended() throws(TableError) {
    if hasWaiting { try becomeOwner() }
    guard let file = ownedFile else { return }
    try letGo(of: file, for: try prepareToLetGo(of: file))
  }

  /// Ends an opening's suspension. With the last one the table owns its file again, if no other
  /// process does, and moves the private images into it.
  mutating func resume(_ opening: ObjectIdentifier) {
    guard suspensions.remove(opening) != nil, suspensions.isEmpty, !lookup.staysPrivate else {
      return
    }
    leaveToParent()
    guard lookup.current.withLock({ $0.file != nil && !$0.isOwner }) else { return }
    // On a device that is locked, the next change takes it back.
    try? becomeOwner()
  }

  // MARK: Private

  /// Step 1, and the current table for step 2.
  private mutating func prepareToLetGo(of file: TableFile) throws(TableError) -> CurrentTable {
    try synchronize(file)
    // Without a reader, removals would leave no tombstones. A guest's has some already.
    let reader = try currentReader()
    return CurrentTable(privateFile: try opener.makePrivateFile(), reader: reader)
  }

  /// Steps 2 to 4.
  mutating func letGo(
    of file: TableFile, for replacement: CurrentTable
  ) throws(TableError) {
    let former = exchange(for: replacement)
    try detachLeased(of: former, from: file)
    file.unlock()
  }

  private func detachLeased(of former: CurrentTable, from file: TableFile) throws(TableError) {
    let leased = former.index.leasedSlots
    guard !leased.isEmpty, file.base != nil else { return }
    let copy = try opener.makePrivateFile()
    try opener.wrapping { () throws(SystemError) in try file.detach(leased, to: copy) }
  }
}
