import Locking
import Synchronization

/// One open table, shared by all who opened it in this process.
///
/// Locks: `writer` is held by who changes the table, through all its system calls; `shelf` for the
/// few lines that look at or change what readers see. Readers never take `writer`. Who needs both
/// takes `writer` first.
///
/// Invariants:
/// 1. Every file on the shelf is written by holders of `writer` only.
/// 2. A slot is written only while it is reserved, so that nobody reads what is being written
///    (invariants 2 and 3 of `TableIndex`).
/// 3. A process writes to a file with a name only while it has that file's lock, and never in a
///    child that inherited it.
final class TableCore: Sendable {
  let opener: TableOpener
  let pool: SlotBufferPool
  /// True for a table that never had to do with a named file, since its name is in use for another
  /// geometry in this very process.
  let isNameless: Bool
  let shelf: Lock<TableShelf>
  let writer: Lock<TableWriter>
  /// How often the process had forked when the file on the shelf became this process's own.
  private let knownForks = Atomic<Int>(ForkWatch.start())

  /// - Parameter opened: the file that this process owns, or `nil` to begin as a second opener.
  init(
    opener: TableOpener, opened: TableOpener.Opened?, isNameless: Bool = false
  ) throws(TableError) {
    self.opener = opener
    self.isNameless = isNameless
    pool = SlotBufferPool(layout: opener.layout)
    let shelf: TableShelf
    if let opened {
      shelf = TableShelf(opened)
    } else {
      shelf = TableShelf(
        nameless: try opener.makeNameless(), reader: isNameless ? nil : opener.makeReader())
    }
    writer = Lock(
      TableWriter(generation: shelf.index.newestGeneration, byteCount: shelf.byteCount))
    self.shelf = Lock(shelf)
  }

  // MARK: Reading

  /// The picture of a key. A picture that this process stored or has checked before costs no system
  /// call, no file access, and one allocation.
  @inline(__always)
  func entry(for key: TableKey) -> TableEntry? {
    if isChild { becomeSecondOpener() }
    let (finding, file, hasReader) = shelf.withLock {
      ($0.index.lease(key), $0.file, $0.reader != nil)
    }
    guard let file else { return nil }
    switch finding {
    case .proven(let slot, let extent):
      guard let base = file.mappedContent(of: slot) else {
        // Without a mapping every hit is a copy.
        return recordOfLeased(slot, in: file).flatMap { checkedEntry(for: key, slot, $0, in: file) }
      }
      return TableEntry(file: file, slot: slot, base: base, extent: extent)
    case .unproven(let slot, let record):
      return checkedEntry(for: key, slot, record, in: file)
    case .missing:
      return hasReader ? shelf.withLock { $0.reader }?.entry(for: key) : nil
    }
  }

  /// True when the key's picture is there; a picture of an earlier session counts before it has
  /// been checked. Changes nothing.
  func contains(_ key: TableKey) -> Bool {
    let (isThere, reader) = shelf.withLock { shelf in
      (shelf.index.contains(key), shelf.reader)
    }
    return isThere || reader?.contains(key) ?? false
  }

  // MARK: Private

  /// Reads a leased slot by call, and checks it.
  private func checkedEntry(
    for key: TableKey, _ slot: Int, _ record: SlotRecord, in file: TableFile
  ) -> TableEntry? {
    guard let checked = check(slot, record, in: file) else { return nil }
    guard checked.trailer.matches(key) else {
      file.cells.release(slot)
      return nil
    }
    changeIndex(of: file) {
      $0.prove(slot, generation: record.generation, key: key, extent: checked.trailer.extent)
    }
    guard let base = file.mappedContent(of: slot) else {
      file.cells.release(slot)
      return TableEntry(content: checked.content, extent: checked.trailer.extent)
    }
    return TableEntry(file: file, slot: slot, base: base, extent: checked.trailer.extent)
  }

  /// Reads a leased slot and checks it. On failure the lease is given back, and a damaged slot
  /// leaves the index.
  func check(
    _ slot: Int, _ record: SlotRecord, in file: TableFile
  ) -> (content: SlotContent, trailer: SlotTrailer)? {
    let made = pool.makeContent { file.slotReader.read(slot, record: record, into: $0) }
    guard let trailer = made?.result.trailer, let content = made?.content else {
      if made != nil {
        changeIndex(of: file) { $0.discard(slot, generation: record.generation) }
      }
      file.cells.release(slot)
      return nil
    }
    return (content, trailer)
  }

  /// The record of a slot that has a lease; gives the lease back when there is none any more.
  private func recordOfLeased(_ slot: Int, in file: TableFile) -> SlotRecord? {
    let record = shelf.withLock { shelf -> SlotRecord? in
      guard shelf.file === file, shelf.index.slots[slot].isLive else { return nil }
      return shelf.index.slots[slot].record
    }
    if record == nil { file.cells.release(slot) }
    return record
  }

  /// Changes the index, if it still belongs to this file.
  func changeIndex(of file: TableFile, _ change: (inout TableIndex) -> Void) {
    shelf.withLock { shelf in
      guard shelf.file === file else { return }
      shelf.change(change)
    }
  }

  // MARK: After fork(2)

  /// True when this process inherited the table: it has the mapping and the lock's descriptor, but
  /// no say about the slots.
  @inline(__always)
  var isChild: Bool { knownForks.load(ordering: .relaxed) != ForkWatch.generation }

  /// Turns to a private file, and to reading the owner's as any other process does.
  func becomeSecondOpener() {
    writer.withLock { becomeSecondOpener(&$0) }
  }

  func becomeSecondOpener(_ writer: inout TableWriter) {
    guard isChild else { return }
    knownForks.store(ForkWatch.generation, ordering: .relaxed)
    // A child without room for a private file goes on as if the table were closed.
    let replacement = (try? opener.makeNameless()).map {
      TableShelf(nameless: $0, reader: isNameless ? nil : opener.makeReader())
    }
    writer.restart(generation: 0)
    _ = exchange(for: replacement ?? .closed)
  }
}
