#if !canImport(ImageIO)
  internal import CImageCodecs
  package import Foundation
  package import Pixels

  /// Writes PNG files, lossless and marked as sRGB.
  package enum PNGEncoder {
    package static func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
      try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try encode(bytes, layout: bitmap.layout, conversion: bitmap.colorConversion)
      }
    }

    /// Encodes the caller's pixels, without copying the picture.
    ///
    /// - Parameters:
    ///   - pixels: At least `layout.byteCount` bytes, the top row first.
    ///   - conversion: The conversion to sRGB, for pixels in another space.
    package static func encode(
      _ pixels: UnsafeRawBufferPointer, layout: PixelLayout,
      conversion: (any ColorConversion)? = nil
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_png_writer_create() else { throw .outOfMemory }
      defer { fic_png_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_png_writer_message(writer))
      }
      let kind: fic_png_rows =
        switch layout.format {
        case .gray8: .gray
        case .bgra32: .bgra
        case .bgrx32, .bgr16: .bgrx
        }
      try check(
        fic_png_begin(
          writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height), kind))
      let rows = EncodedRows(pixels: pixels, layout: layout, conversion: conversion, alpha: .keep)
      try rows.handOver { row throws(ImageEncodingError) in
        try check(fic_png_write_row(writer, row))
      }
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      try check(fic_png_end(writer, &bytes, &count))
      return Data(owning: bytes, count: count)
    }
  }
#endif
