#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  extension PNGEncoder {
    func write(
      _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ colorSpace: ColorSpace
    ) throws(ImageEncodingError) -> Data {
      try write(layout, colorSpace, layout.format.encodedRows, palette: []) {
        put throws(ImageEncodingError) in
        try EncodedRows(pixels: pixels, layout: layout, alpha: .keep).handOver(to: put)
      }
    }

    func write(_ image: PaletteImage, _ colorSpace: ColorSpace) throws(ImageEncodingError) -> Data {
      let layout = image.indices.layout
      var palette = image.colors.map(\.littleEndian)
      palette.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        PixelRows.divideByAlpha(start, count: bytes.count / 4)
      }
      return try image.indices.withUnsafeBytes { bytes throws(ImageEncodingError) in
        try write(layout, colorSpace, .indexed, palette: palette) {
          put throws(ImageEncodingError) in
          // Gray rows are handed over as they are.
          try EncodedRows(pixels: bytes, layout: layout, alpha: .keep).handOver(to: put)
        }
      }
    }

    /// - Parameter palette: Blue, green, red, not multiplied by alpha, alpha.
    private func write(
      _ layout: PixelLayout, _ colorSpace: ColorSpace, _ kind: fic_rows_kind, palette: [UInt32],
      _ putRows: (
        (UnsafePointer<UInt8>) throws(ImageEncodingError) -> Void
      ) throws(ImageEncodingError) -> Void
    ) throws(ImageEncodingError) -> Data {
      guard let writer = fic_png_writer_create() else { throw .outOfMemory }
      defer { fic_png_writer_close(writer) }
      func check(_ status: fic_status) throws(ImageEncodingError) {
        try status.check(encoding: fic_png_writer_message(writer))
      }
      if !palette.isEmpty {
        try check(
          palette.withUnsafeBytes {
            fic_png_set_palette(writer, $0.start, UInt32($0.count / 4))
          })
      }
      // A palette has colours, whatever its indices look like.
      try check(
        colorSpace.withProfile(for: palette.isEmpty ? layout.format : .bgra32) { profile in
          fic_png_begin(
            writer, UInt32(clamping: layout.size.width), UInt32(clamping: layout.size.height),
            kind, profile.start, profile.count)
        })
      try putRows { row throws(ImageEncodingError) in try check(fic_png_write_row(writer, row)) }
      var bytes: UnsafeMutablePointer<UInt8>?
      var count = 0
      try check(fic_png_end(writer, &bytes, &count))
      return Data(owning: bytes, count: count)
    }
  }
#endif
