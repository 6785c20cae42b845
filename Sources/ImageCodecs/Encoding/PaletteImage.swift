import Pixels

/// An image of at most 256 colours, and for each pixel the number of one of them.
struct PaletteImage {
  /// Pixels of ``PixelFormat/bgra32``, as integers with blue in the lowest byte.
  private(set) var colors: [UInt32] = []
  /// One byte a pixel.
  let indices: Bitmap

  init(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, colorCount: Int
  ) throws(ImageEncodingError) {
    if let known = try Self.colors(pixels, layout, atMost: colorCount) {
      colors = known.keys.sorted()
      let numbers = Dictionary(uniqueKeysWithValues: zip(colors, UInt8(0)...UInt8(255)))
      indices = try Self.number(pixels, layout) { numbers[$0] ?? 0 }
      return
    }
    var groups = ColorGroups()
    var counts = try groups.counts(pixels, layout)
    let used = counts.indices.filter { counts[$0] > 0 }
    if used.count < colorCount {
      groups = ColorGroups(dividing: used)
      counts = try groups.counts(pixels, layout)
    }
    var numbers = [UInt8](repeating: 0, count: ColorGroups.count)
    let boxes = MedianCut.boxes(of: counts, atMost: colorCount, level: groups.level)
    for (number, box) in boxes.enumerated() {
      for group in box { numbers[group] = UInt8(number) }
    }
    var sums = [SIMD4<Int>](repeating: .zero, count: boxes.count)
    indices = try Self.number(pixels, layout) { color in
      let number = numbers[groups.number(color)]
      sums[Int(number)] &+= SIMD4(truncatingIfNeeded: Self.channels(color))
      return number
    }
    colors = zip(boxes, sums).map { box, sum in
      let count = box.reduce(0) { $0 + counts[$1] }
      let mean = (sum &+ SIMD4(repeating: count / 2)) / SIMD4(repeating: count)
      return (0..<4).reduce(0) { $0 | UInt32(mean[$1]) << UInt32(8 * $1) }
    }
  }

  /// The image with its colours in each pixel.
  func bitmap(_ colorSpace: ColorSpace) throws(ImageEncodingError) -> Bitmap {
    let hasAlpha = colors.contains { $0 >> 24 < 255 }
    return try .encoding(indices.layout, hasAlpha ? .bgra32 : .bgrx32, colorSpace) {
      target, layout in
      indices.withUnsafeBytes { source in
        for y in 0..<layout.size.height {
          for x in 0..<layout.size.width {
            let color = colors[Int(source[y * indices.layout.rowBytes + x])]
            target.storeBytes(
              of: color.littleEndian, toByteOffset: y * layout.rowBytes + 4 * x, as: UInt32.self)
          }
        }
      }
    }
  }

  /// The image's colours; `nil` where there are more.
  private static func colors(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, atMost limit: Int
  ) throws(ImageEncodingError) -> [UInt32: Void]? {
    var known: [UInt32: Void] = [:]
    var last: UInt32?
    try forEachPixel(pixels, layout) { color in
      guard color != last, known.count <= limit else { return }
      (known[color], last) = ((), color)
    }
    return known.count <= limit ? known : nil
  }

  private static func number(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ number: (UInt32) -> UInt8
  ) throws(ImageEncodingError) -> Bitmap {
    try .encoding(layout, .gray8, .sRGB) { target, result throws(ImageEncodingError) in
      var (x, y) = (0, 0)
      try forEachPixel(pixels, layout) { color in
        target[y * result.rowBytes + x] = number(color)
        x += 1
        if x == layout.size.width { (x, y) = (0, y + 1) }
      }
    }
  }

  static func forEachPixel(
    _ pixels: UnsafeRawBufferPointer, _ layout: PixelLayout, _ body: (UInt32) -> Void
  ) throws(ImageEncodingError) {
    try layout.forEachRow(of: pixels) { _, row in
      let row = row.assumingMemoryBound(to: UInt32.self)
      for x in 0..<layout.size.width { body(UInt32(littleEndian: row[x])) }
    }
  }

  private static func channels(_ color: UInt32) -> SIMD4<UInt8> {
    SIMD4(truncatingIfNeeded: SIMD4<UInt32>(color, color >> 8, color >> 16, color >> 24))
  }
}
