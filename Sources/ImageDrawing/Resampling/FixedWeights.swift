/// The weights of a triangle as 16-bit integers, for sums that vectors of eight 16-bit lanes hold.
///
/// A byte times 256 and such a weight, and of that the upper half, fits 16 bits; so does the sum of
/// ``chunk`` such products. x86 multiplies that way in one instruction. Each product drops less than
/// its last bit, 1/256 of a colour step; the half of it that is dropped on average is put back. With
/// the rounding of sixteen weights that leaves a sum at most 1/16 of a step off.
struct FixedWeights: ~Copyable {
  /// Products that are added before their dropped bits could matter or their sum overflow.
  static let chunk = 16

  /// As many for each output pixel, and in the same order, as in the axis; valid as long as this
  /// value lives, which frees them.
  let weights: UnsafeMutablePointer<UInt16>

  /// What a colour step is in the sums of each output pixel.
  let units: UnsafeMutablePointer<Float>

  /// Whether one chunk is enough for every output pixel. The unit is then 256 as near as matters.
  let isSingleChunk: Bool

  private let memory: ScratchMemory

  init(_ axis: borrowing ResamplingAxis) throws(DrawingError) {
    let unitBytes = axis.count * MemoryLayout<Float>.stride
    let total = axis.count * axis.stride
    memory = try ScratchMemory(byteCount: unitBytes + total * MemoryLayout<UInt16>.stride)
    units = memory.bytes.bindMemory(to: Float.self, capacity: axis.count)
    weights = (memory.bytes + unitBytes).bindMemory(to: UInt16.self, capacity: total)

    var isSingleChunk = true
    for index in 0..<axis.count {
      let offset = index * axis.stride
      let count = axis.taps[index].count
      let sum = Self.round(axis.weights + offset, to: weights + offset, count: count)
      units[index] = Float(sum) / 256
      isSingleChunk = isSingleChunk && count <= Self.chunk
    }
    self.isSingleChunk = isSingleChunk
  }

  /// Writes weights as large as the chunks' sums allow, which keeps the dropped bits small.
  ///
  /// - Returns: Their sum.
  private static func round(
    _ exact: UnsafePointer<Float>, to rounded: UnsafeMutablePointer<UInt16>, count: Int
  ) -> Int {
    var largestChunk: Float = 0
    for start in stride(from: 0, to: count, by: chunk) {
      var sum: Float = 0
      for tap in start..<min(start + chunk, count) { sum += exact[tap] }
      largestChunk = max(largestChunk, sum)
    }
    // Rounding may lift a chunk's sum above 2^16 by half a chunk. Products leave room for that,
    // twice over: the brightest byte is 255 of 256.
    let scale = 65_536 / largestChunk
    var sum = 0
    for tap in 0..<count {
      rounded[tap] = UInt16(min(65_535, (exact[tap] * scale).rounded()))
      sum += Int(rounded[tap])
    }
    return sum
  }
}

/// ``FixedWeights`` of a single chunk in the form that rows of four-channel pixels are multiplied
/// with: two pixels at a time.
struct FixedPairs: ~Copyable {
  /// Vectors from one output pixel to the next.
  let stride: Int

  /// The weight of one pixel four times, then of the next, or zero where there is none; valid as
  /// long as this value lives, which frees them.
  let weights: UnsafeMutablePointer<SIMD8<UInt16>>

  private let memory: ScratchMemory

  init(_ axis: borrowing ResamplingAxis, _ fixed: borrowing FixedWeights) throws(DrawingError) {
    // Weights behind the last tap are zero up to a multiple of four.
    stride = axis.stride / 2
    let total = axis.count * stride
    memory = try ScratchMemory(byteCount: total * MemoryLayout<SIMD8<UInt16>>.stride)
    weights = memory.bytes.bindMemory(to: SIMD8<UInt16>.self, capacity: total)
    for pair in 0..<total {
      let first = fixed.weights[2 * pair]
      let second = fixed.weights[2 * pair + 1]
      weights[pair] = SIMD8(first, first, first, first, second, second, second, second)
    }
  }
}
