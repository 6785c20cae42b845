import CommandSupport
import TableStore

/// Removes the pictures of one table or of all tables, or those of them that a filter picks.
struct ClearCommand: Command {
  static let name = "clear"

  static let grammar = ArgumentGrammar(
    command: "imagecache clear",
    summary: "Empties one table or all tables, or removes some of their pictures.",
    operands: [
      .init("DIR", help: "a cache's folder, as given to `warm --cache`"),
      .init("NAME", isRequired: false, help: "the table's name; all tables without it"),
    ],
    options: PictureFilter.options,
    discussion: """
      A table that is emptied gives its disk space back. With --older-than or --matching only pictures
      of which both are true are removed; their space is used by the next pictures. The age counts from
      storing, not from the last use, of which only the order is kept.

      Only table files and their guest files are touched, whatever else lies in the folder. A table that another program
      has open is left as it is, and the exit status is 1.
      """)

  private let path: String
  private let tableName: String?
  private let filter: PictureFilter

  init(_ arguments: Arguments) throws {
    path = arguments.operands[0]
    tableName = arguments.operands.dropFirst().first
    filter = try PictureFilter(arguments)
  }

  func run() async throws -> ExitStatus {
    let folder = try TableFolder(path)
    let tables = try tableName.map { [try folder.table(named: $0)] } ?? folder.tables
    var status = ExitStatus.success
    for table in tables where try !clear(table) {
      let name = table.reader.name.printable
      Console.note("imagecache: The table \"\(name)\" is open in another program.")
      status = .failure
    }
    if tableName == nil, filter.isEmpty, !folder.unreadableFiles.isEmpty {
      // A former table that cannot be read any more holds no pictures.
      for directory in folder.directories {
        try directory.removeTables(except: Set(folder.tables.map(\.reader.name)))
      }
    }
    return status
  }

  /// Removes the pictures that pass the filter; `false` for a table that another process has open.
  private func clear(_ table: TableFolder.Table) throws -> Bool {
    let reader = table.reader
    let owned = try Table(
      name: reader.name, in: table.directory, geometry: reader.geometry,
      capacity: .slots(reader.slotCount))
    defer { owned.close() }
    guard owned.statistics.isOwner else { return false }
    let pictureCount = filter.isEmpty ? try empty(owned) : try removePassing(from: owned)
    let pictures = "\(pictureCount) \(pictureCount == 1 ? "picture" : "pictures")"
    Console.print("\(reader.name.printable): \(pictures) removed")
    return true
  }

  /// Puts an empty file in the table's place.
  private func empty(_ table: Table) throws -> Int {
    let count = table.statistics.liveCount
    try table.removeAll()
    return count
  }

  private func removePassing(from table: Table) throws -> Int {
    var count = 0
    var cursor = ListingCursor()
    while case let listed = try table.list(&cursor), !listed.isEmpty {
      try Task.checkCancellation()
      count += try table.remove(listed.filter(filter.passes)).count
    }
    return count
  }
}
