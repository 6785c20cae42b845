/// The two halves of resampling in `Float`: for negative weights, for single channels, and for sums
/// of many rows or columns.
///
/// Plain loops over single numbers. The optimiser turns them into vectors, and without it they stay
/// bearable: an explicit vector operation is then a call of its own, fifty times as slow. The loops
/// take raw pointers because a bounds check in each step would cost more than the step; callers
/// vouch for the ranges that each function names.
enum FloatSums {
  /// Adding this to a number from 0 to 2^22 leaves the rounded number in the lowest bits, since a
  /// `Float` of that magnitude has no bits for fractions. Conversions that check for overflow cost
  /// more.
  private static let rounding: Float = 12_582_912

  /// Adds up rows, each byte times its row's weight.
  ///
  /// - Parameters:
  ///   - rows: `count` rows of `byteCount` bytes, `rowBytes` apart; a cubic needs at most four.
  ///   - weights: Four, those of missing rows 0.
  ///   - sums: Room for `byteCount` numbers.
  @inline(never)
  static func addRows(
    _ rows: UnsafeRawPointer, rowBytes: Int, weights: UnsafePointer<Float>, count: Int,
    sums: UnsafeMutablePointer<Float>, byteCount: Int
  ) {
    assert(count <= 4)
    let row0 = rows.assumingMemoryBound(to: UInt8.self)
    let row1 = count > 1 ? row0 + rowBytes : row0
    let row2 = count > 2 ? row1 + rowBytes : row0
    let row3 = count > 3 ? row2 + rowBytes : row0
    let (weight0, weight1, weight2, weight3) = (weights[0], weights[1], weights[2], weights[3])
    var column = 0
    while column < byteCount {
      let upper = Float(row0[column]) * weight0 + Float(row1[column]) * weight1
      let lower = Float(row2[column]) * weight2 + Float(row3[column]) * weight3
      sums[column] = upper + lower
      column &+= 1
    }
  }

  /// Adds integer sums to `sums`, or replaces `sums` by them.
  @inline(never)
  static func add(
    _ fixed: UnsafePointer<UInt16>, unit: Float, isFirst: Bool, sums: UnsafeMutablePointer<Float>,
    count: Int
  ) {
    let factor = 1 / unit
    let kept: Float = isFirst ? 0 : 1
    var column = 0
    while column < count {
      sums[column] = sums[column] * kept + Float(fixed[column]) * factor
      column &+= 1
    }
  }

  /// Makes output pixels of four channels from sums of rows.
  ///
  /// - Parameters:
  ///   - row: Four sums for each pixel of `axis.sourceRange`.
  ///   - axis: Source pixels and weights of each output pixel.
  ///   - hasAlpha: Whether the fourth channel bounds the others.
  ///   - output: Room for four bytes for each output pixel.
  @inline(never)
  static func addPixels(
    _ row: UnsafePointer<Float>, _ axis: borrowing ResamplingAxis, hasAlpha: Bool,
    output: UnsafeMutablePointer<UInt8>
  ) {
    let (count, taps, stride, allWeights) = (axis.count, axis.taps, axis.stride, axis.weights)
    let row = row - axis.sourceRange.lowerBound &* 4
    var index = 0
    while index < count {
      var pixel = row + taps[index].first &* 4
      let weights = allWeights + index &* stride
      let tapCount = taps[index].count
      var blue: Float = 0
      var green: Float = 0
      var red: Float = 0
      var alpha: Float = 0
      var tap = 0
      while tap < tapCount {
        let weight = weights[tap]
        blue += pixel[0] * weight
        green += pixel[1] * weight
        red += pixel[2] * weight
        alpha += pixel[3] * weight
        pixel += 4
        tap &+= 1
      }
      var limit: Float = 255
      if hasAlpha {
        // Where a cubic overshoots beyond opaque, so do the colours there, by the same factor.
        let excess = alpha > 255 ? 255 / alpha : 1
        blue *= excess
        green *= excess
        red *= excess
        // A colour brighter than its alpha would glow through everything that it is drawn upon.
        limit = bounded(alpha, 255)
      }
      let bytes = output + index &* 4
      bytes[0] = byte(bounded(blue, limit))
      bytes[1] = byte(bounded(green, limit))
      bytes[2] = byte(bounded(red, limit))
      bytes[3] = byte(bounded(alpha, 255))
      index &+= 1
    }
  }

  /// Makes output pixels of one channel from sums of rows.
  ///
  /// - Parameters:
  ///   - row: A sum for each pixel of `axis.sourceRange`, and three numbers behind.
  ///   - axis: Source pixels and weights of each output pixel.
  ///   - output: Room for a byte for each output pixel.
  @inline(never)
  static func addPixels(
    _ row: UnsafePointer<Float>, _ axis: borrowing ResamplingAxis,
    output: UnsafeMutablePointer<UInt8>
  ) {
    let (count, taps, stride, allWeights) = (axis.count, axis.taps, axis.stride, axis.weights)
    let row = row - axis.sourceRange.lowerBound
    var index = 0
    while index < count {
      let pixels = row + taps[index].first
      let weights = allWeights + index &* stride
      let tapCount = taps[index].count
      // Four sums, since each addition waits for the one before. Weights behind the last are zero.
      var sum0: Float = 0
      var sum1: Float = 0
      var sum2: Float = 0
      var sum3: Float = 0
      var tap = 0
      while tap < tapCount {
        sum0 += pixels[tap] * weights[tap]
        sum1 += pixels[tap &+ 1] * weights[tap &+ 1]
        sum2 += pixels[tap &+ 2] * weights[tap &+ 2]
        sum3 += pixels[tap &+ 3] * weights[tap &+ 3]
        tap &+= 4
      }
      output[index] = byte(bounded((sum0 + sum2) + (sum1 + sum3), 255))
      index &+= 1
    }
  }

  @inline(__always)
  private static func bounded(_ value: Float, _ limit: Float) -> Float {
    let positive = value > 0 ? value : 0
    return positive < limit ? positive : limit
  }

  @inline(__always)
  private static func byte(_ value: Float) -> UInt8 {
    UInt8(truncatingIfNeeded: (value + rounding).bitPattern)
  }
}
