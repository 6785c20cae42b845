#if GTK && canImport(CGTK)
  import FastImageCache
  import Foundation
  import Pixels

  /// An entity whose image is made of its number, so that each can be told from all others.
  struct NumberedImage: ImageEntity, Equatable {
    let number: Int
    var version = 0

    var imageID: ImageID { ImageID(number) }

    func sourceURL(for format: ImageFormat) -> URL? {
      URL(fileURLWithPath: "/pictures/\(number)/\(version)")
    }

    init(number: Int, version: Int = 0) { (self.number, self.version) = (number, version) }

    /// The entity behind a source's URL.
    init?(_ url: URL) {
      let parts = url.pathComponents.suffix(2).compactMap { Int($0) }
      guard parts.count == 2 else { return nil }
      self.init(number: parts[0], version: parts[1])
    }

    /// The colour of a pixel, as 0xFFRRGGBB: four corners of different colours, and a band in the middle
    /// that has the number's bits.
    func color(x: Int, y: Int, of size: PixelSize) -> UInt32 {
      var hash =
        UInt64(number) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(version + 1) &* 0xBF58_476D_1CE4_E5B9
      hash ^= hash >> 29
      if y * 3 / size.height == 1 {
        let bit = x * 24 / size.width
        return (number << 4 | version & 15) >> bit & 1 == 1 ? 0xFFFF_FFFF : 0xFF00_0000
      }
      let corner = (x * 2 / size.width) + (y * 2 / size.height) * 2
      return 0xFF00_0000 | UInt32(truncatingIfNeeded: hash >> (UInt64(corner) * 11)) & 0xFF_FFFF
    }

    func makeBitmap(_ size: PixelSize) throws -> Bitmap {
      try Bitmap(size: size, format: .bgrx32) { bytes, layout in
        for y in 0..<size.height {
          for x in 0..<size.width {
            bytes.storeBytes(
              of: color(x: x, y: y, of: size).littleEndian,
              toByteOffset: y * layout.rowBytes + x * 4,
              as: UInt32.self)
          }
        }
      }
    }
  }

  extension ImageFormat {
    /// Small, so that many of them are compared in a frame.
    static let cell = ImageFormat(
      name: "cell", size: .exact(PixelSize(width: 60, height: 48)), pixelFormat: .bgrx32,
      capacity: 2500)
    static let large = ImageFormat(
      name: "large", size: .exact(PixelSize(width: 180, height: 140)), pixelFormat: .bgrx32,
      capacity: 8)
    /// Room for few more images than can be seen.
    static let scarceCell = ImageFormat(
      name: "cell", size: .exact(PixelSize(width: 60, height: 48)), pixelFormat: .bgrx32,
      capacity: 120)
  }
#endif
