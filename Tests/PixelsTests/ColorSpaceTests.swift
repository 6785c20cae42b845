import Testing

@testable import Pixels

@Suite("A colour space", .timeLimit(.minutes(10)))
struct ColorSpaceTests {
  private func converted(
    _ bytes: [UInt8], _ format: PixelFormat, from source: ColorSpace, to target: ColorSpace
  ) -> [UInt8] {
    var bytes = bytes
    bytes.withUnsafeMutableBytes { buffer in
      guard let start = buffer.baseAddress else { return }
      SpaceConversion(from: source).convert(
        start, pixelCount: buffer.count / format.bytesPerPixel, format: format, to: target)
    }
    return bytes
  }

  // CSS Color 4's sample code gives these numbers for both directions.
  @Test(
    "has the colours of the other under their own numbers",
    arguments: [
      ([0, 0, 255], [35, 51, 234]), ([0, 255, 0], [76, 251, 117]), ([255, 0, 0], [245, 0, 0]),
      ([50, 100, 200], [62, 105, 187]),
    ] as [([UInt8], [UInt8])])
  func converts(sRGB: [UInt8], wide: [UInt8]) {
    let there = converted(sRGB + [9], .bgrx32, from: .sRGB, to: .displayP3)
    #expect(there == wide + [9])
    let back = converted(there, .bgra32, from: .displayP3, to: .sRGB)
    // At the edge of sRGB a rounded number is many steps of a small one.
    let isInside = !sRGB.contains(0)
    #expect(!isInside || zip(back, sRGB + [9]).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
    #expect(converted(sRGB + [9], .bgra32, from: .sRGB, to: .sRGB) == sRGB + [9])
  }

  @Test("has the same grays as the other, in every pixel format")
  func keepsGrays() {
    let grays: [UInt8] = (0..<256).flatMap { (level: Int) -> [UInt8] in
      [UInt8(level), UInt8(level), UInt8(level), 255]
    }
    for (source, target) in [(ColorSpace.sRGB, ColorSpace.displayP3), (.displayP3, .sRGB)] {
      #expect(converted(grays, .bgra32, from: source, to: target) == grays)
      let bytes = (0...255).map { UInt8($0) }
      #expect(converted(bytes, .gray8, from: source, to: target) == bytes)
      let words = (0..<32).flatMap { (level: Int) -> [UInt8] in
        let word = level << 10 | level << 5 | level
        return [UInt8(word & 255), UInt8(word >> 8)]
      }
      #expect(converted(words, .bgr16, from: source, to: target) == words)
    }
  }

  @Test("is converted to the nearest of five bits where pixels have no more")
  func convertsWords() {
    let redAndGreen = converted([0x00, 0x7C, 0xE0, 0x03], .bgr16, from: .sRGB, to: .displayP3)
    #expect(redAndGreen == [0xC4, 0x70, 0xE9, 0x3B])
  }

  @Test("stays a bitmap's, whose edges are told")
  func staysWithEdges() throws {
    let size = PixelSize(width: 2, height: 2)
    let bitmap = try Bitmap(size: size, format: .bgrx32, colorSpace: .displayP3) { _, _ in }
    let edges = ImageEdges(filling: size, fullSize: PixelSize(width: 4, height: 4))
    #expect(bitmap.withEdges(edges).colorSpace == .displayP3)
  }

  @Test("goes beyond 0 and 1 where it lacks a colour of the other, and comes back")
  func goesBeyond() {
    let red = ColorSpace.displayP3.converted(SIMD3(1, 0, 0), to: .sRGB)
    #expect(abs(red.x - 1.0930) < 0.0001 && abs(red.y + 0.2267) < 0.0001)
    let back = ColorSpace.sRGB.converted(red, to: .displayP3)
    #expect(abs(back.x - 1) < 1e-9 && abs(back.y) < 1e-9 && abs(back.z) < 1e-9)
  }
}
