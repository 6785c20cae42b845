import Locking

/// One open table, which all its openings in this process share: the lookups, and the writer behind
/// its lock.
///
/// A change holds the writer's lock through all its system calls, and takes the current table's for the few lines that
/// read or change what lookups see. Code that needs both takes the writer's first. Lookups never take it.
final class TableCore: Sendable {
  let lookup: TableLookup
  let writer: Lock<TableWriter>

  var opener: TableOpener { lookup.opener }

  /// - Parameters: As `TableLookup`'s.
  init(
    opener: TableOpener, opened: TableOpener.Opened?, staysPrivate: Bool = false,
    refusal: TableError? = nil
  ) throws(TableError) {
    lookup = try TableLookup(
      opener: opener, opened: opened, staysPrivate: staysPrivate, refusal: refusal)
    var writer = TableWriter(lookup)
    try writer.takeInGuests()
    self.writer = Lock(writer)
  }
}
