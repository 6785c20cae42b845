import Pixels

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A sum of cosine waves in two directions, for four channels at once: what both kinds of hashes describe.
struct CosineSeries {
  /// Half waves over the whole width of the highest term, plus one.
  let columns: Int

  /// The same over the height.
  let rows: Int

  /// Where in a pixel the waves are taken, from 0, at its left or upper edge, to 1.
  let shift: Double

  /// Row by row.
  var terms: [SIMD4<Double>]

  init(columns: Int, rows: Int, shift: Double) {
    (self.columns, self.rows, self.shift) = (columns, rows, shift)
    terms = Array(repeating: .zero, count: columns * rows)
  }

  subscript(_ column: Int, _ row: Int) -> SIMD4<Double> {
    get { terms[row * columns + column] }
    set { terms[row * columns + column] = newValue }
  }

  /// The values at the pixels of an image, row by row.
  func draw(_ size: PixelSize, _ write: (_ x: Int, _ y: Int, _ value: SIMD4<Double>) -> Void) {
    let across = waves(columns, over: size.width)
    let down = waves(rows, over: size.height)
    var line = Array(repeating: SIMD4<Double>.zero, count: columns)
    for y in 0..<size.height {
      for column in 0..<columns {
        line[column] = .zero
        for row in 0..<rows { line[column] += self[column, row] * down[y * rows + row] }
      }
      for x in 0..<size.width {
        var value = SIMD4<Double>.zero
        for column in 0..<columns { value += line[column] * across[x * columns + column] }
        write(x, y, value)
      }
    }
  }

  /// Sets each term to the mean of the pixels times its wave.
  mutating func measure(_ size: PixelSize, _ read: (_ x: Int, _ y: Int) -> SIMD4<Double>) {
    let across = waves(columns, over: size.width)
    let down = waves(rows, over: size.height)
    let share = 1 / Double(size.width * size.height)
    for y in 0..<size.height {
      var line = Array(repeating: SIMD4<Double>.zero, count: columns)
      for x in 0..<size.width {
        let value = read(x, y)
        for column in 0..<columns { line[column] += value * across[x * columns + column] }
      }
      for row in 0..<rows {
        for column in 0..<columns {
          self[column, row] += line[column] * (down[y * rows + row] * share)
        }
      }
    }
  }

  /// The waves at each pixel of a side, those of one pixel together.
  private func waves(_ count: Int, over length: Int) -> [Double] {
    (0..<length).flatMap { position in
      (0..<count).map { cos(.pi * (Double(position) + shift) * Double($0) / Double(length)) }
    }
  }
}

extension Bitmap {
  /// Draws the pixels of a hash in sRGB.
  ///
  /// - Parameter color: Makes blue, green, red and alpha, multiplied by it, of a value.
  init(
    _ series: CosineSeries, size: PixelSize, format: PixelFormat,
    color: (SIMD4<Double>) -> SIMD4<UInt8>
  ) throws(BitmapError) {
    guard let layout = PixelLayout(size: size, format: format) else { throw .invalidSize(size) }
    let bitmap = Bitmap(unfilled: layout) { bytes in
      series.draw(size) { x, y, value in
        bytes.storeBytes(
          of: color(value), toByteOffset: y * layout.rowBytes + x * 4, as: SIMD4<UInt8>.self)
      }
    }
    guard let bitmap else { throw .outOfMemory(byteCount: layout.byteCount) }
    self = bitmap
  }
}
