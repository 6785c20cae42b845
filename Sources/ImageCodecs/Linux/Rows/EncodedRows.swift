#if !canImport(ImageIO)
  internal import CImageCodecs
  import Foundation
  import Pixels

  /// An image's rows as encoders take them: gray, or blue, green, red and a fourth byte.
  struct EncodedRows {
    enum Alpha {
      /// Colours are divided by alpha again, as PNG and WebP store them.
      case keep

      /// White shows through, since JPEG has no alpha.
      case onWhite
    }

    let pixels: UnsafeRawBufferPointer
    let layout: PixelLayout
    let alpha: Alpha

    /// Calls `write` with row after row; the address is valid until `write` returns.
    func handOver(
      to write: (UnsafePointer<UInt8>) throws(ImageEncodingError) -> Void
    ) throws(ImageEncodingError) {
      guard let start = pixels.start, pixels.count >= layout.byteCount else {
        throw .failed("\(pixels.count) bytes are too few for an image of \(layout.size).")
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
        case .bgr16, .bgra32:
          PixelRows.expand(row, format: layout.format, to: scratch.start, count: width)
        case .bgrx32, .gray8:
          try write(row)
          continue
        }
        if layout.format.hasAlpha {
          switch alpha {
          case .keep: PixelRows.divideByAlpha(scratch.start, count: width)
          case .onWhite:
            PixelRows.lay(SIMD4(repeating: 255), under: scratch.start, count: width)
          }
        }
        try write(scratch.start)
      }
    }
  }

  extension PixelFormat {
    /// The rows that writers of PNG and WebP get.
    var encodedRows: fic_rows_kind {
      switch self {
      case .gray8: .gray
      case .bgra32: .bgra
      case .bgrx32, .bgr16: .bgrx
      }
    }
  }

  extension fic_status {
    func check(encoding message: UnsafePointer<CChar>) throws(ImageEncodingError) {
      switch self {
      case .ok: return
      case .outOfMemory: throw .outOfMemory
      case .truncated, .damaged, .unsupported, .tooLarge, .cancelled:
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
