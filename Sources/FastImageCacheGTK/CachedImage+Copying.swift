#if GTK && canImport(CGTK)
  import FastImageCache
  import Pixels

  extension CachedImage {
    /// Writes the pixels as blue, green, red and alpha in sRGB, four bytes each, whatever their own format.
    ///
    /// - Parameters:
    ///   - target: Room for all rows.
    ///   - rowBytes: From the start of one row of the target to the start of the next.
    func copy32(into target: UnsafeMutableRawBufferPointer, rowBytes: Int) {
      let layout = layout
      withPixels { source in
        for row in 0..<layout.size.height {
          let start = row * layout.rowBytes
          switch layout.format {
          case .bgra32, .bgrx32:
            source.withUnsafeBytes { bytes in
              UnsafeMutableRawBufferPointer(rebasing: target[(row * rowBytes)...])
                .copyMemory(
                  from: UnsafeRawBufferPointer(
                    rebasing: bytes[start..<start + layout.size.width * 4]))
            }
          case .gray8:
            Self.write(layout.size.width, to: target, at: row * rowBytes) { column in
              UInt32(source.unsafeLoad(fromByteOffset: start + column, as: UInt8.self)) &* 0x01_0101
            }
          case .bgr16:
            Self.write(layout.size.width, to: target, at: row * rowBytes) { column in
              let packed = source.unsafeLoad(fromByteOffset: start + column * 2, as: UInt16.self)
              return Self.expanded(UInt16(littleEndian: packed))
            }
          }
          guard colorSpace != .sRGB, let start = target.baseAddress else { continue }
          SpaceConversion(from: colorSpace).convertRow(
            start + row * rowBytes, pixelCount: layout.size.width,
            format: layout.format.hasAlpha ? .bgra32 : .bgrx32, to: .sRGB)
        }
      }
    }

    private static func write(
      _ count: Int, to target: UnsafeMutableRawBufferPointer, at start: Int,
      _ pixel: (Int) -> UInt32
    ) {
      for column in 0..<count {
        target.storeBytes(
          of: (pixel(column) | 0xFF00_0000).littleEndian, toByteOffset: start + column * 4,
          as: UInt32.self)
      }
    }

    /// Five bits of each colour as eight, so that the brightest stays the brightest.
    private static func expanded(_ packed: UInt16) -> UInt32 {
      func eight(_ five: UInt32) -> UInt32 { five << 3 | five >> 2 }
      let pixel = UInt32(packed)
      return eight(pixel >> 10 & 31) << 16 | eight(pixel >> 5 & 31) << 8 | eight(pixel & 31)
    }
  }
#endif
