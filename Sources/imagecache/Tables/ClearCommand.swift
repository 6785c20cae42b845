import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Removes the images of one table, or of all tables with the originals, or those of them that a filter
/// picks.
struct ClearCommand: Command {
  static let name = "clear"

  static let grammar = ArgumentGrammar(
    command: "imagecache clear",
    summary: "Empties one table, or all tables and originals, or removes some images.",
    operands: [
      .init("DIR", help: "a cache's folder, as given to `warm --cache`"),
      .init(
        "NAME", isRequired: false, help: "the table's name; all tables and originals without it"),
    ],
    options: [
      .flag("--tables", help: "removes images of tables only: originals can draw them again"),
      .flag("--originals", help: "removes originals only, and what has arrived of them"),
    ] + ImageFilter.options,
    discussion: """
      A table that is emptied gives its disk space back. With --older-than or --matching only images
      of which both are true are removed; their space is used by the next images. The age counts from
      storing, not from the last use, of which only the order is kept.

      Originals go with the images, since these would come back from them: all of them, or those that
      are as old, or whose id or image's id is of the form. With NAME they stay.

      Only table files, their guest files and files of originals are touched, whatever else lies in the
      folder. What another program has open is left as it is, and the exit status is 1.
      """)

  private let path: String
  private let tableName: String?
  private let filter: ImageFilter
  private let areOriginalsWanted: Bool
  private let areTablesWanted: Bool

  init(_ arguments: Arguments) throws {
    path = arguments.operands[0]
    tableName = arguments.operands.dropFirst().first
    filter = try ImageFilter(arguments)
    let only = (
      tables: arguments.hasFlag("--tables"), originals: arguments.hasFlag("--originals")
    )
    guard !only.originals || (!only.tables && tableName == nil) else {
      throw UsageError("--originals goes with neither --tables nor the name of a table.")
    }
    areTablesWanted = !only.originals
    areOriginalsWanted = !only.tables && tableName == nil
  }

  func run() async throws -> ExitStatus {
    let originals = try OriginalFolders(path).stores
    let folder = try TableFolder(path, mayBeEmpty: !originals.isEmpty)
    let status = areTablesWanted ? try clearTables(of: folder) : .success
    for store in areOriginalsWanted ? originals : [] {
      try await OriginalClearing(store: store, filter: filter).run()
    }
    return status
  }

  private func clearTables(of folder: TableFolder) throws -> ExitStatus {
    let tables = try tableName.map { [try folder.table(named: $0)] } ?? folder.tables
    var status = ExitStatus.success
    for table in tables where try !clear(table) {
      let name = table.reader.name.printable
      Console.note("imagecache: The table \"\(name)\" is open in another program.")
      status = .failure
    }
    if tableName == nil {
      for file in folder.unreadableFiles
      where !FileManager.default.isReadableFile(atPath: file.path) {
        Console.note("imagecache: \(file.path) cannot be read, and is left as it is.".printable)
        status = .failure
      }
    }
    if tableName == nil, filter.isEmpty, !folder.unreadableFiles.isEmpty {
      // A former table that cannot be read any more holds no images.
      for directory in folder.directories {
        try directory.removeTables(except: Set(folder.tables.map(\.reader.name)))
      }
    }
    return status
  }

  /// Removes the images that pass the filter; `false` for a table that another process has open.
  private func clear(_ table: TableFolder.Table) throws -> Bool {
    let reader = table.reader
    let owned = try Table(
      name: reader.name, in: table.directory, geometry: reader.geometry,
      capacity: .slots(reader.slotCount))
    defer { owned.close() }
    guard owned.statistics.isOwner else { return false }
    let imageCount =
      filter.isEmpty ? try empty(owned, table) : try removePassing(from: owned, table)
    let images = "\(imageCount) \(imageCount == 1 ? "image" : "images")"
    Console.print("\(reader.name.printable): \(images) removed")
    return true
  }

  /// Puts an empty file in the table's place.
  private func empty(_ table: Table, _ known: TableFolder.Table) throws -> Int {
    let count =
      known.hasAnimations
      ? known.reader.entries().count { !$0.isFrame } : table.statistics.liveCount
    try table.removeAll()
    return count
  }

  private func removePassing(from table: Table, _ known: TableFolder.Table) throws -> Int {
    var count = 0
    var cursor = ListingCursor()
    while case let listed = try table.list(&cursor), !listed.isEmpty {
      try Task.checkCancellation()
      let passing = listed.filter { !$0.isFrame && filter.passes($0) }
      count += try table.remove(passing, withFrames: known.hasAnimations).count
    }
    return count
  }
}
