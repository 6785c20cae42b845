internal import CResampling
import Pixels

/// Scales a part of a bitmap, one output row at a time, in two passes: rows first, because summing
/// whole rows is the cheaper half and leaves fewer of them, then the pixels of the sum.
///
/// Works in the numbers that the bitmap holds, colours multiplied by alpha, so that transparent
/// pixels weigh nothing.
struct Resampler: ~Copyable {
  /// Bytes of one output pixel: those of the source.
  let bytesPerPixel: Int

  private let columns: ResamplingAxis
  private let rows: ResamplingAxis
  private let fixedRows: FixedWeights?
  private let fixedColumns: PixelWeights?
  private let loops: fic_loops
  private let layout: PixelLayout

  /// A float, and a 16-bit integer, for each byte of the source columns in use. Behind them loops
  /// read numbers that weigh nothing: four floats, and the integers of a stride of pixels.
  private let sums: ScratchMemory
  private let fixedSums: ScratchMemory

  /// Creates a resampler for sources of one layout.
  ///
  /// - Parameters:
  ///   - layout: The source's; any format but ``PixelFormat/bgr16``.
  ///   - region: The part of the source that the output shows, in its pixels.
  ///   - limits: The part of the source to read. Pixels that its edges cut are read whole, and
  ///     weigh less when the image shrinks. Where the region goes beyond, the border's pixels are
  ///     repeated.
  ///   - size: The output's.
  ///   - interpolation: Where pixels come from.
  ///   - loops: The loops for 16-bit integers; all kinds make the same bytes.
  init(
    layout: PixelLayout, region: Canvas.Rect, limits: Canvas.Rect, size: PixelSize,
    _ interpolation: Canvas.Interpolation = .smooth, loops: fic_loops = fic_widest_loops()
  ) throws(DrawingError) {
    // Everything that can fail comes before the first stored property: the compiler cannot take
    // apart a half made value whose parts cannot be copied.
    let columns = try ResamplingAxis(
      origin: region.x, step: region.width / Double(size.width), count: size.width,
      limits: limits.x..<limits.maxX, available: layout.size.width, interpolation)
    let rows = try ResamplingAxis(
      origin: region.y, step: region.height / Double(size.height), count: size.height,
      limits: limits.y..<limits.maxY, available: layout.size.height, interpolation)
    let fixedRows = rows.isSigned ? nil : try FixedWeights(rows)
    let fixedColumns = try Self.fixedColumns(columns, fixedRows, layout.format)
    let sumCount = columns.sourceRange.count * layout.format.bytesPerPixel + 4
    let fixedSumCount = sumCount + columns.stride * layout.format.bytesPerPixel
    let sums = try ScratchMemory(byteCount: sumCount * MemoryLayout<Float>.stride)
    let fixedSums = try ScratchMemory(byteCount: fixedSumCount * MemoryLayout<UInt16>.stride)

    self.layout = layout
    bytesPerPixel = layout.format.bytesPerPixel
    self.columns = columns
    self.rows = rows
    self.fixedRows = fixedRows
    self.fixedColumns = fixedColumns
    self.loops = loops
    self.sums = sums
    self.fixedSums = fixedSums
  }

  /// The columns' weights in integers, if one chunk is enough in both directions.
  private static func fixedColumns(
    _ columns: borrowing ResamplingAxis, _ fixedRows: borrowing FixedWeights?,
    _ format: PixelFormat
  ) throws(DrawingError) -> PixelWeights? {
    switch fixedRows {
    case .some(let rows):
      guard rows.isSingleChunk, !columns.isSigned, format.bytesPerPixel == 4 else { return nil }
      let weights = try FixedWeights(columns)
      return weights.isSingleChunk ? try PixelWeights(columns, weights) : nil
    case .none:
      return nil
    }
  }

  /// Makes one row.
  ///
  /// - Parameters:
  ///   - index: From 0, the top row of the output.
  ///   - source: The bytes of a bitmap of the layout that was given.
  ///   - output: A source pixel's bytes for each column of the output.
  func writeRow(
    _ index: Int, of source: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer
  ) {
    guard let base = source.baseAddress else { return }
    let taps = rows.taps[index]
    let first =
      base + taps.first * layout.rowBytes + columns.sourceRange.lowerBound * bytesPerPixel
    if rows.isIdentity, columns.isIdentity {
      output.copyMemory(from: first, byteCount: columns.count * bytesPerPixel)
      return
    }
    let isDone = writeFixedRow(index, first, output)
    if isDone { return }
    let sums = sums.bytes.assumingMemoryBound(to: Float.self)
    sumRows(index, first, sums)
    let bytes = output.assumingMemoryBound(to: UInt8.self)
    if bytesPerPixel == 1 {
      FloatSums.addPixels(sums, columns, output: bytes)
    } else {
      FloatSums.addPixels(sums, columns, hasAlpha: layout.format.hasAlpha, output: bytes)
    }
  }

  /// Bytes of a source row in use.
  private var byteCount: Int { columns.sourceRange.count * bytesPerPixel }

  /// Makes a row in integers, if there are integer weights for both directions.
  private func writeFixedRow(
    _ index: Int, _ first: UnsafeRawPointer, _ output: UnsafeMutableRawPointer
  ) -> Bool {
    let sums = fixedSums.bytes.assumingMemoryBound(to: UInt16.self)
    switch fixedColumns {
    case .none:
      return false
    case .some(let weights):
      sumFixedRows(index, chunkAt: 0, first, sums)
      loops.add_pixels(sums, weights.table, output.assumingMemoryBound(to: UInt8.self))
      return true
    }
  }

  private func sumFixedRows(
    _ index: Int, chunkAt start: Int, _ first: UnsafeRawPointer,
    _ sums: UnsafeMutablePointer<UInt16>
  ) {
    switch fixedRows {
    case .none: return
    case .some(let fixed):
      let chunk = first + start * layout.rowBytes
      let weights = fixed.weights + index * rows.stride + start
      let count = min(FixedWeights.chunk, rows.taps[index].count - start)
      let following = rowsFollowing(rows.taps[index].first + start + count, of: index)
      loops.add_rows(
        chunk.assumingMemoryBound(to: UInt8.self), layout.rowBytes, weights, count, following, sums,
        byteCount)
    }
  }

  /// How many source rows from `row` on are still needed for this output row and the next one, up
  /// to a chunk of them.
  private func rowsFollowing(_ row: Int, of index: Int) -> Int {
    let next = rows.taps[min(index + 1, rows.count - 1)]
    return max(0, min(next.first + next.count - row, FixedWeights.chunk))
  }

  private func sumRows(
    _ index: Int, _ first: UnsafeRawPointer, _ sums: UnsafeMutablePointer<Float>
  ) {
    let count = rows.taps[index].count
    switch fixedRows {
    case .none:
      FloatSums.addRows(
        first, rowBytes: layout.rowBytes, weights: rows.weights + index * rows.stride,
        count: count, sums: sums, byteCount: byteCount)
    case .some(let fixed):
      let chunkSums = fixedSums.bytes.assumingMemoryBound(to: UInt16.self)
      for start in stride(from: 0, to: count, by: FixedWeights.chunk) {
        sumFixedRows(index, chunkAt: start, first, chunkSums)
        FloatSums.add(
          chunkSums, unit: fixed.units[index], isFirst: start == 0, sums: sums, count: byteCount)
      }
    }
  }
}
