import CommandSupport
import FastImageCache
import Foundation
import TableStore

/// One image of a table, with its frames.
struct StoredImageFile {
  let motion: SlotMotion
  private let table: TableFolder.Table
  private let text: String
  private let id: TableID
  private let first: TableEntry

  /// - Parameter text: The printed form of the image's id.
  /// - Throws: ``UsageError`` where the table has no such image that is intact.
  init(of text: String, in table: TableFolder.Table) throws(UsageError) {
    for id in Self.ids(spelled: text) {
      guard let first = table.reader.entry(of: id) else { continue }
      (self.table, self.text, self.id, self.first) = (table, text, id, first)
      motion = table.hasAnimations ? SlotMotion.parting(first.metadata).motion : .still
      return
    }
    throw UsageError(
      "The table \"\(table.reader.name)\" has no image of \"\(text)\" that is intact; "
        + "`imagecache inspect` lists what it has.")
  }

  /// The frames that have slots of their own, and the first.
  var frameCount: Int { motion.frameCount }

  /// - Parameter index: From 0.
  /// - Throws: ``UsageError`` for a frame that the image does not have, ``CommandFailure`` for one that is missing.
  func bitmap(ofFrame index: Int) throws -> Bitmap {
    guard index < frameCount else {
      throw UsageError(
        "\"\(text)\" has no frame \(index) in the table: its frames are 0 to \(frameCount - 1).")
    }
    guard index > 0 else { return try bitmap(of: first) }
    let key = motion.frameKeys { id.frame($0) }[index - 1]
    guard let frame = table.reader.entry(of: key.entity), frame.version == key.version else {
      throw CommandFailure(
        "The table \"\(table.reader.name)\" has lost frame \(index) of \"\(text)\".")
    }
    return try bitmap(of: frame)
  }

  private func bitmap(of entry: TableEntry) throws -> Bitmap {
    let size = PixelSize(width: entry.extent.width, height: entry.extent.height)
    guard let code = table.code, let layout = PixelLayout(size: size, format: code.pixelFormat),
      layout.byteCount <= entry.pixels.count
    else {
      throw CommandFailure(
        "The table \"\(table.reader.name)\" has pixels of an unknown pixel format.")
    }
    return try Bitmap(layout: layout, colorSpace: code.colorSpace) { target in
      entry.withPixels { target.copyMemory(from: .init(rebasing: $0[..<layout.byteCount])) }
    }
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
