public import Foundation
public import ImageCodecs

extension CachedImage {
  /// Encodes the image with any encoder.
  ///
  /// ```swift
  /// let image = try await cache.image(for: photo, format: .row)
  /// let data = try image.data(encodedBy: .jpeg(quality: 0.8))
  /// ```
  ///
  /// Blocks its thread for the time of the compression: call it away from actors. The encoder borrows
  /// the mapped pixels. On Linux PNG takes a few rows and the encoded bytes beside them, JPEG three
  /// bytes a pixel more (two for gray), and WebP a copy of four bytes a pixel and libwebp's working
  /// memory. On Apple platforms each takes a copy of the pixels. An image in Display P3 becomes a file with the
  /// profile of that space.
  ///
  /// - Parameter encoder: ``ImageEncoder/jpeg(quality:)``, ``ImageEncoder/png`` or one of your own;
  ///   on Linux `.webp(quality:)` and `.losslessWebP` as well.
  /// - Throws: ``ImageEncodingError``.
  public func data(encodedBy encoder: some ImageEncoder) throws(ImageEncodingError) -> Data {
    try withPixels { pixels throws(ImageEncodingError) in
      try encoder.encode(pixels, layout: layout, colorSpace: colorSpace)
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
