public import Foundation
public import ImageCodecs
import ImageDrawing
public import Pixels

extension Bitmap {
  /// Encodes the image with any encoder.
  ///
  /// ```swift
  /// let bitmap = try Bitmap(contentsOf: URL(fileURLWithPath: "photo.webp"))
  /// let data = try bitmap.data(encodedBy: .jpeg(quality: 0.8))
  /// ```
  ///
  /// Blocks its thread for the time of the compression: call it away from actors. Colours that a
  /// decoder left in another space are turned into sRGB first, in a copy. A bitmap in Display P3 becomes a file
  /// with the profile of that space.
  ///
  /// - Parameter encoder: ``ImageEncoder/jpeg(quality:)``, ``ImageEncoder/png`` or one of your own;
  ///   on Linux `.webp(quality:)` and `.losslessWebP` as well.
  /// - Throws: ``ImageEncodingError``.
  public func data(encodedBy encoder: some ImageEncoder) throws(ImageEncodingError) -> Data {
    // The only error of the conversion.
    guard let source = try? inColorSpace(colorSpace) else { throw .outOfMemory }
    return try source.withPixels { pixels throws(ImageEncodingError) in
      try encoder.encode(pixels, layout: source.layout, colorSpace: source.colorSpace)
    }
  }

  /// Encodes the image as PNG, losslessly; gray stays gray.
  ///
  /// Blocks its thread for the time of the compression: call it away from actors.
  ///
  /// - Throws: ``ImageEncodingError``.
  public func pngData() throws(ImageEncodingError) -> Data { try data(encodedBy: .png) }

  /// Encodes the image as JPEG; what is transparent becomes white.
  ///
  /// Blocks its thread for the time of the compression: call it away from actors.
  ///
  /// - Parameter quality: 0 (smallest) to 1 (best).
  /// - Throws: ``ImageEncodingError``.
  public func jpegData(quality: Double = 0.9) throws(ImageEncodingError) -> Data {
    try data(encodedBy: .jpeg(quality: quality))
  }
}
