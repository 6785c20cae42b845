import Pixels
import Testing

@testable import ImageDrawing

@Suite("A recipe", .timeLimit(.minutes(10)))
struct RecipeTests {
  /// A quarter of the width each: red, green, blue, white.
  private func stripes() throws -> Bitmap {
    try .colors(8, 4) { x, _ in [.red, .green, .blue, .white][x / 2] }
  }

  @Test("that fills shows the middle, or the side it is aligned to")
  func fills() throws {
    let center = try Drawing.aspectFill.drawn(stripes(), 4, 4)
    let left = try Drawing.aspectFill(alignment: .left).drawn(stripes(), 4, 4)
    let right = try Drawing.aspectFill(alignment: .right).drawn(stripes(), 4, 4)
    for y in 0..<4 {
      #expect((0..<4).map { center[$0, y] } == [.green, .green, .blue, .blue])
      #expect((0..<4).map { left[$0, y] } == [.red, .red, .green, .green])
      #expect((0..<4).map { right[$0, y] } == [.blue, .blue, .white, .white])
    }
  }

  @Test("that fits leaves the rest transparent, or shows its background there")
  func fits() throws {
    let clear = try Drawing.aspectFit.drawn(stripes(), 8, 8)
    let yellow = try Drawing.aspectFit(
      alignment: .top, background: Canvas.Color(red: 1, green: 1, blue: 0)
    )
    .drawn(stripes(), 8, 8)
    for x in 0..<8 {
      let column = (0..<8).map { clear[x, $0] }
      let color: BGRA = [.red, .green, .blue, .white][x / 2]
      #expect(column == [.clear, .clear, color, color, color, color, .clear, .clear])
      #expect((0..<4).allSatisfy { yellow[x, $0] == color })
      #expect((4..<8).allSatisfy { yellow[x, $0] == BGRA(0, 255, 255) })
    }
  }

  @Test("that fits shows black around the image in formats without alpha")
  func fitsOnBlack() throws {
    let white = try Bitmap.colors(8, 4) { _, _ in .white }
    let color = try Drawing.aspectFit.drawn(white, 8, 8, .bgrx32)
    let gray = try Drawing.aspectFit.drawn(white, 8, 8, .gray8)
    let words = try Drawing.aspectFit(background: .green).drawn(white, 8, 8, .bgr16)
    #expect((0..<8).map { color[3, $0] == .black } == (0..<8).map { !(2..<6).contains($0) })
    #expect((0..<8).map { gray.byte(3, $0) } == [0, 0, 255, 255, 255, 255, 0, 0])
    #expect((0..<8).map { words.word(3, $0) == 0x3e0 } == (0..<8).map { !(2..<6).contains($0) })
  }

  @Test("uses its crop only")
  func crops() throws {
    let crop = Canvas.Rect(x: 0.25, y: 0, width: 0.5, height: 1)
    let drawn = try Drawing.stretch(crop: crop).drawn(stripes(), 8, 2)
    #expect(drawn[0, 0] == .green && drawn[7, 1] == .blue)
    #expect(drawn.allPixels.allSatisfy { $0.red < 40 })
  }

  @Test("lays its background under transparent parts", arguments: [PixelFormat.bgra32, .bgrx32])
  func background(format: PixelFormat) throws {
    let half = try Bitmap.colors(4, 4) { _, _ in BGRA(0, 0, 128, 128) }
    let solid = try Drawing.stretch(background: .blue).drawn(half, 4, 4, format)
    let glass = try Drawing.stretch(background: Canvas.Color.blue.withAlpha(0.5))
      .drawn(half, 4, 4, format)
    #expect(solid.allPixels == [BGRA(127, 0, 128, 255)])
    let alpha: UInt8 = format == .bgra32 ? 192 : 255
    #expect(glass.allPixels == [BGRA(64, 0, 128, alpha)])
  }

  @Test("fills an up-to format to its last pixel, whatever the decoder's rounding")
  func fillsUpTo() throws {
    // 3000 x 1001, shrunk to an eighth, is 375 x 126: other proportions than 200 x 67.
    let source = try Bitmap.colors(375, 126, .bgrx32) { _, _ in .white }
    for drawing in [Drawing.aspectFit, .aspectFill, .stretch] {
      let drawn = try drawing.drawn(source, 200, 67, upTo: true)
      #expect(drawn.allPixels == [.white])
    }
  }

  @Test("ends with an error once cancelled, and asks before each row")
  func cancels() throws {
    let source = try stripes()
    for limit in 0..<9 {
      var questions = 0
      let error = #expect(throws: DrawingError.self) {
        try Drawing.stretch.drawn(source, 8, 8) {
          questions += 1
          return questions > limit
        }
      }
      #expect(error?.isCancellation == true && questions == limit + 1)
    }
  }
}

@Suite("Colours of another space", .timeLimit(.minutes(10)))
struct ColorConversionTests {
  /// Swaps blue and red, so that twice is as good as never, and counts.
  private struct Swap: ColorConversion {
    func convert(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
    ) {
      let bytes = pixels.assumingMemoryBound(to: UInt8.self)
      for index in 0..<pixelCount {
        if format == .gray8 {
          bytes[index] = 255 - bytes[index]
        } else {
          (bytes[4 * index], bytes[4 * index + 2]) = (bytes[4 * index + 2], bytes[4 * index])
        }
      }
    }
  }

  /// Squares every channel: only right on numbers not multiplied by alpha.
  private struct Square: ColorConversion {
    func convert(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
    ) {
      let bytes = pixels.assumingMemoryBound(to: UInt8.self)
      for index in 0..<pixelCount {
        for channel in 0..<3 {
          let value = Int(bytes[4 * index + channel])
          bytes[4 * index + channel] = UInt8((value * value + 127) / 255)
        }
      }
    }
  }

  @Test(
    "are converted once, in each pixel format, also beside a background",
    arguments: [PixelFormat.bgra32, .bgrx32])
  func convertsOnce(format: PixelFormat) throws {
    let source = try Bitmap.tight(4, 4, format, conversion: Swap()) { _, _ in [0, 0, 200, 255] }
    let fitted = try Drawing.aspectFit(background: .red).drawn(source, 4, 8, format)
    let same = try Drawing.stretch.drawn(source, 2, 2, .bgrx32)
    #expect(fitted.allPixels == [.red, BGRA(200, 0, 0)])
    #expect(same.allPixels == [BGRA(200, 0, 0)])
  }

  @Test("are converted in gray images")
  func convertsGray() throws {
    let source = try Bitmap.tight(4, 4, .gray8, conversion: Swap()) { _, _ in [55] }
    #expect(try Drawing.stretch.drawn(source, 3, 3, .gray8).row(0) == [200, 200, 200])
    #expect(try Drawing.stretch.drawn(source, 3, 3, .bgrx32).allPixels == [BGRA(200, 200, 200)])
  }

  @Test("are converted after scaling")
  func convertsAfterScaling() throws {
    let source = try Bitmap.tight(2, 1, .bgrx32, conversion: Square()) { x, _ in
      [0, 0, x == 0 ? 0 : 255, 255]
    }
    let drawn = try Drawing.stretch.drawn(source, 1, 1)
    #expect(drawn[0, 0].red == 64)
  }

  /// Finds no memory for what it needs, and would show without it.
  private struct Unprepared: ColorConversion {
    func prepare(for space: ColorSpace) -> Bool { false }

    func convert(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
    ) { Issue.record("Rows are converted without what the conversion needs.") }
  }

  @Test("fail a drawing that has no memory for them, before its first row")
  func areMissing() throws {
    let source = try Bitmap.tight(1, 1, .bgrx32, conversion: Unprepared()) { _, _ in [0, 0, 0, 0] }
    for drawing in [Drawing.stretch, .custom { _, _ in Issue.record("The closure runs.") }] {
      let error = #expect(throws: DrawingError.self) { try drawing.drawn(source, 1, 1) }
      guard case .outOfMemory? = error else { throw CancellationError() }
    }
  }

  @Test("are divided by alpha for the conversion, and multiplied again")
  func convertsUnmultiplied() throws {
    let source = try Bitmap.tight(1, 1, .bgra32, conversion: Square()) { _, _ in [64, 0, 128, 128] }
    let drawn = try Drawing.stretch.drawn(source, 1, 1)
    #expect(drawn[0, 0].distance(to: BGRA(32, 0, 128, 128)) <= 1)
  }
}
