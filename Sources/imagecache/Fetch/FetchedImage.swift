import CommandSupport
import FastImageCache
import Foundation

/// An image of a web server as an entity, by its address.
struct FetchedImage: ImageEntity {
  let url: URL

  /// The layouts of the formats of this call, by their names.
  let layouts: [String: FormatArgument.Layout]

  var imageID: ImageID { ImageID(url.absoluteString) }

  func sourceURL(for format: ImageFormat) -> URL? { url }

  func drawing(for format: ImageFormat) -> Drawing { layouts[format.name].drawing }
}

extension URL {
  /// Reads the address of something that a web server has.
  ///
  /// - Throws: ``UsageError`` for anything else.
  init(webAddress text: String) throws(UsageError) {
    guard let url = URL(string: text), let scheme = url.scheme?.lowercased(),
      ["http", "https"].contains(scheme), url.host?.isEmpty == false
    else {
      throw UsageError(
        "\"\(text)\" is no address of a web server, as in https://example.com/picture.jpg; "
          + "`imagecache warm` takes folders.")
    }
    self = url
  }
}
