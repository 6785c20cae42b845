import Locking

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension TableCore {
  /// Takes the named file over when its owner is gone, and moves private pictures into it; without
  /// effect while the owner is there, or when the file cannot be opened.
  ///
  /// The caller holds the writer's lock.
  func becomeOwner(_ writer: inout TableWriter) {
    // After an error the table stays a second opener, and the next change tries again.
    let buried = shelf.withLock { $0.reader }.flatMap { $0.hasTombstones ? $0 : nil }
    let opening = try? opener.open { _, record in buried?.isBuried(record) ?? false }
    guard let opened = opening ?? nil else {
      try? findReader()
      return
    }
    let owned = TableShelf(opened)
    writer.restart(owned)
    let former = exchange(for: owned)
    if buried != nil {
      // Older records of the same entities too; the next change repeats what fails.
      try? eraseRest(in: opened.file, &writer)
    }
    move(from: former, &writer)
  }

  /// Looks for another owner's file again, if there was none before.
  ///
  /// Throws when there is a file that cannot be read. Only removals need the error: a picture that
  /// they cannot bury now may be found later.
  func findReader() throws(SystemError) {
    guard !isNameless, shelf.withLock({ !$0.isOwner && $0.reader == nil }) else { return }
    let reader = try opener.makeReader()
    shelf.withLock { $0.reader = reader }
  }

  /// True when private pictures or tombstones wait for the file to become ours.
  var hasWaiting: Bool {
    guard !isNameless else { return false }
    return shelf.withLock { shelf in
      !shelf.isOwner && (shelf.index.liveCount > 0 || shelf.reader?.hasTombstones == true)
    }
  }

  // MARK: Private

  /// Stores the pictures of a private file in the owned one, the least recently used first.
  private func move(from former: TableShelf, _ writer: inout TableWriter) {
    guard let file = former.file else { return }
    let slots = former.index.liveSlots.sorted {
      file.states.stamp(of: $0) < file.states.stamp(of: $1)
    }
    for slot in slots {
      guard let key = former.index.key(of: slot) else { continue }
      let record = former.index.record(of: slot)
      let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
      guard let (content, finding) = made, let trailer = finding.trailer else {
        writer.loss = .system(SystemError(call: .read, code: EIO))
        continue
      }
      let sealed = SealedSlot(key: key, extent: trailer.extent, content: content)
      do throws(TableError) {
        _ = try store(sealed, &writer)
      } catch {
        // Pictures that cannot be moved can be drawn again; only the next flush reports them.
        writer.loss = error
        return
      }
    }
  }
}
