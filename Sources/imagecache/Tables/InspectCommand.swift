import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// Prints the tables of a folder and their images.
struct InspectCommand: Command {
  static let name = "inspect"

  static let grammar = ArgumentGrammar(
    command: "imagecache inspect",
    summary: "Lists the tables of a folder and their images, and its originals.",
    operands: [.init("DIR", help: "a cache's folder, as given to `warm --cache`")],
    options: [
      .flag("--json", help: "prints one JSON object instead of text")
    ] + ImageFilter.options,
    discussion: """
      Images come in the order of use, the one used last first, each with the time at which it was
      stored. Only images whose bytes are intact are listed; `imagecache verify` names the others.
      Those that show a part of a damaged file are marked. Control characters of an id are shown escaped, and in JSON as JSON escapes them. An id too long
      for its slot is shown as its SHA-256. An animation is one image: "18 of 30" frames are there where
      others were evicted, and "streamed" is one that is decoded while it plays. Nothing is changed, and a program that has the tables open is
      not disturbed. Images in guest files, which a second process drew, are listed once the table's
      owner has taken them in.

      Originals are the files that `imagecache fetch`, or a cache with a store, has downloaded. They come in
      the order of use too, and behind them partials, of downloads that broke off. How much they may take
      stands in no file: that is said anew by each program.
      """)

  private let path: String
  private let isJSON: Bool
  private let filter: ImageFilter

  init(_ arguments: Arguments) throws {
    path = arguments.operands[0]
    isJSON = arguments.hasFlag("--json")
    filter = try ImageFilter(arguments)
  }

  func run() async throws -> ExitStatus {
    let originals = try OriginalFolders(path).stores
    let folder = try TableFolder(path, mayBeEmpty: !originals.isEmpty)
    if isJSON {
      Console.print(
        JSONValue.object([
          "tables": .array(folder.tables.map(json)),
          "originals": .array(try await lists(of: originals).map(\.json)),
        ]).text)
    } else {
      let lists = try await folder.tables.map(text) + lists(of: originals).map(\.text)
      Console.print(lists.joined(separator: "\n\n"))
    }
    for file in folder.unreadableFiles {
      Console.note("\(file.path(percentEncoded: false)) is not a table that can be read.".printable)
    }
    return folder.unreadableFiles.isEmpty ? .success : .failure
  }

  private func lists(of stores: [OriginalFolders.Store]) async throws -> [OriginalList] {
    var lists: [OriginalList] = []
    for store in stores { lists.append(try await OriginalList(store, filter)) }
    return lists
  }

  /// The one used last first.
  private func passing(_ scan: ImageScan) -> [ImageScan.Image] {
    scan.images.filter { filter.passes($0.entry) }
      .sorted { ($0.entry.recency, $0.entry.slot) > ($1.entry.recency, $1.entry.slot) }
  }

  private func text(_ table: TableFolder.Table) -> String {
    let reader = table.reader
    let scan = ImageScan(table)
    let images = passing(scan)
    let count = scan.images.count
    let pixelFormat = table.code?.pixelFormat.rawValue ?? "unknown pixel format"
    let kind = table.code?.keepsProportions == true ? "up to " : ""
    let quality = table.code?.quality == .best ? ", best quality" : ""
    let colors = table.code?.colorSpace == .displayP3 ? ", displayP3" : ""
    let title =
      "\(reader.name.printable): "
      + "\(kind)\(reader.geometry.width)x\(reader.geometry.height) "
      + "\(pixelFormat)\(quality)\(colors), "
      + (table.hasAnimations
        ? "animated, \(count.counted("image")), \(scan.frameCount) of \(reader.slotCount) frames"
        : "\(count) of \(reader.slotCount) images")
      + ", \(reader.diskByteCount.byteText) on disk"
      + (reader.residency.residentByteCount.map { ", \($0.byteText) in memory" } ?? "")
      + (filter.isEmpty ? "" : ", \(images.count) listed")
      + (table.namespace.map { ", namespace \($0.printable)" } ?? "")
    guard !images.isEmpty else { return title }
    let frames = table.hasAnimations ? ["frames"] : []
    var lines = TextTable(header: ["  entity", "size"] + frames + ["slot", "stored"])
    for image in images {
      let entry = image.entry
      let size = "\(entry.extent.width)x\(entry.extent.height)"
      let note = entry.version.known?.isDamaged == true ? ", of a damaged file" : ""
      lines.append(
        ["  \(entry.entity)".printable, size] + (table.hasAnimations ? [image.frameText] : [])
          + ["\(entry.slot)", Self.time(of: entry) + note])
    }
    return title + "\n" + lines.text
  }

  private func json(_ table: TableFolder.Table) -> JSONValue {
    let (reader, geometry) = (table.reader, table.reader.geometry)
    let entries = passing(ImageScan(table)).enumerated().map { rank, image in
      let entry = image.entry
      return JSONValue.object([
        "entity": .string("\(entry.entity)"), "version": .string("\(entry.version)"),
        "width": .integer(entry.extent.width), "height": .integer(entry.extent.height),
        "slot": .integer(entry.slot), "recency_rank": .integer(rank),
        "damaged_file": .bool(entry.version.known?.isDamaged == true),
        "frames": .integer(image.motion.frameCount),
        "intact_frames": .integer(image.intactFrameCount),
        "streamed": .bool(image.motion.isUnkept),
        "metadata_bytes": .integer(image.metadataByteCount),
        "stored": .string(Self.time(of: entry)),
      ])
    }
    return .object([
      "name": .string(reader.name), "folder": .string(table.directory.path),
      "namespace": table.namespace.map { .string($0) } ?? .null,
      "width": .integer(geometry.width), "height": .integer(geometry.height),
      "pixel_format": .string(table.code?.pixelFormat.rawValue ?? "unknown"),
      "color_space": .string(table.code?.colorSpace.rawValue ?? "unknown"),
      "keeps_proportions": .bool(table.code?.keepsProportions ?? false),
      "quality": .string(table.code?.quality.rawValue ?? "unknown"),
      "animated": .bool(table.hasAnimations),
      "row_bytes": .integer(geometry.rowByteCount), "slots": .integer(reader.slotCount),
      "disk_bytes": .integer(reader.diskByteCount),
      "resident_bytes": reader.residency.residentByteCount.map { .integer($0) } ?? .null,
      "dirty_bytes": reader.residency.dirtyByteCount.map { .integer($0) } ?? .null,
      "entries": .array(entries),
    ])
  }

  private static func time(of entry: TableEntryInfo) -> String {
    Date(timeIntervalSince1970: Double(entry.generation) / 1_000_000).formatted(.iso8601)
  }
}

extension ImageScan.Image {
  fileprivate var frameText: String {
    if motion.isUnkept { return "streamed" }
    return intactFrameCount < motion.frameCount
      ? "\(intactFrameCount) of \(motion.frameCount)" : "\(motion.frameCount)"
  }
}
