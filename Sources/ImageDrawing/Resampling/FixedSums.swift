internal import CMemoryHints

/// The two halves of resampling in 16-bit integers: weighted sums of rows of bytes, then of
/// neighbouring pixels in what comes out.
///
/// These loops take most of the time of a drawing. They work on raw pointers because a bounds check
/// in each step would cost more than the step; callers vouch for the ranges that each one names.
enum FixedSums {
  /// Adds up rows, each byte times its row's weight.
  ///
  /// - Parameters:
  ///   - rows: `count` rows of `byteCount` bytes, `rowBytes` apart.
  ///   - weights: `count` of them, at most ``FixedWeights/chunk``.
  ///   - following: How many rows behind those come next. They are brought into the cache meanwhile:
  ///     a decoded picture lies in memory farther away, and waiting for it took a third of the time.
  ///   - sums: Room for `byteCount` numbers.
  @inline(never)
  static func addRows(
    _ rows: UnsafeRawPointer, rowBytes: Int, weights: UnsafePointer<UInt16>, count: Int,
    following: Int, sums: UnsafeMutablePointer<UInt16>, byteCount: Int
  ) {
    // Of each product half of its last bit is lost on average.
    let lost = UInt16(truncatingIfNeeded: count &>> 1)
    let output = UnsafeMutableRawPointer(sums)
    var column = 0
    // Four times sixteen columns fill the registers and share the step to the next row.
    while column &+ 64 <= byteCount {
      var sums0 = Sixteen(repeating: lost)
      var sums1 = sums0
      var sums2 = sums0
      var sums3 = sums0
      var row = rows + column
      for index in 0..<count {
        let weight = SIMD8<UInt32>(repeating: UInt32(weights[index]))
        sums0.add(row, weight)
        sums1.add(row + 16, weight)
        sums2.add(row + 32, weight)
        sums3.add(row + 48, weight)
        row += rowBytes
      }
      for _ in 0..<following {
        fic_expect(row)
        row += rowBytes
      }
      let target = output + column &* 2
      sums0.store(target)
      sums1.store(target + 32)
      sums2.store(target + 64)
      sums3.store(target + 96)
      column &+= 64
    }
    while column &+ 16 <= byteCount {
      var sums = Sixteen(repeating: lost)
      for index in 0..<count {
        let weight = SIMD8<UInt32>(repeating: UInt32(weights[index]))
        sums.add(rows + (index &* rowBytes &+ column), weight)
      }
      sums.store(output + column &* 2)
      column &+= 16
    }
    while column < byteCount {
      var sum = lost
      for index in 0..<count {
        let value = UInt32(rows.load(fromByteOffset: index &* rowBytes &+ column, as: UInt8.self))
        sum &+= UInt16(truncatingIfNeeded: (value &* UInt32(weights[index])) &>> 8)
      }
      sums[column] = sum
      column &+= 1
    }
  }

  /// Makes output pixels of four channels from sums of rows.
  ///
  /// - Parameters:
  ///   - row: Four sums for each pixel of `axis.sourceRange`, and four numbers behind.
  ///   - axis: Which source pixels each output pixel is made of.
  ///   - pairs: Their weights.
  ///   - output: Room for four bytes for each output pixel.
  @inline(never)
  static func addPixels(
    _ row: UnsafePointer<UInt16>, _ axis: borrowing ResamplingAxis,
    _ pairs: borrowing FixedPairs, output: UnsafeMutableRawPointer
  ) {
    let (taps, stride, weights) = (axis.taps, pairs.stride, pairs.weights)
    let row = UnsafeRawPointer(row - axis.sourceRange.lowerBound &* 4)
    for index in 0..<axis.count {
      let count = taps[index].count
      var pixels = row + taps[index].first &* 8
      var weight = weights + index &* stride
      var sum = SIMD8<UInt16>()
      for _ in 0..<(count &+ 1) &>> 1 {
        sum &+= product(pixels.loadUnaligned(as: SIMD8<UInt16>.self), weight.pointee)
        pixels += 16
        weight += 1
      }
      let rounding = SIMD4<UInt16>(repeating: 128 &+ UInt16(truncatingIfNeeded: count &>> 1))
      let steps = (sum.lowHalf &+ sum.highHalf &+ rounding) &>> 8
      output.storeBytes(
        of: SIMD4<UInt8>(truncatingIfNeeded: steps), toByteOffset: index &* 4,
        as: SIMD4<UInt8>.self)
    }
  }

  /// The sums of sixteen columns. Two vectors and not one of twice the width, in which the compiler
  /// does not recognise the product below.
  private struct Sixteen {
    private var low: SIMD8<UInt16>
    private var high: SIMD8<UInt16>

    @inline(__always)
    init(repeating value: UInt16) {
      low = SIMD8(repeating: value)
      high = low
    }

    @inline(__always)
    mutating func add(_ bytes: UnsafeRawPointer, _ weight: SIMD8<UInt32>) {
      let bytes = bytes.loadUnaligned(as: SIMD16<UInt8>.self)
      low &+= FixedSums.product(bytes.lowHalf, weight)
      high &+= FixedSums.product(bytes.highHalf, weight)
    }

    @inline(__always)
    func store(_ target: UnsafeMutableRawPointer) {
      target.storeBytes(of: low, as: SIMD8<UInt16>.self)
      target.storeBytes(of: high, toByteOffset: 16, as: SIMD8<UInt16>.self)
    }
  }

  // Both products are written so that the compiler recognises the one instruction for "the upper
  // half of a product of 16-bit numbers", which Swift's vectors have no name for.

  @inline(__always)
  private static func product(_ bytes: SIMD8<UInt8>, _ weight: SIMD8<UInt32>) -> SIMD8<UInt16> {
    let raised = SIMD8<UInt32>(truncatingIfNeeded: bytes) &<< 8
    return SIMD8<UInt16>(truncatingIfNeeded: (raised &* weight) &>> 16)
  }

  @inline(__always)
  private static func product(_ a: SIMD8<UInt16>, _ b: SIMD8<UInt16>) -> SIMD8<UInt16> {
    let whole = SIMD8<UInt32>(truncatingIfNeeded: a) &* SIMD8<UInt32>(truncatingIfNeeded: b)
    return SIMD8<UInt16>(truncatingIfNeeded: whole &>> 16)
  }
}
