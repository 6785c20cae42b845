import CommandSupport
import FastImageCache
import Foundation

/// A file of a folder as an entity. Its path in the folder is its id; its version changes with the
/// file and with its drawing.
struct WarmPhoto: ImageEntity {
  let photo: PhotoFolder.Photo

  /// The layouts of the formats of this call, by their names.
  let layouts: [String: FormatArgument.Layout]

  var imageID: ImageID { ImageID(photo.path) }

  func versionID(for format: ImageFormat) -> ImageID {
    ImageID("\(photo.version)|\(layouts[format.name]?.rawValue ?? "")")
  }

  func sourceURL(for format: ImageFormat) -> URL? { photo.url }

  func drawing(for format: ImageFormat) -> Drawing { layouts[format.name].drawing }
}
