#if !canImport(ImageIO)
  internal import CImageCodecs
  public import Foundation
  public import Pixels

  /// Writes WebP files, those in Display P3 with its profile, on Linux: ImageIO reads WebP and does not write it.
  ///
  /// Takes four bytes a pixel for libwebp's copy, and libwebp's working memory beside it. Where the
  /// memory ends within libwebp, version 1.2.4 can report success with bytes that do not decode.
  public struct WebPEncoder: ImageEncoder {
    /// From 0, the smallest file, to 1, the best image; numbers beyond count as the nearer bound,
    /// and NaN as 0.8. `nil` is lossless, as the encoder
    /// `.losslessWebP` has it.
    public let quality: Double?

    /// The colours that are written.
    public var colors: EncodedColors

    /// Creates an encoder that loses details; alpha stays as it is.
    public init(quality: Double = 0.8, colors: EncodedColors = .all) {
      (self.quality, self.colors) = (quality, colors)
    }

    fileprivate init(losing quality: Double?) { (self.quality, colors) = (quality, .all) }

    /// - Throws: ``ImageEncodingError``; sides above 16 383 pixels do not fit into the format.
    public func encode(
      _ pixels: RawSpan, layout: PixelLayout
    ) throws(ImageEncodingError) -> Data {
      try encode(pixels, layout: layout, colorSpace: .sRGB)
    }

    /// - Throws: As without a colour space.
    public func encode(
      _ pixels: RawSpan, layout: PixelLayout, colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      try colors.withPixels(pixels, layout, colorSpace) {
        bytes, layout throws(ImageEncodingError) in
        let data = try write(bytes, layout)
        return try colorSpace.withProfile(for: layout.format) { profile in
          profile.isEmpty ? data : WebPContainer.adding(profile, to: data, layout)
        }
      }
    }

    private func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_webp_writer_create() else { throw .outOfMemory }
      defer { fic_webp_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_webp_writer_message(writer))
      }
      // libwebp takes the quality of lossless files for its effort; 75 is what it chooses itself.
      let percent = quality.map { $0.isNaN ? 80 : min(max($0 * 100, 0), 100) } ?? 75
      try check(
        fic_webp_begin(
          writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height),
          layout.format.encodedRows, quality == nil, Float(percent)))
      let rows = EncodedRows(pixels: pixels, layout: layout, alpha: .keep)
      try rows.handOver { row throws(ImageEncodingError) in
        try check(fic_webp_write_row(writer, row))
      }
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      try check(fic_webp_end(writer, &bytes, &count))
      return Data(owning: bytes, count: count)
    }
  }

  extension ImageEncoder where Self == WebPEncoder {
    /// WebP, on Linux.
    ///
    /// - Parameter quality: From 0, the smallest file, to 1, the best image.
    public static func webp(quality: Double = 0.8) -> WebPEncoder { WebPEncoder(quality: quality) }

    /// WebP that keeps opaque pixels exactly, on Linux.
    ///
    /// The colours of transparent pixels may differ by one of 255 steps: the file has them without the
    /// multiplication by alpha.
    public static var losslessWebP: WebPEncoder { WebPEncoder(losing: nil) }
  }
#endif
