import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Writes one image of a table as a file.
struct ExportCommand: Command {
  static let name = "export"

  static let grammar = ArgumentGrammar(
    command: "imagecache export",
    summary: "Writes one image of a table as a PNG, JPEG or WebP file.",
    operands: [
      .init("DIR", help: "a cache's folder, as given to `warm --cache`"),
      .init("NAME", help: "the table's name"),
      .init("ENTITY", help: "the image's id; after `warm`, the path in the folder"),
      .init(
        "OUT",
        help: "the file to write, of the kind that its extension names: png, jpg,\n"
          + "or on Linux webp; - writes PNG to standard output"),
    ],
    options: [.value("--frame", "N", help: "one frame of an animation, from 0 on")],
    discussion: """
      `imagecache inspect DIR` lists the ids. PNG and WebP lose nothing: the file has the pixels of the
      table, with colours divided by alpha where there is transparency, and its colour space.

      An animation becomes an animated PNG file. JPEG and WebP files take one frame, which --frame
      names. An animation that is decoded while it plays has its first frame in the table.
      """)

  private let path: String
  private let tableName: String
  private let entity: String
  private let output: String
  private let type: ExportedType
  private let frame: Int?

  init(_ arguments: Arguments) throws {
    path = arguments.operands[0]
    tableName = arguments.operands[1]
    entity = arguments.operands[2]
    output = arguments.operands[3]
    type = try ExportedType(ofFile: output)
    frame = try arguments.integer("--frame", in: 0...Int.max)
  }

  func run() async throws -> ExitStatus {
    let image = try StoredImageFile(of: entity, in: try TableFolder(path).table(named: tableName))
    let data: Data
    if let frame {
      data = try type.encode(image.bitmap(ofFrame: frame))
    } else if case .stored(let motion) = image.motion {
      guard type.isAnimated else {
        throw UsageError(
          "\"\(entity)\" has \(image.frameCount) frames, which a PNG file holds; "
            + "--frame N writes one of them.")
      }
      let files = try (0..<image.frameCount).map { index in
        try Task.checkCancellation()
        return try type.encode(image.bitmap(ofFrame: index))
      }
      data = AnimatedPNG(files, motion.timeline).data
    } else {
      data = try type.encode(image.bitmap(ofFrame: 0))
    }
    try write(data)
    return .success
  }

  private func write(_ data: Data) throws {
    if output == "-" { return Console.print(data) }
    try OutputFile.write(data, to: URL(argument: output))
  }
}
