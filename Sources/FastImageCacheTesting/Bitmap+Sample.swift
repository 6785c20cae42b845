public import FastImageCache

extension Bitmap {
  /// An image to be told from others: one colour above, another below, both made of the id.
  ///
  /// The same id has the same image in every run.
  ///
  /// - Parameters:
  ///   - id: Chooses the colours; different ids may share one.
  ///   - size: In pixels; at least 1 x 1.
  /// - Throws: ``BitmapError/invalidSize(_:)``, ``BitmapError/outOfMemory(byteCount:)``.
  public static func sample(
    _ id: ImageID, size: PixelSize = PixelSize(width: 64, height: 64)
  ) throws -> Bitmap {
    guard let layout = PixelLayout(size: size, format: .bgrx32) else {
      throw BitmapError.invalidSize(size)
    }
    let hash = hash(of: "\(id)")
    return try Bitmap(layout: layout) { bytes in
      for row in 0..<size.height {
        let color = row < size.height / 2 ? hash : hash >> 24
        for column in 0..<size.width {
          let pixel = row * layout.rowBytes + column * 4
          for channel in 0..<3 {
            bytes[pixel + channel] = UInt8(truncatingIfNeeded: color >> (8 * channel))
          }
          bytes[pixel + 3] = 0xFF
        }
      }
    }
  }

  /// FNV-1a, since Swift's own hashes differ from run to run, and a multiplication more, since the last
  /// characters of an id hardly reach the low bytes.
  private static func hash(of text: String) -> UInt64 {
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    return (hash ^ hash >> 32) &* 0x9E37_79B9_7F4A_7C15 >> 8
  }
}
