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
  ///   - pictureCount: Images that shall find room if the call does not say.
  ///   - keepsOthers: Whether they shall find it beside those that are there.
  init(
    _ arguments: [FormatArgument], in folder: TableFolder?, capacity: Int?, pictureCount: Int,
    keepsOthers: Bool
  ) {
    let tables = folder?.tables ?? []
    wanted = arguments.map { argument in
      let known = tables.first { $0.reader.name == argument.name }?.reader
      let needed =
        pictureCount + Self.spareSlotCount + (keepsOthers ? known?.entryCount ?? 0 : 0)
      return Self.format(
        name: argument.name, family: "warm", size: argument.size,
        keepsProportions: argument.layout == .within, pixelFormat: argument.pixelFormat,
        capacity: capacity ?? max(needed, known?.slotCount ?? 0),
        decoding: argument.quality == .best ? .best : .balanced,
        colorSpace: argument.colorSpace)
    }
    let names = Set(arguments.map(\.name))
    others = tables.filter { !names.contains($0.reader.name) }.compactMap { table in
      guard let code = table.code else { return nil }
      let geometry = table.reader.geometry
      return Self.format(
        name: table.reader.name, family: nil,
        size: PixelSize(width: geometry.width, height: geometry.height),
        keepsProportions: code.keepsProportions, pixelFormat: code.pixelFormat,
        capacity: table.reader.slotCount, decoding: code.quality, colorSpace: code.colorSpace)
    }
  }

  /// A changed image goes into another slot before its old one is freed; without spare slots that
  /// would evict the least recently used image. A slot takes disk space only once it is written.
  private static let spareSlotCount = 16

  private static func format(
    name: String, family: String?, size: PixelSize, keepsProportions: Bool,
    pixelFormat: PixelFormat, capacity: Int, decoding: ImageFormat.Quality, colorSpace: ColorSpace
  ) -> ImageFormat {
    keepsProportions
      ? ImageFormat(
        name: name, family: family, size: .fitting(size), pixelFormat: pixelFormat,
        capacity: .count(capacity), quality: decoding, colorSpace: colorSpace)
      : ImageFormat(
        name: name, family: family, size: .exact(size), pixelFormat: pixelFormat,
        capacity: .count(capacity), quality: decoding, colorSpace: colorSpace)
  }
}
