import Foundation

@testable import FastImageCache

/// An entity whose every answer a test can set.
struct Photo: ImageEntity {
  var id: ImageID
  var version: ImageID?
  var original: ImageID?
  var url: URL?
  var drawing = Drawing.stretch
  var wantsFamily = true
  var ownImage: (@Sendable (ImageFormat) async throws -> ImageSourceResponse?)?
  var willTellSource: (@Sendable (ImageFormat) -> Void)?

  init(_ id: ImageID, version: ImageID? = nil, url: String? = nil) {
    self.id = id
    self.version = version
    self.url = URL(string: url ?? "test:/\(id)")
  }

  var imageID: ImageID { id }
  private var defaultOriginalID: ImageID { url.map { ImageID($0) } ?? id }
  func sourceURL(for format: ImageFormat) -> URL? { url }
  func versionID(for format: ImageFormat) -> ImageID {
    willTellSource?(format)
    return version ?? url.map { ImageID($0) } ?? id
  }
  func originalID(for format: ImageFormat) -> ImageID { original ?? defaultOriginalID }
  func drawing(for format: ImageFormat) -> Drawing { drawing }
  func prerendersFamily(_ family: String) -> Bool { wantsFamily }
  func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? {
    try await ownImage?(format)
  }
}

extension ImageFormat {
  static let row = ImageFormat(
    name: "row", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 16)
  static let large = ImageFormat(
    name: "large", family: "photos", size: .exact(PixelSize(width: 40, height: 30)), capacity: 16)
  static let dot = ImageFormat(
    name: "dot", family: "photos", size: .exact(PixelSize(width: 4, height: 4)),
    pixelFormat: .gray8,
    capacity: 16)

  func with(capacity: Capacity) -> ImageFormat {
    ImageFormat(
      name: name, family: family, size: .exact(size), pixelFormat: pixelFormat, capacity: capacity)
  }
}

/// An image of one colour that follows from `number`, so that wrong pixels can be told.
func solid(_ number: Int, size: PixelSize = PixelSize(width: 16, height: 16)) throws -> Bitmap {
  guard let layout = PixelLayout(size: size, format: .bgrx32) else {
    throw BitmapError.outOfMemory(byteCount: 0)
  }
  return try Bitmap(layout: layout) { bytes in
    for pixel in stride(from: 0, to: bytes.count, by: 4) {
      bytes[pixel] = UInt8(truncatingIfNeeded: number)
      bytes[pixel + 1] = UInt8(truncatingIfNeeded: number >> 8)
      bytes[pixel + 2] = 77
      bytes[pixel + 3] = 255
    }
  }
}

extension CachedImage {
  /// The number that ``solid(_:size:)`` was given, if every pixel of this 32-bit image agrees.
  var solidNumber: Int? {
    withPixels { span -> Int? in
      var number: Int?
      for y in 0..<size.height {
        for x in 0..<size.width {
          let offset = y * layout.rowBytes + x * 4
          let blue = Int(span.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
          let green = Int(span.unsafeLoad(fromByteOffset: offset + 1, as: UInt8.self))
          let red = span.unsafeLoad(fromByteOffset: offset + 2, as: UInt8.self)
          guard red == 77, number == nil || number == green << 8 | blue else { return nil }
          number = green << 8 | blue
        }
      }
      return number
    }
  }
}

/// An entity that leaves every image to its source.
struct PlainPhoto: ImageEntity {
  let number: Int
  var scheme = "test:"

  var imageID: ImageID { ImageID(number) }
  func sourceURL(for format: ImageFormat) -> URL? { URL(string: "\(scheme)/\(number)") }
}
