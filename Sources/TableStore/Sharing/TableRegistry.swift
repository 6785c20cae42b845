import Locking

/// The tables that are open in this process, so that two openings of one table share it.
///
/// Invariant: openings and closings happen one after the other, under the lock. So an opening never
/// mistakes a table that is just closing for another process's. The lock is held through file
/// access; lookups and changes of open tables never take it.
final class TableRegistry: Sendable {
  static let shared = TableRegistry()

  private struct Name: Hashable {
    let directory: FileStatus.Identity
    let file: String
  }

  private struct Item {
    let core: TableCore
    var openings = 1
  }

  private let items = Lock<[Name: Item]>([:])

  /// Opens a table, or joins the one that is open in this process.
  ///
  /// Nobody joins a table in memory, so that none is noted.
  func open(_ opener: TableOpener) throws(TableError) -> TableCore {
    if opener.directory.isMemory {
      return try TableCore(
        opener: opener, opened: nil, staysPrivate: true, refusal: opener.directory.refusal)
    }
    let name = name(of: opener)
    return try items.withLock { items throws(TableError) in
      if let core = items[name]?.core {
        guard core.opener.layout.hasSameSlots(as: opener.layout) else {
          return try TableCore(opener: opener, opened: nil, staysPrivate: true)
        }
        guard core.opener.layout == opener.layout, core.opener.protection == opener.protection
        else {
          throw .openOtherwise(
            slotCount: core.opener.layout.slotCount, core.opener.protection)
        }
        if !opener.fallsBack, let refusal = core.lookup.refusal { throw refusal }
        items[name]?.openings += 1
        return core
      }
      let core: TableCore
      do throws(TableError) {
        core = try TableCore(opener: opener, opened: try opener.open())
      } catch {
        guard opener.fallsBack, error.isOfStorage else { throw error }
        core = try TableCore(opener: opener, opened: nil, refusal: error)
      }
      items[name] = Item(core: core)
      return core
    }
  }

  /// Ends one opening, and with the last one the table.
  func close(_ core: TableCore) {
    // It is not noted, and its end must not wait for another table's disk.
    if core.opener.directory.isMemory { return core.writer.withLock { $0.close() } }
    let name = name(of: core.opener)
    items.withLock { items in
      guard items[name]?.core === core else { return core.writer.withLock { $0.close() } }
      items[name]?.openings -= 1
      guard items[name]?.openings == 0 else { return }
      // The file is closed under the lock, so that the next opening finds it unlocked.
      core.writer.withLock { $0.close() }
      items[name] = nil
    }
  }

  /// Mends every open table whose file was truncated.
  func mendAll() {
    for core in items.withLock({ $0.values.map(\.core) }) {
      core.writer.withLock { $0.mend() }
    }
  }

  private func name(of opener: TableOpener) -> Name {
    Name(directory: opener.directory.identity, file: opener.fileName)
  }
}
