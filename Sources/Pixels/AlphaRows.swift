/// Turns rows of `.bgra32` into colours that are multiplied by alpha, and back.
enum AlphaRows {
  /// Divides blue, green and red by alpha; quotients above 255 become 255.
  static func divide(_ row: UnsafeMutableRawPointer, count: Int) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for start in stride(from: 0, to: count &* 4, by: 4) {
      let alpha = UInt32(bytes[start &+ 3])
      guard alpha != 255, alpha != 0 else { continue }
      for channel in start..<start &+ 3 {
        let quotient = (UInt32(bytes[channel]) &* 255 &+ alpha &>> 1) / alpha
        bytes[channel] = UInt8(truncatingIfNeeded: min(255, quotient))
      }
    }
  }

  /// Multiplies blue, green and red by alpha.
  static func multiply(_ row: UnsafeMutableRawPointer, count: Int) {
    let bytes = row.assumingMemoryBound(to: UInt8.self)
    for start in stride(from: 0, to: count &* 4, by: 4) {
      let alpha = bytes[start &+ 3]
      guard alpha != 255 else { continue }
      for channel in start..<start &+ 3 { bytes[channel] = product(bytes[channel], alpha) }
    }
  }

  /// `a * b / 255`, rounded to the nearest, for all bytes.
  @inline(__always)
  private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
    let sum = UInt32(a) &* UInt32(b) &+ 128
    return UInt8(truncatingIfNeeded: (sum &+ sum &>> 8) &>> 8)
  }
}
