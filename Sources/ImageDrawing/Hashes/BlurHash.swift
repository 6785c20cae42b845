public import Pixels

extension Bitmap {
  /// Draws the placeholder that a BlurHash describes: an image as a few waves of colour.
  ///
  /// ```swift
  /// let blurred = try Bitmap(blurHash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj", size: PixelSize(width: 32, height: 24))
  /// ```
  ///
  /// The format is that of [woltapp/blurhash](https://github.com/woltapp/blurhash). The result is in
  /// ``PixelFormat/bgrx32`` and sRGB. Cost: less than 0.2 ms for 32 x 32 pixels, and in proportion to the pixels.
  ///
  /// - Parameters:
  ///   - blurHash: As servers send it, without spaces.
  ///   - size: In pixels, in the proportions of the image, which the hash does not tell.
  /// - Throws: ``BitmapError/invalidHash(_:)``, ``BitmapError/invalidSize(_:)``,
  ///   ``BitmapError/outOfMemory(byteCount:)``.
  public init(blurHash: String, size: PixelSize) throws(BitmapError) {
    guard let series = BlurHash.series(of: blurHash) else { throw .invalidHash(blurHash) }
    try self.init(series, size: size, format: .bgrx32) { light in
      func byte(_ light: Double) -> UInt8 {
        UInt8((SRGBCurve.number(of: max(0, min(1, light))) * 255).rounded())
      }
      return SIMD4(byte(light.z), byte(light.y), byte(light.x), 255)
    }
  }
}

private enum BlurHash {
  /// The digits from 0 to 82.
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

  /// The red, green and blue light of a hash; `nil` for text that no encoder writes.
  static func series(of text: String) -> CosineSeries? {
    // That of nine waves in each direction; a server may send any text.
    guard text.utf8.count <= 166 else { return nil }
    let values = text.utf8.compactMap { digits.firstIndex(of: $0) }
    guard values.count == text.utf8.count, values.count >= 6 else { return nil }
    var series = CosineSeries(columns: values[0] % 9 + 1, rows: values[0] / 9 + 1, shift: 0)
    guard series.rows <= 9, values.count == 4 + 2 * series.terms.count else { return nil }

    let mean = values[2..<6].reduce(0) { $0 * 83 + $1 }
    guard mean < 1 << 24 else { return nil }
    func light(_ byte: Int) -> Double { SRGBCurve.light(of: Double(byte & 255) / 255) }
    series.terms[0] = SIMD4(light(mean >> 16), light(mean >> 8), light(mean), 0)

    let largest = Double(values[1] + 1) / 166
    func term(_ level: Int) -> Double {
      let part = Double(level - 9) / 9
      return part * abs(part) * largest
    }
    for index in 1..<series.terms.count {
      let levels = values[4 + 2 * index] * 83 + values[5 + 2 * index]
      guard levels < 19 * 19 * 19 else { return nil }
      series.terms[index] = SIMD4(
        term(levels / 361), term(levels / 19 % 19), term(levels % 19), 0)
    }
    return series
  }
}
