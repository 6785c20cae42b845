/// The colours that a PNG file names by numbers; PNG, third edition, section 11.3.2.
///
/// Of several chunks of one kind the first that can be read counts, as in browsers.
struct PNGColors {
  /// Numbers of ITU-T H.273 for the lights and the curve, of colours in full range.
  private(set) var code: (primaries: Int, transfer: Int)?
  private(set) var isSRGB = false
  /// The exponent that leads from light to numbers, in 100 000ths; more than zero.
  private(set) var gamma: Int?
  /// x and y of white, red, green and blue, in 100 000ths.
  private(set) var chromaticities: [Int]?

  /// Reads a chunk before the pixels.
  mutating func read(_ content: Range<Int>, _ bytes: RawSpan) {
    let (start, name) = (content.lowerBound, content.lowerBound - 4)
    func isChunk(_ text: StaticString, of byteCount: Int) -> Bool {
      bytes.has(text, at: name) && content.count == byteCount
        && PNGChecksum.isRight(content, bytes)
    }
    if code == nil, isChunk("cICP", of: 4) {
      // Neither luma and chroma nor a narrow range are for PNG.
      guard bytes.bigEndian16(at: start + 2) == 1 else { return }
      code = bytes.bigEndian16(at: start).map { ($0 >> 8, $0 & 255) }
    } else if !isSRGB, isChunk("sRGB", of: 1) {
      // The number is a rendering intent.
      isSRGB = bytes.byte(at: start).map { $0 <= 3 } ?? false
    } else if gamma == nil, isChunk("gAMA", of: 4) {
      gamma = bytes.bigEndian32(at: start).flatMap { $0 > 0 ? $0 : nil }
    } else if chromaticities == nil, isChunk("cHRM", of: 32) {
      chromaticities = (0..<8).compactMap { bytes.bigEndian32(at: start + 4 * $0) }
    }
  }
}
