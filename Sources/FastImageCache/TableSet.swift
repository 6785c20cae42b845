/// The tables of one cache; fixed from its creation on, so that a hit reaches them from any thread.
package struct TableSet: Sendable {
  private let tables: [ImageTable]

  package init(_ tables: [ImageTable]) { self.tables = tables }

  package var all: [ImageTable] { tables }

  /// The table of a format; `nil` for a format that differs from the one the cache was made with.
  ///
  /// Searched from the front: caches have a handful of formats, and comparing a handful of names
  /// costs less than hashing one.
  @inline(__always)
  package subscript(format: ImageFormat) -> ImageTable? {
    // By index, since iterating allocates in builds without optimisation, and a hit must not.
    var index = 0
    while index < tables.count {
      let table = tables[index]
      if table.format.name == format.name { return table.format == format ? table : nil }
      index += 1
    }
    return nil
  }

  package subscript(name: String) -> ImageTable? { tables.first { $0.format.name == name } }

  /// The tables whose formats belong to a family.
  package func family(_ name: String) -> [ImageTable] { tables.filter { $0.format.family == name } }
}
