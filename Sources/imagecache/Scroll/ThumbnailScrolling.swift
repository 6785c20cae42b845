import FastImageCache
import Foundation
import ImageCodecs

/// The images are JPEG files of the right size, read and decoded when they come into view.
struct ThumbnailScrolling: ScrollMethod {
  static let name = "cached thumbnail"

  let files: [URL]

  func touch() throws {
    for file in files { _ = try Data(contentsOf: file) }
  }

  func image(ofCell cell: Int) throws -> Bitmap {
    let data = try Data(contentsOf: files[cell])
    return try ImageDecoders.standard.decoder(for: data).decode(data, DecodeRequest())
  }
}
