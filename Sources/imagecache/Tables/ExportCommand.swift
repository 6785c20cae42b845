import CommandSupport
import FastImageCache
import Foundation
import ImageCodecs
import TableStore

/// Writes one image of a table as a PNG file.
struct ExportCommand: Command {
  static let name = "export"

  static let grammar = ArgumentGrammar(
    command: "imagecache export",
    summary: "Writes one picture of a table as a PNG file.",
    operands: [
      .init("DIR", help: "a cache's folder, as given to `warm --cache`"),
      .init("NAME", help: "the table's name"),
      .init("ENTITY", help: "the picture's id; after `warm`, the path in the folder"),
      .init("OUT.png", help: "the file to write"),
    ],
    discussion: """
      `imagecache inspect DIR` lists the ids. PNG loses nothing: the file has the pixels of the
      table, with colours divided by alpha where there is transparency, and its colour space.
      """)

  private let path: String
  private let tableName: String
  private let entity: String
  private let output: String

  init(_ arguments: Arguments) {
    path = arguments.operands[0]
    tableName = arguments.operands[1]
    entity = arguments.operands[2]
    output = arguments.operands[3]
  }

  func run() async throws -> ExitStatus {
    let table = try TableFolder(path).table(named: tableName)
    guard let entry = Self.ids(spelled: entity).lazy.compactMap(table.reader.entry).first else {
      throw UsageError(
        "The table \"\(tableName)\" has no picture of \"\(entity)\" that is intact; "
          + "`imagecache inspect` lists what it has.")
    }
    let size = PixelSize(width: entry.extent.width, height: entry.extent.height)
    guard let code = table.code,
      let layout = PixelLayout(size: size, format: code.pixelFormat),
      layout.byteCount <= entry.pixels.count
    else {
      throw CommandFailure("The table \"\(tableName)\" has pixels of an unknown pixel format.")
    }
    let bitmap = try Bitmap(layout: layout, colorSpace: code.colorSpace) { target in
      entry.withPixels { target.copyMemory(from: .init(rebasing: $0[..<layout.byteCount])) }
    }
    do {
      try bitmap.pngData().write(to: URL(argument: output), options: .atomic)
    } catch let error as CocoaError {
      throw CommandFailure("\"\(output)\" cannot be written: \(error.localizedDescription)")
    }
    return .success
  }

  /// The ids with this printed form: a string, but also a UUID or a number.
  private static func ids(spelled text: String) -> [TableID] {
    var ids = [ImageID(text)]
    if let uuid = UUID(uuidString: text) { ids.append(ImageID(uuid)) }
    if let number = Int64(text) { ids.append(ImageID(number)) }
    if let number = UInt64(text) { ids.append(ImageID(number)) }
    return ids.map(\.tableID)
  }
}
