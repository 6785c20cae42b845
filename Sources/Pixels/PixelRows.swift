/// Conversions of single rows: between the four pixel formats, from and to multiplied alpha, over
/// backgrounds.
///
/// The loops take raw pointers and operators without overflow checks, because the compiler turns
/// only such loops into vector instructions. Callers vouch that the rows have `count` pixels.
package enum PixelRows {
  /// Expands a row of any pixel format to blue, green, red, alpha.
  package static func expand(
    _ source: UnsafeRawPointer, format: PixelFormat, to target: UnsafeMutableRawPointer, count: Int
  ) {
    let output = target.assumingMemoryBound(to: UInt32.self)
    switch format {
    case .bgra32:
      target.copyMemory(from: source, byteCount: count &* 4)
    case .bgrx32:
      for index in 0..<count {
        let pixel = source.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
        output[index] = (UInt32(littleEndian: pixel) | 0xff00_0000).littleEndian
      }
    case .bgr16:
      for index in 0..<count {
        let raw = source.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)
        let pixel = UInt32(UInt16(littleEndian: raw))
        let (red, green, blue) = (pixel &>> 10 & 31, pixel &>> 5 & 31, pixel & 31)
        let bytes = eightBits(red) &<< 16 | eightBits(green) &<< 8 | eightBits(blue)
        output[index] = (bytes | 0xff00_0000).littleEndian
      }
    case .gray8:
      for index in 0..<count {
        let gray = UInt32(source.load(fromByteOffset: index, as: UInt8.self))
        output[index] = (gray &* 0x01_0101 | 0xff00_0000).littleEndian
      }
    }
  }

  /// Writes a row of blue, green, red, alpha in one of the pixel formats. Formats without alpha
  /// keep the multiplied colours, so that transparent pixels lie over black.
  ///
  /// - `.bgr16` takes the nearest of 32 levels, `(31 * c + 127) / 255`, without dither, which would
  ///   make the same image differ from one redraw to the next once anything above it moves.
  /// - `.gray8` takes `(19595 * red + 38470 * green + 7471 * blue + 32768) >> 16`: the weights of
  ///   ITU-R BT.601 in 1/65536, which add up to one, so that grays stay the same.
  package static func convert(
    _ source: UnsafeRawPointer, to format: PixelFormat, _ target: UnsafeMutableRawPointer,
    count: Int
  ) {
    let pixels = source.assumingMemoryBound(to: UInt32.self)
    switch format {
    case .bgra32:
      target.copyMemory(from: source, byteCount: count &* 4)
    case .bgrx32:
      expand(source, format: .bgrx32, to: target, count: count)
    case .bgr16:
      let output = target.assumingMemoryBound(to: UInt16.self)
      for index in 0..<count {
        let pixel = UInt32(littleEndian: pixels[index])
        let red = fiveBits(pixel &>> 16 & 255)
        let green = fiveBits(pixel &>> 8 & 255)
        let blue = fiveBits(pixel & 255)
        let bits = red &<< 10 | green &<< 5 | blue
        output[index] = UInt16(truncatingIfNeeded: bits).littleEndian
      }
    case .gray8:
      let output = target.assumingMemoryBound(to: UInt8.self)
      for index in 0..<count {
        let pixel = UInt32(littleEndian: pixels[index])
        let luma =
          (pixel &>> 16 & 255) &* 19_595 &+ (pixel &>> 8 & 255) &* 38_470
          &+ (pixel & 255) &* 7_471 &+ 32_768
        output[index] = UInt8(truncatingIfNeeded: luma &>> 16)
      }
    }
  }

  /// Writes all rows of an image of blue, green, red, alpha, with zeros between them.
  package static func convert(
    _ source: UnsafeRawPointer, rowBytes: Int, to layout: PixelLayout,
    _ output: UnsafeMutableRawPointer
  ) {
    let used = layout.size.width * layout.format.bytesPerPixel
    for y in 0..<layout.size.height {
      let target = output + y * layout.rowBytes
      convert(source + y * rowBytes, to: layout.format, target, count: layout.size.width)
      (target + used).initializeMemory(as: UInt8.self, repeating: 0, count: layout.rowBytes - used)
    }
  }

  /// `(31 * component + 127) / 255` for every byte, without the division.
  @inline(__always)
  private static func fiveBits(_ component: UInt32) -> UInt32 {
    (component &* 249 &+ 1_014) &>> 11
  }

  /// `255 * level / 31`, rounded to the nearest, for all levels.
  @inline(__always)
  private static func eightBits(_ level: UInt32) -> UInt32 {
    (level &* 527 &+ 23) &>> 6
  }

  /// Divides blue, green and red of `.bgra32` by alpha; quotients above 255 become 255, and pixels without alpha zero.
  package static func divideByAlpha(_ row: UnsafeMutableRawPointer, count: Int) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for start in stride(from: 0, to: count &* 4, by: 4) {
      let alpha = UInt32(bytes[start &+ 3])
      guard alpha != 255 else { continue }
      for channel in start..<start &+ 3 {
        let quotient =
          alpha == 0 ? 0 : (UInt32(bytes[channel]) &* 255 &+ alpha &>> 1) / alpha
        bytes[channel] = UInt8(truncatingIfNeeded: min(255, quotient))
      }
    }
  }

  /// Multiplies blue, green and red of `.bgra32` by alpha.
  static func multiplyByAlpha(_ row: UnsafeMutableRawPointer, count: Int) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for start in stride(from: 0, to: count &* 4, by: 4) {
      let alpha = bytes[start &+ 3]
      guard alpha != 255 else { continue }
      for channel in start..<start &+ 3 { bytes[channel] = product(bytes[channel], alpha) }
    }
  }

  /// Multiplies all four channels of some pixels by a coverage from 0 to 255 each.
  package static func cover(
    _ row: UnsafeMutableRawPointer, with coverage: UnsafePointer<UInt8>, count: Int
  ) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for index in 0..<count &* 4 { bytes[index] = product(bytes[index], coverage[index &>> 2]) }
  }

  /// Lays a colour under a row.
  package static func lay(
    _ color: SIMD4<UInt8>, under row: UnsafeMutableRawPointer, count: Int
  ) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for start in stride(from: 0, to: count &* 4, by: 4) {
      let missing = 255 &- bytes[start &+ 3]
      guard missing != 0 else { continue }
      for channel in 0..<4 {
        // Colours above their alpha can make a sum above 255, which must not wrap.
        let sum = UInt16(bytes[start &+ channel]) &+ UInt16(product(color[channel], missing))
        bytes[start &+ channel] = UInt8(truncatingIfNeeded: min(255, sum))
      }
    }
  }

  /// Fills a row with a colour.
  package static func fill(_ row: UnsafeMutableRawPointer, with color: SIMD4<UInt8>, count: Int) {
    for index in 0..<count {
      row.storeBytes(of: color, toByteOffset: index &* 4, as: SIMD4<UInt8>.self)
    }
  }

  /// `a * b / 255`, rounded to the nearest, for all bytes.
  @inline(__always)
  private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    let sum = UInt32(a) &* UInt32(b) &+ 128
    return UInt8(truncatingIfNeeded: (sum &+ sum &>> 8) &>> 8)
  }
}
