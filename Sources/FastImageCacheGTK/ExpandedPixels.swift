#if GTK && canImport(CGTK)
  import FastImageCache
  import Pixels

  extension CachedImage {
    /// Writes the pixels as blue, green, red and 255, four bytes each, for pixel formats that GDK and
    /// Cairo do not know.
    ///
    /// - Parameters:
    ///   - target: Room for all rows.
    ///   - rowBytes: From the start of one row of the target to the start of the next.
    /// - Returns: Whether the pixel format is `bgr16` or `gray8`; nothing is written otherwise.
    func expand(into target: UnsafeMutableRawBufferPointer, rowBytes: Int) -> Bool {
      let layout = layout
      guard layout.format == .bgr16 || layout.format == .gray8 else { return false }
      withPixels { source in
        for row in 0..<layout.size.height {
          for column in 0..<layout.size.width {
            let start = row * layout.rowBytes + column * layout.format.bytesPerPixel
            let pixel: UInt32
            if layout.format == .gray8 {
              pixel = UInt32(source.unsafeLoad(fromByteOffset: start, as: UInt8.self)) &* 0x01_0101
            } else {
              let packed = source.unsafeLoad(fromByteOffset: start, as: UInt16.self)
              pixel = Self.expanded(UInt16(littleEndian: packed))
            }
            target.storeBytes(
              of: (pixel | 0xFF00_0000).littleEndian, toByteOffset: row * rowBytes + column * 4,
              as: UInt32.self)
          }
        }
      }
      return true
    }

    /// Five bits of each colour as eight, so that the brightest stays the brightest.
    private static func expanded(_ packed: UInt16) -> UInt32 {
      func eight(_ five: UInt32) -> UInt32 { five << 3 | five >> 2 }
      let pixel = UInt32(packed)
      return eight(pixel >> 10 & 31) << 16 | eight(pixel >> 5 & 31) << 8 | eight(pixel & 31)
    }
  }
#endif
