#if !canImport(ImageIO)
  internal import CImageCodecs
  package import Foundation
  package import Pixels

  /// Writes baseline JPEG files in sRGB; transparent pixels become white.
  package struct JPEGEncoder {
    /// From 0, the smallest file, to 1, the best picture.
    package let quality: Double

    package init(quality: Double = 0.9) { self.quality = quality }

    package func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
      try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try encode(bytes, layout: bitmap.layout, conversion: bitmap.colorConversion)
      }
    }

    /// Encodes the caller's pixels, without copying the picture.
    ///
    /// - Parameters:
    ///   - pixels: At least `layout.byteCount` bytes, the top row first.
    ///   - conversion: The conversion to sRGB, for pixels in another space.
    package func encode(
      _ pixels: UnsafeRawBufferPointer, layout: PixelLayout,
      conversion: (any ColorConversion)? = nil
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_jpeg_writer_create() else { throw .outOfMemory }
      defer { fic_jpeg_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_jpeg_writer_message(writer))
      }
      let percent = quality.isFinite ? min(max(quality * 100, 1), 100) : 90
      try check(
        fic_jpeg_begin(
          writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height),
          layout.format == .gray8, Int32(percent.rounded())))
      let rows = EncodedRows(
        pixels: pixels, layout: layout, conversion: conversion, alpha: .onWhite)
      try rows.handOver { row throws(ImageEncodingError) in
        try check(fic_jpeg_write_row(writer, row))
      }
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      try check(fic_jpeg_end(writer, &bytes, &count))
      return Data(owning: bytes, count: count)
    }
  }
#endif
