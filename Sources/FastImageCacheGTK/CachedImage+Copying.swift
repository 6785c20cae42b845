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
      precondition(
        target.count >= rowBytes * layout.size.height, "The target has no room for all rows.")
      withPixels { source in
        source.withUnsafeBytes { bytes in
          guard let source = bytes.baseAddress, let target = target.baseAddress else { return }
          for row in 0..<layout.size.height {
            let output = target + row * rowBytes
            PixelRows.expand(
              source + row * layout.rowBytes, format: layout.format, to: output,
              count: layout.size.width)
            guard colorSpace != .sRGB else { continue }
            SpaceConversion(from: colorSpace).convertRow(
              output, pixelCount: layout.size.width,
              format: layout.format.hasAlpha ? .bgra32 : .bgrx32, to: .sRGB)
          }
        }
      }
    }
  }
#endif
