#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// A picture's rows as encoders take them: gray, or blue, green, red and a fourth byte, in sRGB.
  struct EncodedRows {
    enum Alpha {
      /// Colours are divided by alpha again, as PNG stores them.
      case keep

      /// White shows through, since JPEG has no alpha.
      case onWhite
    }

    let pixels: UnsafeRawBufferPointer
    let layout: PixelLayout
    let conversion: (any ColorConversion)?
    let alpha: Alpha

    /// Calls `write` with row after row; the address is valid until `write` returns.
    func handOver(
      to write: (UnsafePointer<UInt8>) throws(ImageEncodingError) -> Void
    ) throws(ImageEncodingError) {
      guard let start = pixels.start, pixels.count >= layout.byteCount else {
        throw .failed("\(pixels.count) bytes are too few for a picture of \(layout.size).")
      }
      let width = layout.size.width
      let scratch: ScratchMemory
      do throws(ImageDecodingError) {
        scratch = try ScratchMemory(byteCount: width * 4)
      } catch {
        throw .outOfMemory
      }
      for y in 0..<layout.size.height {
        let row = start + y * layout.rowBytes
        switch layout.format {
        case .bgr16:
          fic_rows_bgr16_to_bgrx(row, scratch.start, width)
        case .bgra32:
          writeTransparent(row, to: scratch.start)
        case .bgrx32, .gray8:
          guard let conversion else {
            try write(row)
            continue
          }
          memcpy(scratch.start, row, width * layout.format.bytesPerPixel)
          conversion.convertToSRGB(scratch.start, pixelCount: width, format: layout.format)
        }
        try write(scratch.start)
      }
    }

    private func writeTransparent(
      _ row: UnsafePointer<UInt8>, to result: UnsafeMutablePointer<UInt8>
    ) {
      let width = layout.size.width
      guard alpha == .keep || conversion != nil else {
        fic_rows_flatten_on_white(row, result, width)
        return
      }
      fic_rows_unpremultiply(row, result, width)
      conversion?.convertToSRGB(result, pixelCount: width, format: .bgra32)
      if alpha == .onWhite {
        fic_rows_premultiply(result, width)
        fic_rows_flatten_on_white(result, result, width)
      }
    }
  }

  extension fic_status {
    func check(encoding message: UnsafePointer<CChar>) throws(ImageEncodingError) {
      switch self {
      case .ok: return
      case .outOfMemory: throw .outOfMemory
      case .truncated, .damaged, .unsupported, .tooLarge:
        throw .failed(String(cString: message))
      }
    }
  }

  extension Data {
    /// Takes over memory that a C function allocated with `malloc(3)`.
    init(owning bytes: UnsafeMutablePointer<UInt8>?, count: Int) {
      guard let bytes else {
        self.init()
        return
      }
      self.init(bytesNoCopy: bytes, count: count, deallocator: .free)
    }
  }
#endif
