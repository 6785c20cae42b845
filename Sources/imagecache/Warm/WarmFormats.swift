import CommandSupport
import FastImageCache
import TableStore

/// The formats of a folder of tables: those of a call, and those of existing tables.
///
/// A cache deletes tables of formats that it is not made with. So the existing tables are declared
/// again as they are, or a second call with other formats would undo the first.
struct WarmFormats {
  /// To be filled.
  let wanted: [ImageFormat]

  /// In the folder, and not named by this call.
  let others: [ImageFormat]

  /// - Parameters:
  ///   - capacity: As the call says, or `nil`.
  ///   - imageCount: Images that shall find room if the call does not say.
  ///   - frameCount: Frames of these, in a table of animations.
  ///   - keepsOthers: Whether they shall find it beside those that are there.
  init(
    _ arguments: [FormatArgument], in folder: TableFolder?, capacity: Int?, imageCount: Int,
    frameCount: Int, keepsOthers: Bool
  ) {
    let tables = folder?.tables ?? []
    wanted = arguments.map { argument in
      let known = tables.first { $0.reader.name == argument.name }?.reader
      let needed =
        (argument.animationByteLimit == nil ? imageCount : frameCount) + Self.spareSlotCount
        + (keepsOthers ? known?.entryCount ?? 0 : 0)
      return ImageFormat(
        name: argument.name, family: "warm",
        size: argument.layout == .within ? .fitting(argument.size) : .exact(argument.size),
        pixelFormat: argument.pixelFormat,
        // A table of another layout has other images; a version of each would share no download.
        revision: FormatArgument.Layout.allCases.firstIndex(of: argument.layout) ?? 0,
        capacity: .count(
          capacity ?? max(min(needed, TableCapacity.maximumSlotCount), known?.slotCount ?? 0)),
        quality: argument.quality, colorSpace: argument.colorSpace,
        animation: argument.animationByteLimit.map { .allFrames(byteLimit: $0) } ?? .firstFrame)
    }
    let names = Set(arguments.map(\.name))
    others = tables.filter { !names.contains($0.reader.name) }.compactMap { table in
      guard let code = table.code else { return nil }
      let size = PixelSize(
        width: table.reader.geometry.width, height: table.reader.geometry.height)
      return ImageFormat(
        name: table.reader.name,
        size: code.keepsProportions ? .fitting(size) : .exact(size),
        pixelFormat: code.pixelFormat, revision: Int(table.reader.geometry.revision),
        capacity: .count(table.reader.slotCount),
        quality: code.quality, colorSpace: code.colorSpace,
        animation: code.hasAnimations ? .allFrames(byteLimit: .max) : .firstFrame)
    }
  }

  /// A changed image goes into another slot before its old one is freed; without spare slots that
  /// would evict the least recently used image. A slot takes disk space only once it is written.
  private static let spareSlotCount = 16
}
