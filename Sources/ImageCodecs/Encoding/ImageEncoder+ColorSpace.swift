public import Foundation
public import Pixels

extension ImageEncoder {
  /// Converts the colours to sRGB, which ``encode(_:layout:)`` takes.
  public func encode(
    _ pixels: RawSpan, layout: PixelLayout, colorSpace: ColorSpace
  ) throws(ImageEncodingError) -> Data {
    guard colorSpace != .sRGB, layout.format != .gray8 else {
      return try encode(pixels, layout: layout)
    }
    guard let bitmap = try? Bitmap(sRGBOf: pixels, layout, colorSpace) else { throw .outOfMemory }
    return try bitmap.withPixels { pixels throws(ImageEncodingError) in
      try encode(pixels, layout: layout)
    }
  }
}

extension Bitmap {
  /// A copy of pixels with the colours of sRGB.
  fileprivate init(
    sRGBOf pixels: RawSpan, _ layout: PixelLayout, _ colorSpace: ColorSpace
  ) throws {
    try self.init(layout: layout) { target in
      pixels.withUnsafeBytes { source in
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<layout.byteCount]))
      }
      guard let start = target.baseAddress else { return }
      let conversion = SpaceConversion(from: colorSpace)
      for y in 0..<layout.size.height {
        conversion.convertRow(
          start + y * layout.rowBytes, pixelCount: layout.size.width, format: layout.format,
          to: .sRGB)
      }
    }
  }
}
