#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension JPEGEncoder {
    func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_jpeg_writer_create() else { throw .outOfMemory }
      defer { fic_jpeg_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_jpeg_writer_message(writer))
      }
      let percent = quality.isNaN ? 90 : min(max(quality * 100, 1), 100)
      try check(
        colorSpace.withProfile(for: layout.format) { profile in
          fic_jpeg_begin(
            writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height),
            layout.format == .gray8, Int32(percent.rounded()), isProgressive, profile.start,
            UInt32(profile.count))
        })
      let rows = EncodedRows(pixels: pixels, layout: layout, alpha: .onWhite)
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
