#if !canImport(ImageIO)
  public import Foundation
  public import ImageCodecs
  public import Pixels

  // Apple's systems read WebP and do not write it.

  extension CachedImage {
    /// Encodes the image as WebP, on Linux; alpha stays as it is, gray becomes colour.
    ///
    /// Blocks its thread for the time of the compression: call it away from actors.
    ///
    /// - Parameter quality: 0 (smallest) to 1 (best).
    /// - Throws: ``ImageEncodingError``; a side above 16 383 pixels is refused.
    public func webpData(quality: Double = 0.8) throws(ImageEncodingError) -> Data {
      try data(encodedBy: .webp(quality: quality))
    }

    /// Encodes the image as lossless WebP, on Linux.
    ///
    /// Opaque pixels stay exactly as they are; the colours of transparent ones may differ by one of 255
    /// steps.
    ///
    /// Blocks its thread for the time of the compression: call it away from actors.
    ///
    /// - Throws: ``ImageEncodingError``; a side above 16 383 pixels is refused.
    public func losslessWebPData() throws(ImageEncodingError) -> Data {
      try data(encodedBy: .losslessWebP)
    }
  }

  extension Bitmap {
    /// Encodes the image as WebP, on Linux; alpha stays as it is, gray becomes colour.
    ///
    /// Blocks its thread for the time of the compression: call it away from actors.
    ///
    /// - Parameter quality: 0 (smallest) to 1 (best).
    /// - Throws: ``ImageEncodingError``; a side above 16 383 pixels is refused.
    public func webpData(quality: Double = 0.8) throws(ImageEncodingError) -> Data {
      try data(encodedBy: .webp(quality: quality))
    }

    /// Encodes the image as lossless WebP, on Linux.
    ///
    /// Opaque pixels stay exactly as they are; the colours of transparent ones may differ by one of 255
    /// steps.
    ///
    /// Blocks its thread for the time of the compression: call it away from actors.
    ///
    /// - Throws: ``ImageEncodingError``; a side above 16 383 pixels is refused.
    public func losslessWebPData() throws(ImageEncodingError) -> Data {
      try data(encodedBy: .losslessWebP)
    }
  }
#endif
