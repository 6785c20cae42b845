import FastImageCache
import Foundation

/// An image in the list, on a web server.
struct SlowCell: ImageEntity {
  let cell: ScrollCell
  let url: URL

  var imageID: ImageID { cell.imageID }

  func versionID(for format: ImageFormat) -> ImageID { cell.versionID(for: format) }

  func sourceURL(for format: ImageFormat) -> URL? { url }

  func drawing(for format: ImageFormat) -> Drawing { cell.drawing }
}
