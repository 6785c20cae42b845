internal import CResampling

/// The weights of a triangle as 16-bit integers, for sums that vectors of eight 16-bit lanes hold.
///
/// A product is the upper half of a byte times 256 times such a weight, for which x86 has one
/// instruction; the sum of ``chunk`` products fits 16 bits. Each product drops less than its last
/// bit, 1/256 of a colour step, and the loops put back the half of it that is dropped on average.
/// With the rounding of sixteen weights that leaves a sum at most 1/16 of a step off.
struct FixedWeights: ~Copyable {
  /// The most products in one sum: more could overflow it, or make the dropped bits matter.
  static let chunk = 16

  /// One for each weight of the axis, in the same order; freed by `deinit`, so valid as long as
  /// this value lives.
  let weights: UnsafeMutablePointer<UInt16>

  /// One colour step in the sums of each output pixel.
  let units: UnsafeMutablePointer<Float>

  /// Whether one chunk is enough for every output pixel. The unit is then near enough to 256.
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

/// ``FixedWeights`` of a single chunk, laid out for the loops over pixels of four channels.
struct PixelWeights: ~Copyable {
  /// For the loops; points into `memory`, so it is valid as long as this value lives.
  let table: fic_pixel_weights

  private let memory: ScratchMemory

  init(_ axis: borrowing ResamplingAxis, _ fixed: borrowing FixedWeights) throws(DrawingError) {
    let groups = (axis.count + 3) / 4
    // Pairs of taps have room for the axis's stride, a multiple of four.
    let stride = 16 + axis.stride / 2 * 32
    let vectorBytes = groups * stride * MemoryLayout<UInt16>.stride
    let startBytes = groups * 4 * MemoryLayout<UInt32>.stride
    memory = try ScratchMemory(
      byteCount: vectorBytes + startBytes + groups * MemoryLayout<UInt32>.stride)
    let vectors = memory.bytes.bindMemory(to: UInt16.self, capacity: groups * stride)
    let starts = (memory.bytes + vectorBytes).bindMemory(to: UInt32.self, capacity: groups * 4)
    let pairCounts = (memory.bytes + vectorBytes + startBytes)
      .bindMemory(to: UInt32.self, capacity: groups)

    for index in 0..<groups * 4 {
      let pixel = min(index, axis.count - 1)
      let taps = axis.taps[pixel]
      let group = index / 4
      starts[index] = UInt32((taps.first - axis.sourceRange.lowerBound) * 4)
      pairCounts[group] = max(pairCounts[group], UInt32((taps.count + 1) / 2))
      guard index < axis.count else { continue }
      Self.write(
        fixed.weights + pixel * axis.stride, taps.count, to: vectors + group * stride, index % 4)
    }
    table = fic_pixel_weights(
      starts: starts, pair_counts: pairCounts, vectors: vectors, stride: stride, count: axis.count)
  }

  /// Writes the numbers of one pixel of a group between those of the others.
  private static func write(
    _ weights: UnsafePointer<UInt16>, _ count: Int, to vectors: UnsafeMutablePointer<UInt16>,
    _ pixel: Int
  ) {
    for channel in 0..<4 {
      // Half a colour step, and half of the last bit that each product drops.
      vectors[pixel * 4 + channel] = 128 + UInt16(count / 2)
      for tap in 0..<count {
        vectors[16 + tap / 2 * 32 + pixel * 8 + tap % 2 * 4 + channel] = weights[tap]
      }
    }
  }
}
