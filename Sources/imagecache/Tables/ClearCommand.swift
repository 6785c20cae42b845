import CommandSupport
import TableStore

/// Removes the pictures of one table or of all tables.
struct ClearCommand: Command {
  static let name = "clear"

  static let grammar = ArgumentGrammar(
    command: "imagecache clear",
    summary: "Empties one table or all tables, and gives their disk space back.",
    operands: [
      .init("DIR", help: "a cache's folder, as given to `warm --cache`"),
      .init("NAME", isRequired: false, help: "the table's name; all tables without it"),
    ],
    discussion: """
      Only table files are touched, whatever else lies in the folder. A table that another program
      has open is left as it is, and the exit status is 1.
      """)

  private let path: String
  private let tableName: String?

  init(_ arguments: Arguments) {
    path = arguments.operands[0]
    tableName = arguments.operands.dropFirst().first
  }

  func run() async throws -> ExitStatus {
    let folder = try TableFolder(path)
    let tables = try tableName.map { [try folder.table(named: $0)] } ?? folder.tables
    var status = ExitStatus.success
    for table in tables where try !Self.empty(table) {
      let name = table.reader.name.printable
      Console.note("imagecache: The table \"\(name)\" is open in another program.")
      status = .failure
    }
    if tableName == nil, !folder.unreadableFiles.isEmpty {
      // A former table that cannot be read any more holds no pictures.
      for directory in folder.directories {
        try directory.removeTables(except: Set(folder.tables.map(\.reader.name)))
      }
    }
    return status
  }

  /// Puts an empty file in the table's place; `false` for a table that another process has open.
  private static func empty(_ table: TableFolder.Table) throws -> Bool {
    let reader = table.reader
    let owned = try Table(
      name: reader.name, in: table.directory, geometry: reader.geometry,
      capacity: .slots(reader.slotCount))
    defer { owned.close() }
    guard owned.statistics.isOwner else { return false }
    let pictureCount = owned.statistics.liveCount
    try owned.removeAll()
    let pictures = "\(pictureCount) \(pictureCount == 1 ? "picture" : "pictures")"
    Console.print("\(reader.name.printable): \(pictures) removed")
    return true
  }
}
