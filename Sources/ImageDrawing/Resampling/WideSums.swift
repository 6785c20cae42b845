internal import CWideVectors

/// The same as ``FixedSums``, to the bit, in vectors of 32 bytes: less than half the time, on
/// processors that have them.
enum WideSums {
  /// Whether this processor does; otherwise nothing else here may be called.
  static let areAvailable = fic_has_wide_vectors()

  /// Adds up rows as ``FixedSums`` does.
  static func addRows(
    _ rows: UnsafeRawPointer, rowBytes: Int, weights: UnsafePointer<UInt16>, count: Int,
    following: Int, sums: UnsafeMutablePointer<UInt16>, byteCount: Int
  ) {
    fic_wide_add_rows(
      rows.assumingMemoryBound(to: UInt8.self), rowBytes, weights, count, following, sums,
      byteCount)
  }

  /// Makes output pixels of four channels from sums of rows.
  ///
  /// - Parameters:
  ///   - row: Four sums for each source pixel in use, and for ``WideWeights/overreach`` more.
  ///   - weights: Which source pixels each output pixel is made of, and their weights.
  ///   - output: Room for four bytes for each output pixel.
  static func addPixels(
    _ row: UnsafePointer<UInt16>, _ weights: borrowing WideWeights, output: UnsafeMutableRawPointer
  ) {
    weights.withTable {
      fic_wide_add_pixels(row, $0, weights.count, output.assumingMemoryBound(to: UInt8.self))
    }
  }
}

/// ``FixedWeights`` of a single chunk in the form that four output pixels at a time are made with.
struct WideWeights: ~Copyable {
  /// Pixels of the output.
  let count: Int

  /// How many source pixels behind those in use are read, weighing nothing: the one of four pixels
  /// with the most taps decides for all.
  let overreach: Int

  /// Pointers into `memory`.
  private let table: fic_wide_weights

  private let memory: ScratchMemory

  init(_ axis: borrowing ResamplingAxis, _ fixed: borrowing FixedWeights) throws(DrawingError) {
    let groups = (axis.count + 3) / 4
    // Weights behind the last tap are zero up to a multiple of four.
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
      let (group, place) = (index / 4, index % 4)
      starts[index] = UInt32((taps.first - axis.sourceRange.lowerBound) * 8)
      pairCounts[group] = max(pairCounts[group], UInt32((taps.count + 1) / 2))
      guard index < axis.count else { continue }
      Self.write(
        fixed.weights + pixel * axis.stride, taps.count, to: vectors + group * stride, place)
    }
    count = axis.count
    overreach = axis.stride
    table = fic_wide_weights(
      starts: starts, pair_counts: pairCounts, vectors: vectors, stride: stride)
  }

  /// Writes what belongs to one of four pixels between what belongs to the others.
  private static func write(
    _ weights: UnsafePointer<UInt16>, _ count: Int, to vectors: UnsafeMutablePointer<UInt16>,
    _ place: Int
  ) {
    // The rounding of ``FixedSums``; the second and third change places in the middle of the sum.
    let rounding = vectors + (place & 1) * 8 + (place & 2) * 2
    for channel in 0..<4 { rounding[channel] = 128 + UInt16(count / 2) }
    for tap in 0..<count {
      let vector = vectors + 16 + tap / 2 * 32 + place * 8 + tap % 2 * 4
      for channel in 0..<4 { vector[channel] = weights[tap] }
    }
  }

  fileprivate func withTable(_ body: (UnsafePointer<fic_wide_weights>) -> Void) {
    withUnsafePointer(to: table, body)
  }
}
