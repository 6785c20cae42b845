import CommandSupport
import FastImageCache

/// The images lie decoded in a memory-mapped table.
struct TableScrolling: ScrollMethod {
  static let name = "image table"

  let cache: ImageCache
  let format: ImageFormat
  let cells: [ScrollCell]

  func touch() throws {
    for cell in cells.indices { _ = try image(ofCell: cell).byteSum }
  }

  func image(ofCell cell: Int) throws -> CachedImage {
    guard let image = cache.cachedImage(for: cells[cell], format: format) else {
      throw CommandFailure("The table has lost the image of \(cells[cell].imageID).")
    }
    return image
  }
}
