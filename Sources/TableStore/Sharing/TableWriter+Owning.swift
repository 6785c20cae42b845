import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Changes the ownership of the table's file. This process owns it, or the table is a second
/// opener; `TableShelf.isOwner` tells which.
///
/// ```
///              the next change finds no owner; the last resume; close: becomeOwner
/// second opener ────────────────────────────────────────────────────────> owner
///               <────────────────────────────────────────────────────────
///              suspend, letGo; fork(2), in the child, leaveToParent; a cut file
///              that cannot be replaced, mendIfCut
/// ```
///
/// No machine decides this beside `Suspension`: each arrow is a system call whose success is the
/// decision, and after a failed one the table is what it was before.
extension TableWriter {
  /// Takes the named file over when its owner is gone, and moves private pictures into it; has no
  /// effect while there is an owner, or when the file cannot be opened.
  ///
  /// - Throws: `TableError.protectedNow` when the lock of the device is the reason.
  mutating func becomeOwner() throws(TableError) {
    let buried = lookup.shelf.withLock { $0.reader }.flatMap { $0.hasTombstones ? $0 : nil }
    // After an error the table stays a second opener, and the next change tries again.
    let opening = try TableError.unlessProtected { () throws(TableError) in
      try opener.open { _, record in buried?.isBuried(record) ?? false }
    }
    guard let opened = opening else {
      try? findReader()
      return
    }
    let former = exchange(for: TableShelf(opened))
    if buried != nil {
      // Older records of the same entities too; the next change repeats a failed erasure.
      try? eraseRest(in: opened.file)
    }
    move(from: former)
  }

  /// In a child of fork(2), leaves the file to the parent: the table is a second opener, with a
  /// private file, and reads the parent's by copies.
  mutating func leaveToParent() {
    guard lookup.isChild else { return }
    let forks = ForkWatch.generation
    // Without room for a private file the table is closed in the child.
    let replacement = (try? opener.makePrivateFile()).map { privateFile in
      // Without a reader, the next change looks again.
      let reader = lookup.staysPrivate ? nil : (try? opener.makeReader()) ?? nil
      return TableShelf(privateFile: privateFile, reader: reader)
    }
    exchange(for: replacement ?? .closed)
    // Last, so that other threads wait for the writer's lock until no lookup finds the parent's
    // slots.
    lookup.noteForks(forks)
  }

  /// Looks for another owner's file again, if there was none before.
  ///
  /// Throws when there is a file that cannot be read. Only removals need the error: a picture that
  /// they cannot bury now may be found later.
  func findReader() throws(SystemError) {
    guard !lookup.staysPrivate, lookup.shelf.withLock({ !$0.isOwner && $0.reader == nil }) else {
      return
    }
    let reader = try opener.makeReader()
    lookup.shelf.withLock { $0.reader = reader }
  }

  /// True when private pictures or tombstones wait until this process owns the file.
  var hasWaiting: Bool {
    guard !lookup.staysPrivate else { return false }
    return lookup.shelf.withLock { shelf in
      !shelf.isOwner && (shelf.index.liveCount > 0 || shelf.reader?.hasTombstones == true)
    }
  }

  // MARK: Private

  /// Stores the pictures of a private file in the owned one, in the order of their last use.
  private mutating func move(from former: TableShelf) {
    guard let file = former.file else { return }
    let slots = former.index.liveSlots.sorted {
      file.states.stamp(of: $0) < file.states.stamp(of: $1)
    }
    for slot in slots {
      let record = former.index.record(of: slot)
      let made = lookup.pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
      guard let (content, finding) = made, let trailer = finding.trailer else {
        loss = .system(SystemError(call: .read, code: EIO))
        if case .refused(let error)? = made?.result { loss = opener.tableError(error) }
        continue
      }
      let sealed = SealedSlot(
        entity: record.entity, version: record.version, key: former.index.key(of: slot),
        extent: trailer.extent, content: content)
      do throws(TableError) {
        _ = try store(sealed)
      } catch {
        // Pictures that cannot be moved can be drawn again; only the next flush reports them.
        loss = error
        return
      }
    }
  }
}
