/// Where the images that this process stores in a table go.
package enum TableStorage: Hashable, Sendable {
  /// To the table's file, or to a guest file where another process owns the table.
  case ready
  /// To private memory. Those that are in the file are found.
  case readOnly(TableError)
  /// To private memory, and there is no file that could be read.
  case unavailable(TableError)
}

/// What a table tells its openings while it is open.
package enum TableNotice: Sendable {
  /// An image was found damaged; its entity, if that is known.
  case damage(TableID?)
  /// ``Table/storage`` is another one now.
  case storage(TableStorage)
}
