import Locking

/// Changes the ownership of the table's file. This process owns it, or the table is a second
/// opener; `CurrentTable.isOwner` tells which.
///
/// ```
///              the next change finds no owner; the last resume; close: becomeOwner
/// second opener ────────────────────────────────────────────────────────> owner
///               <────────────────────────────────────────────────────────
///              suspend, letGo; fork(2), in the child, leaveToParent; a cut file
///              that cannot be replaced, mendIfCut
/// ```
///
/// After a failed system call the table is what it was before.
extension TableWriter {
  /// Takes the named file over when its owner is gone, and takes in the images of this process
  /// and of guest files that were left; has no effect while there is an owner, or when the file
  /// cannot be opened.
  ///
  /// - Throws: `TableError.protectedDataUnavailable` when the lock of the device is the reason.
  mutating func becomeOwner() throws(TableError) {
    let formerReader = lookup.reader
    var opening: TableOpener.Opened?
    var refusal: TableError?
    do throws(TableError) {
      opening = try opener.open(usesIndex: formerReader?.hasNoTombstones ?? true) { _, record in
        formerReader?.hasTombstone(record) ?? false
      }
    } catch .protectedDataUnavailable(let name) {
      throw .protectedDataUnavailable(name: name)
    } catch {
      // The table stays a second opener, and the next change tries again.
      refusal = error
    }
    guard let opened = opening else {
      let hadReader = lookup.reader != nil
      try? findReader()
      lookup.noteRefusal(refusal)
      // There was no table to come to before, or a suspension took the guest file.
      if refusal == nil, !hadReader || formerFile != nil { becomeGuest() }
      return
    }
    defer { lookup.noteRefusal(nil) }
    let former = exchange(for: CurrentTable(opened))
    keepIndex()
    if formerReader?.hasTombstones == true {
      // Older records of the same entities too; the next change repeats a failed erasure.
      try? eraseRest(in: opened.file)
    }
    importSlots(former)
    try takeInGuests()
  }

  /// In a child of fork(2), leaves the file to the parent: the table is a second opener, with a
  /// private file, and reads the parent's by copies.
  mutating func leaveToParent() {
    guard lookup.isChild else { return }
    let forks = ForkWatch.generation
    // Without a reader, the next change looks again.
    let reader = lookup.staysPrivate ? nil : (try? opener.makeReader()) ?? nil
    // Without room for a file the table is closed in the child.
    exchange(for: (try? opener.secondTable(reader: reader)) ?? .closed)
    // Last, so that other threads wait for the writer's lock until no lookup finds the parent's
    // slots.
    lookup.noteForks(forks)
  }

  /// Looks for another owner's file again, if there was none before.
  ///
  /// Throws when there is a file that cannot be read. Only removals need the error: an image that
  /// they cannot bury now may be found later.
  func findReader() throws(SystemError) {
    guard !lookup.staysPrivate, lookup.current.withLock({ !$0.isOwner && $0.reader == nil }) else {
      return
    }
    let reader = try opener.makeReader()
    reader?.setStale(stale)
    lookup.current.withLock { $0.reader = reader }
  }

  /// The reader of a second opener, with its tombstones; a new one for an owner that lets go.
  func currentReader() throws(TableError) -> TableReader? {
    if let reader = lookup.reader { return reader }
    return try opener.wrapping { () throws(SystemError) in try opener.makeReader() }
  }

  /// True when private images, tombstones, or removals that no file remembers wait until this process
  /// owns the file.
  var hasWaiting: Bool {
    guard !lookup.staysPrivate else { return false }
    if !unlogged.isEmpty, lockedFile == nil { return true }
    return lookup.current.withLock { current in
      !current.isOwner && (current.index.liveCount > 0 || current.reader?.hasTombstones == true)
    }
  }

  /// True when only the owner's end, or this process's becoming the owner, completes the changes
  /// made here: removals, which other processes do not see yet, and images in a file without a
  /// name.
  var needsOwner: Bool {
    guard hasWaiting else { return false }
    return lookup.current.withLock { current in
      current.guest == nil || current.reader?.hasTombstones == true
    }
  }
}
