import FastImageCache
import Foundation
import Pixels
import TestSupport

/// Image files that tests make themselves.
enum TestImages {
  /// Opaque pixels, each a function of its coordinates and of `seed`.
  static func bitmap(_ size: PixelSize, seed: Int) throws -> Bitmap {
    let layout = try layout(size)
    return try Bitmap(layout: layout) { bytes in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let offset = y * layout.rowBytes + x * 4
          bytes[offset] = UInt8(truncatingIfNeeded: seed &* 31 &+ x &* 7)
          bytes[offset + 1] = UInt8(truncatingIfNeeded: seed &* 17 &+ y &* 5)
          bytes[offset + 2] = UInt8(truncatingIfNeeded: seed &+ x &* y)
          bytes[offset + 3] = 255
        }
      }
    }
  }

  /// A PNG file of about three bytes for each pixel: noise cannot be compressed.
  static func noise(_ size: PixelSize, seed: UInt64) throws -> Data {
    var numbers = SplitMix64(state: seed)
    return try Bitmap(layout: try layout(size)) { bytes in
      for offset in bytes.indices { bytes[offset] = UInt8(truncatingIfNeeded: numbers.next()) }
    }.pngData()
  }

  static func layout(_ size: PixelSize) throws -> PixelLayout {
    guard let layout = PixelLayout(size: size, format: .bgrx32) else {
      throw BitmapError.outOfMemory(byteCount: 0)
    }
    return layout
  }

  static func writePNG(_ size: PixelSize, seed: Int, to file: URL) throws {
    try bitmap(size, seed: seed).pngData().write(to: file)
  }

  /// The colours of a PNG file: blue, green, red, and alpha or 255, row by row.
  static func pixels(of file: URL) throws -> (size: PixelSize, bytes: [UInt8]) {
    let data = try Data(contentsOf: file)
    let bitmap = try ImageDecoders.standard.decoder(for: data).decode(data, DecodeRequest())
    return (bitmap.size, pixels(of: bitmap))
  }

  /// The bytes of a bitmap of four-byte pixels without the gaps between its rows.
  static func pixels(of bitmap: Bitmap) -> [UInt8] {
    bitmap.withPixels { span in
      span.withUnsafeBytes { bytes in
        (0..<bitmap.size.height).flatMap { y in
          Array(bytes[(y * bitmap.layout.rowBytes)...].prefix(bitmap.size.width * 4))
        }
      }
    }
  }
}
