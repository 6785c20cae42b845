import CommandSupport
import FastImageCache
import Foundation

/// A file of a folder as an entity. Its path in the folder is its id; its version changes with the file.
struct WarmPhoto: ImageEntity {
  let photo: PhotoFolder.Photo

  /// The layouts of the formats of this call, by their names.
  let layouts: [String: FormatArgument.Layout]

  var imageID: ImageID { ImageID(photo.path) }

  func versionID(for format: ImageFormat) -> ImageID { ImageID(photo.version) }

  func sourceURL(for format: ImageFormat) -> URL? { photo.url }

  func drawing(for format: ImageFormat) -> Drawing { layouts[format.name].drawing }
}
