import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Prints the tables of a folder and their pictures.
struct InspectCommand: Command {
  static let name = "inspect"

  static let grammar = ArgumentGrammar(
    command: "imagecache inspect",
    summary: "Lists the tables of a folder and the pictures in them.",
    operands: [.init("DIR", help: "a cache's folder, as given to `warm --cache`")],
    options: [.flag("--json", help: "prints one JSON object instead of text")],
    discussion: """
      Pictures come in the order of use, the one used last first. Only pictures whose bytes are
      intact are listed; `imagecache verify` names the others. Control characters of an id are shown
      escaped, and in JSON as JSON escapes them. Nothing is changed, and a program
      that has the tables open is not disturbed.
      """)

  private let path: String
  private let isJSON: Bool

  init(_ arguments: Arguments) {
    path = arguments.operands[0]
    isJSON = arguments.hasFlag("--json")
  }

  func run() async throws -> ExitStatus {
    let folder = try TableFolder(path)
    if isJSON {
      Console.print(JSONValue.object(["tables": .array(folder.tables.map(Self.json))]).text)
    } else {
      Console.print(folder.tables.map(Self.text).joined(separator: "\n\n"))
    }
    for file in folder.unreadableFiles {
      Console.note("\(file.path(percentEncoded: false)) is not a table that can be read.".printable)
    }
    return .success
  }

  /// The one used last first.
  private static func entries(of table: TableFolder.Table) -> [TableEntryInfo] {
    table.reader.scan().entries.sorted { ($0.recency, $0.slot) > ($1.recency, $1.slot) }
  }

  private static func text(_ table: TableFolder.Table) -> String {
    let reader = table.reader
    let entries = entries(of: table)
    let pixelFormat = table.code?.pixelFormat.rawValue ?? "unknown pixel format"
    let kind = table.code?.keepsProportions == true ? "up to " : ""
    let title =
      "\(reader.name.printable): "
      + "\(kind)\(reader.geometry.width)x\(reader.geometry.height) \(pixelFormat), "
      + "\(entries.count) of \(reader.slotCount) pictures, \(reader.diskByteCount.byteText) on disk"
    guard !entries.isEmpty else { return title }
    var lines = TextTable(header: ["  entity", "size", "slot"])
    for entry in entries {
      let size = "\(entry.extent.width)x\(entry.extent.height)"
      lines.append(["  \(entry.entity)".printable, size, "\(entry.slot)"])
    }
    return title + "\n" + lines.text
  }

  private static func json(_ table: TableFolder.Table) -> JSONValue {
    let (reader, geometry) = (table.reader, table.reader.geometry)
    let entries = entries(of: table).enumerated().map { rank, entry in
      JSONValue.object([
        "entity": .string("\(entry.entity)"), "version": .string("\(entry.version)"),
        "width": .integer(entry.extent.width), "height": .integer(entry.extent.height),
        "slot": .integer(entry.slot), "recency_rank": .integer(rank),
        "metadata_bytes": .integer(entry.metadata.count),
      ])
    }
    return .object([
      "name": .string(reader.name), "folder": .string(table.directory.path),
      "width": .integer(geometry.width), "height": .integer(geometry.height),
      "pixelFormat": .string(table.code?.pixelFormat.rawValue ?? "unknown"),
      "keeps_proportions": .bool(table.code?.keepsProportions ?? false),
      "row_bytes": .integer(geometry.rowByteCount), "slots": .integer(reader.slotCount),
      "disk_bytes": .integer(reader.diskByteCount), "entries": .array(entries),
    ])
  }
}
