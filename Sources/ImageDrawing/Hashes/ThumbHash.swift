public import Pixels

extension Bitmap {
  /// Draws the placeholder that a ThumbHash describes: the whole image as a few waves of colour, with its
  /// transparency, in about its proportions, 32 pixels along the longer side.
  ///
  /// ```swift
  /// let hash = Data(base64Encoded: "1QcSHQRnh493V4dIh4eXh1h4kJUI") ?? Data()
  /// let blurred = try Bitmap(thumbHash: hash)
  /// ```
  ///
  /// The format is that of [evanw/thumbhash](https://github.com/evanw/thumbhash). The result is in sRGB, and in
  /// ``PixelFormat/bgra32`` where the hash has transparency, else in ``PixelFormat/bgrx32``. Cost: less than 0.2 ms.
  ///
  /// - Parameter thumbHash: Some 25 bytes. Bytes behind the last term are ignored.
  /// - Throws: ``BitmapError/invalidHash(_:)``, ``BitmapError/outOfMemory(byteCount:)``.
  public init(thumbHash: some Sequence<UInt8>) throws(BitmapError) {
    let bytes = Array(thumbHash.prefix(ThumbHash.largestByteCount))
    guard let hash = ThumbHash(bytes) else { throw .invalidHash("\(bytes)") }
    let format: PixelFormat = hash.hasAlpha ? .bgra32 : .bgrx32
    try self.init(hash.series, size: hash.size, format: format) { value in
      // As the reference does: luminance, yellow less blue, red less green; cut and not rounded.
      func byte(_ number: Double) -> UInt8 { UInt8(max(0, min(1, number)) * 255) }
      let blue = value.x - 2 / 3 * value.y
      let red = (3 * value.x - blue + value.z) / 2
      let alpha = byte(value.w)
      func product(_ number: Double) -> UInt8 {
        UInt8((Int(byte(number)) * Int(alpha) * 2 + 255) / 510)
      }
      return SIMD4(product(blue), product(red - value.z), product(red), alpha)
    }
  }

  /// The ThumbHash of the image; of a large one, of its scaled copy.
  package func makeThumbHash() throws(DrawingError) -> [UInt8] {
    let bound = PixelSize(width: ThumbHash.largestSide, height: ThumbHash.largestSide)
    let size = Drawing.stretch.outputSize(source: edges.fullSize, slot: bound, upTo: true)
    guard let layout = PixelLayout(size: size, format: .bgra32) else { throw .outOfMemory }
    let pixels = try ScratchMemory(byteCount: layout.byteCount)
    try Drawing.stretch.draw(
      self, into: UnsafeMutableRawBufferPointer(start: pixels.bytes, count: layout.byteCount),
      layout: layout, scale: 1, upTo: true, isCancelled: { false })
    return ThumbHash(size) { x, y in
      let pixel = pixels.bytes.load(
        fromByteOffset: y * layout.rowBytes + x * 4, as: SIMD4<UInt8>.self)
      // A colour above its alpha counts as the alpha.
      return SIMD4<Double>(pointwiseMin(pixel, SIMD4(repeating: pixel.w))) / 255
    }.bytes
  }
}

/// The terms of a hash as numbers, and the bits that they are packed into.
private struct ThumbHash {
  /// More pixels make no other hash.
  static let largestSide = 100

  /// Of a header of six bytes, and a half for each wave.
  static let largestByteCount = 6 + (7 * 7 + 3 * 3 * 2 + 5 * 5) / 2

  let hasAlpha: Bool

  /// Luminance, yellow less blue, red less green, and alpha.
  private(set) var series: CosineSeries

  /// The half waves of luminance over each side; the longer side has five where there is alpha, else seven.
  private let waves: (x: Int, y: Int)

  private let isLandscape: Bool

  /// The orders of the waves of each channel but its mean, as they follow each other in a hash.
  private var channels: [[(x: Int, y: Int)]] {
    let sides = [(max(3, waves.x), max(3, waves.y)), (3, 3), (3, 3)] + (hasAlpha ? [(5, 5)] : [])
    return sides.map { (columns, rows) in
      (0..<rows).flatMap { y in
        (0..<columns).filter { $0 * rows < columns * (rows - y) && ($0, y) != (0, 0) }
          .map { ($0, y) }
      }
    }
  }

  private init(hasAlpha: Bool, isLandscape: Bool, waves: (x: Int, y: Int)) {
    (self.hasAlpha, self.isLandscape, self.waves) = (hasAlpha, isLandscape, waves)
    series = CosineSeries(columns: 7, rows: 7, shift: 0.5)
  }
}

extension ThumbHash {
  /// Reads a hash; `nil` for one that ends too early, or that tells no proportions.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 5 else { return nil }
    let header = bytes[..<5].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    func bits(_ start: Int, _ count: Int) -> Double {
      Double(header >> UInt64(start) & (1 << UInt64(count) - 1))
    }
    let (hasAlpha, isLandscape) = (header >> 23 & 1 == 1, header >> 39 == 1)
    let (longer, shorter) = (hasAlpha ? 5 : 7, Int(header >> 24 & 7))
    guard shorter > 0, !hasAlpha || bytes.count > 5 else { return nil }
    self.init(
      hasAlpha: hasAlpha, isLandscape: isLandscape,
      waves: isLandscape ? (longer, shorter) : (shorter, longer))

    let alpha = hasAlpha ? bytes[5] : 0xff
    series[0, 0] = SIMD4(
      bits(0, 6) / 63, bits(6, 6) / 31.5 - 1, bits(12, 6) / 31.5 - 1, Double(alpha & 15) / 15)
    // The reference makes colours more saturated, because small terms are lost.
    let scales = [
      bits(18, 5) / 31, bits(27, 6) / 63 * 1.25, bits(33, 6) / 63 * 1.25, Double(alpha >> 4) / 15,
    ]
    let packed = bytes.dropFirst(hasAlpha ? 6 : 5).flatMap { [$0 & 15, $0 >> 4] }
    var levels = packed.makeIterator()
    for (channel, orders) in channels.enumerated() {
      for (x, y) in orders {
        guard let level = levels.next() else { return nil }
        // Twice, because the mean of a squared wave is a half.
        series[x, y][channel] = 2 * scales[channel] * (Double(level) / 7.5 - 1)
      }
    }
  }

  /// The size that it is drawn at.
  var size: PixelSize {
    let (x, y) = (Double(waves.x), Double(waves.y))
    return x > y
      ? PixelSize(width: 32, height: Int((32 * y / x).rounded()))
      : PixelSize(width: Int((32 * x / y).rounded()), height: 32)
  }
}

extension ThumbHash {
  /// Measures an image.
  ///
  /// - Parameters:
  ///   - size: At most ``largestSide`` on each side.
  ///   - pixel: Blue, green, red and alpha from 0 to 1, multiplied by alpha.
  init(_ size: PixelSize, pixel: (_ x: Int, _ y: Int) -> SIMD4<Double>) {
    var sum = SIMD4<Double>.zero
    for y in 0..<size.height {
      for x in 0..<size.width { sum += pixel(x, y) }
    }
    let hasAlpha = sum.w < Double(size.width * size.height)
    let mean = sum.w > 0 ? sum / sum.w : .zero
    let longer = Double(max(size.width, size.height)) / (hasAlpha ? 5 : 7)
    func waves(_ side: Int) -> Int { max(1, Int((Double(side) / longer).rounded())) }
    self.init(
      hasAlpha: hasAlpha, isLandscape: size.width > size.height,
      waves: (waves(size.width), waves(size.height)))
    series.measure(size) { x, y in
      let own = pixel(x, y)
      // Transparent parts show the mean colour, which adds no wave.
      let color = own + mean * (1 - own.w)
      let (blue, green, red) = (color.x, color.y, color.z)
      return SIMD4((red + green + blue) / 3, (red + green) / 2 - blue, red - green, own.w)
    }
  }

  /// The hash as bytes.
  var bytes: [UInt8] {
    func level(_ number: Double, _ largest: Double) -> UInt64 {
      UInt64((number * largest).rounded())
    }
    let scales = channels.enumerated().map { channel, orders in
      orders.map { abs(series[$0.x, $0.y][channel]) }.max() ?? 0
    }
    let mean = series[0, 0]
    var header = level(mean.x, 63)
    header |= level(1 + mean.y, 31.5) << 6
    header |= level(1 + mean.z, 31.5) << 12
    header |= level(scales[0], 31) << 18
    header |= (hasAlpha ? 1 : 0) << 23
    header |= UInt64(isLandscape ? waves.y : waves.x) << 24
    header |= level(scales[1], 63) << 27
    header |= level(scales[2], 63) << 33
    header |= (isLandscape ? 1 : 0) << 39
    var bytes = (0..<5).map { UInt8(truncatingIfNeeded: header >> ($0 * 8)) }
    if hasAlpha { bytes.append(UInt8(level(mean.w, 15) | level(scales[3], 15) << 4)) }

    let levels = zip(channels, scales).enumerated().flatMap { channel, terms in
      terms.0.map { order in
        terms.1 > 0 ? level(0.5 + 0.5 * series[order.x, order.y][channel] / terms.1, 15) : 0
      }
    }
    for start in stride(from: 0, to: levels.count, by: 2) {
      bytes.append(UInt8(levels[start] | (start + 1 < levels.count ? levels[start + 1] << 4 : 0)))
    }
    return bytes
  }
}
