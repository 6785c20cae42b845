import Pixels
import Testing

@testable import ImageDrawing

@Suite("The pixel format of a slot", .timeLimit(.minutes(10)))
struct PixelFormatTests {
  /// Every value of each channel, in different combinations.
  private func rainbow() throws -> Bitmap {
    try .colors(256, 3, .bgrx32) { x, y in
      let value = UInt8(x)
      switch y {
      case 0: return BGRA(value, value, value, 17)
      case 1: return BGRA(value, 255 - value, value ^ 0x5a, 0)
      default: return BGRA(value &* 7, value &* 13, value &* 29, 255)
      }
    }
  }

  private func halfTransparent() throws -> Bitmap {
    try .colors(256, 1) { x, _ in
      let alpha = UInt8(x)
      return BGRA(alpha / 2, alpha, alpha / 3, alpha)
    }
  }

  @Test("bgra32 is blue, green, red, alpha, and opaque for images without alpha")
  func bgra32() throws {
    let drawn = try Drawing.stretch.drawn(rainbow(), 256, 3, .bgra32)
    let source = try Drawing.stretch.drawn(halfTransparent(), 256, 1, .bgra32)
    for x in 0..<256 {
      let value = UInt8(x)
      #expect(drawn[x, 1] == BGRA(value, 255 - value, value ^ 0x5a, 255))
      #expect(source[x, 0] == BGRA(value / 2, value, value / 3, value))
    }
  }

  @Test("bgrx32 ends every pixel with 255, and shows black through what is transparent")
  func bgrx32() throws {
    let drawn = try Drawing.stretch.drawn(rainbow(), 256, 3, .bgrx32)
    let source = try Drawing.stretch.drawn(halfTransparent(), 256, 1, .bgrx32)
    for x in 0..<256 {
      let value = UInt8(x)
      #expect(drawn[x, 0] == BGRA(value, value, value, 255))
      #expect(source[x, 0] == BGRA(value / 2, value, value / 3, 255))
    }
  }

  @Test("bgr16 is red, green, blue from the top of a little-endian word, to the nearest level")
  func bgr16() throws {
    let drawn = try Drawing.stretch.drawn(rainbow(), 256, 3, .bgr16)
    func level(_ value: UInt8) -> UInt16 { UInt16((Double(value) * 31 / 255).rounded()) }
    for x in 0..<256 {
      let value = UInt8(x)
      #expect(drawn.word(x, 0) == level(value) * 0x421)
      #expect(
        drawn.word(x, 1) == level(value ^ 0x5a) << 10 | level(255 - value) << 5 | level(value))
    }
    let primaries = try Bitmap.colors(3, 1) { x, _ in [.red, .green, .blue][x] }
    let words = try Drawing.stretch.drawn(primaries, 3, 1, .bgr16)
    #expect(words.row(0) == [0x00, 0x7c, 0xe0, 0x03, 0x1f, 0x00])
  }

  @Test("gray8 is the luma of BT.601, to the nearest step, and leaves grays what they are")
  func gray8() throws {
    let drawn = try Drawing.stretch.drawn(rainbow(), 256, 3, .gray8)
    for x in 0..<256 {
      let value = UInt8(x)
      #expect(drawn.byte(x, 0) == value)
      let (blue, green, red) = (value &* 7, value &* 13, value &* 29)
      let luma = 0.299 * Double(red) + 0.587 * Double(green) + 0.114 * Double(blue)
      #expect(abs(Double(drawn.byte(x, 2)) - luma) <= 0.501)
    }
  }

  @Test("takes gray sources as they are in gray, and alike in all channels in colour")
  func graySources() throws {
    let source = try Bitmap.tight(256, 1, .gray8) { x, _ in [UInt8(x)] }
    let gray = try Drawing.stretch.drawn(source, 256, 1, .gray8)
    let color = try Drawing.stretch.drawn(source, 256, 1, .bgra32)
    #expect(gray.row(0) == Array(UInt8.min...UInt8.max))
    for x in 0..<256 { #expect(color[x, 0] == BGRA(UInt8(x), UInt8(x), UInt8(x))) }
  }

  @Test("takes sources of 16 bits, whose 31 is white, and gives them back unchanged")
  func sixteenBitSources() throws {
    let source = try Bitmap.tight(32, 1, .bgr16) { x, _ in
      let word = UInt16(x) << 10 | UInt16(31 - x) << 5 | UInt16(x ^ 3)
      return [UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8)]
    }
    let color = try Drawing.stretch.drawn(source, 32, 1, .bgra32)
    let again = try Drawing.stretch.drawn(source, 32, 1, .bgr16)
    #expect(again.row(0) == source.withUnsafeBytes { Array($0) })
    for x in 0..<32 {
      func byte(_ level: Int) -> UInt8 { UInt8((Double(level) * 255 / 31).rounded()) }
      #expect(color[x, 0] == BGRA(byte(x ^ 3), byte(31 - x), byte(x)))
    }
  }

  @Test("has zeros between its rows", arguments: PixelFormat.allCases)
  func padding(format: PixelFormat) throws {
    let source = try Bitmap.noise(9, 7, .bgra32, seed: 1)
    for drawing in [Drawing.aspectFit(corners: .ellipse), .stretch] {
      let drawn = try drawing.drawn(source, 13, 5, format)
      #expect(!drawn.paddings.isEmpty)
      #expect(drawn.paddings.allSatisfy { $0 == 0 })
    }
  }
}
