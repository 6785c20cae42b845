import FastImageCache
import Foundation
import ImageCodecs

/// An entity that is a number, with a picture from a file if one is given.
struct BenchPicture: ImageEntity {
  let number: Int
  let file: URL?

  init(_ number: Int, file: URL? = nil) {
    self.number = number
    self.file = file
  }

  var imageID: ImageID { ImageID(number) }

  func sourceID(for format: ImageFormat) -> ImageID { ImageID(number) }

  func sourceURL(for format: ImageFormat) -> URL? { file }

  /// A picture with something in each pixel.
  static func bitmap(_ size: PixelSize) throws -> Bitmap {
    guard let layout = PixelLayout(size: size, format: .bgrx32) else {
      throw BitmapError.outOfMemory(byteCount: .max)
    }
    return try Bitmap(layout: layout) { bytes in
      for offset in bytes.indices {
        bytes[offset] =
          offset & 3 == 3 ? 255 : UInt8(truncatingIfNeeded: offset &* 2_654_435_761 >> 16)
      }
    }
  }

  /// Writes a JPEG file of the size that cameras of old made.
  static func writeFile(to url: URL) throws {
    let bitmap = try bitmap(PixelSize(width: 800, height: 600))
    try JPEGEncoder(quality: 0.85).encode(bitmap).write(to: url)
  }
}
