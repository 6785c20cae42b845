import Locking

/// The tables that are open in this process, so that two openings of one table share it.
///
/// Invariant: opening and closing happen one after the other, under the lock. A table that is being
/// closed can therefore not be taken for another process's by one that is being opened. This is the
/// one lock that is held over file access; readers and writers of open tables never meet it.
final class TableRegistry: Sendable {
  static let shared = TableRegistry()

  private struct Name: Hashable {
    let directory: FileStatus.Identity
    let file: String
  }

  private struct Item {
    var core: TableCore?
    var openings = 0
    /// A file whose table was closed while somebody still looks at its pictures.
    weak var closedFile: TableFile?
  }

  private let items = Lock<[Name: Item]>([:])

  /// Opens a table, or joins whoever has it open here.
  func open(_ opener: TableOpener) throws(TableError) -> TableCore {
    let name = name(of: opener)
    return try items.withLock { items throws(TableError) in
      items = items.filter { $0.value.core != nil || $0.value.closedFile != nil }
      if let core = items[name]?.core {
        guard core.opener.layout.hasSameSlots(as: opener.layout) else {
          return try TableCore(opener: opener, opened: nil, isNameless: true)
        }
        guard core.opener.layout == opener.layout, core.opener.protection == opener.protection
        else {
          throw .openOtherwise(
            slotCount: core.opener.layout.slotCount, core.opener.protection)
        }
        items[name]?.openings += 1
        return core
      }
      let opened: TableOpener.Opened?
      // A child of fork(2) finds its parent's file there, which it never comes to own.
      if let file = items[name]?.closedFile, !file.isInherited,
        let reopened = try opener.reopen(file)
      {
        opened = reopened
      } else {
        opened = try opener.open()
      }
      let core = try TableCore(opener: opener, opened: opened)
      items[name] = Item(core: core, openings: 1)
      return core
    }
  }

  /// Ends one opening, and with the last one the table.
  func close(_ core: TableCore) {
    let name = name(of: core.opener)
    items.withLock { items in
      guard items[name]?.core === core else {
        _ = core.close()
        return
      }
      items[name]?.openings -= 1
      guard items[name]?.openings == 0 else { return }
      // The file goes with the lock held, so that who opens next finds it unlocked.
      items[name] = Item(closedFile: core.close())
    }
  }

  /// Has every open table look whether its file was cut.
  func mendAll() {
    for core in items.withLock({ $0.values.compactMap(\.core) }) { core.mend() }
  }

  private func name(of opener: TableOpener) -> Name {
    Name(directory: opener.directory.identity, file: opener.fileName)
  }
}
