#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension PNGEncoder {
    func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_png_writer_create() else { throw .outOfMemory }
      defer { fic_png_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_png_writer_message(writer))
      }
      try check(
        colorSpace.withProfile(for: layout.format) { profile in
          fic_png_begin(
            writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height),
            layout.format.encodedRows, profile.start, profile.count)
        })
      let rows = EncodedRows(pixels: pixels, layout: layout, alpha: .keep)
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
