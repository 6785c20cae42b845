import Pixels
import Testing

@testable import ImageDrawing

@Suite("A filter for colours", .timeLimit(.minutes(10)))
struct ColorFilterTests {
  /// Red, green and blue as Filter Effects Module Level 1 writes them, for numbers from 0 to 1 and cut to that.
  private static func reference(
    _ filter: Drawing.Filter, _ r: Double, _ g: Double, _ b: Double
  ) -> [Double] {
    let colors: [Double] =
      switch filter {
      case .saturation(let s):
        [
          (0.213 + 0.787 * s) * r + (0.715 - 0.715 * s) * g + (0.072 - 0.072 * s) * b,
          (0.213 - 0.213 * s) * r + (0.715 + 0.285 * s) * g + (0.072 - 0.072 * s) * b,
          (0.213 - 0.213 * s) * r + (0.715 - 0.715 * s) * g + (0.072 + 0.928 * s) * b,
        ]
      case .sepia(let s):
        [
          (0.393 + 0.607 * (1 - s)) * r + (0.769 - 0.769 * (1 - s)) * g
            + (0.189 - 0.189 * (1 - s)) * b,
          (0.349 - 0.349 * (1 - s)) * r + (0.686 + 0.314 * (1 - s)) * g
            + (0.168 - 0.168 * (1 - s)) * b,
          (0.272 - 0.272 * (1 - s)) * r + (0.534 - 0.534 * (1 - s)) * g
            + (0.131 + 0.869 * (1 - s)) * b,
        ]
      case .brightness(let s): [s * r, s * g, s * b]
      case .contrast(let s): [r, g, b].map { s * $0 - 0.5 * s + 0.5 }
      default: []
      }
    return colors.map { max(0, min(1, $0)) }
  }

  @Test(
    "does what CSS says, whatever the alpha",
    arguments: [
      .saturation(0), .saturation(0.4), .saturation(3), .sepia(0.5), .sepia(1), .brightness(0),
      .brightness(0.5), .brightness(1.5), .brightness(20), .contrast(0), .contrast(0.7),
      .contrast(2), .contrast(300),
    ] as [Drawing.Filter])
  func equalsCSS(_ filter: Drawing.Filter) throws {
    let source = try Bitmap.noise(40, 30, .bgra32, seed: 9)
    let drawn = try Drawing.stretch.filtered([filter]).drawn(source, 40, 30)
    for y in 0..<30 {
      for x in 0..<40 {
        let (old, new) = (source[x, y], drawn[x, y])
        #expect(new.alpha == old.alpha)
        guard old.alpha > 0 else { continue }
        let alpha = Double(old.alpha)
        let colors = Self.reference(
          filter, Double(old.red) / alpha, Double(old.green) / alpha, Double(old.blue) / alpha)
        for (byte, color) in zip([new.red, new.green, new.blue], colors) {
          #expect(abs(Double(byte) - color * alpha) <= 0.51, "\(x), \(y)")
        }
      }
    }
  }

  @Test("counts numbers below its range as 0, and above as its end")
  func boundsNumbers() throws {
    let source = try Bitmap.noise(6, 5, .bgrx32, seed: 9)
    for (odd, even) in [
      (.saturation(-2), .saturation(0)), (.brightness(-.infinity), .brightness(0)),
      (.contrast(-1), .contrast(0)), (.sepia(7), .sepia(1)),
      (.contrast(.infinity), .contrast(1000)),
    ] as [(Drawing.Filter, Drawing.Filter)] {
      let drawn = try [odd, even].map {
        try Drawing.stretch.filtered([$0]).drawn(source, 6, 5).bytes
      }
      #expect(drawn[0] == drawn[1], "\(odd)")
    }
  }
}

@Suite("A tint", .timeLimit(.minutes(10)))
struct TintTests {
  @Test("keeps the alpha, and takes the place of the colours in the normal mode")
  func replaces() throws {
    let source = try Bitmap.noise(20, 20, .bgra32, seed: 6)
    let yellow = Canvas.Color(red: 1, green: 1, blue: 0)
    let drawn = try Drawing.stretch.filtered([.tint(yellow)]).drawn(source, 20, 20)
    let half = try Drawing.stretch.filtered([.tint(yellow.withAlpha(0.5))]).drawn(source, 20, 20)
    for y in 0..<20 {
      for x in 0..<20 {
        let old = source[x, y]
        #expect(drawn[x, y] == BGRA(0, old.alpha, old.alpha, old.alpha))
        let mixed = BGRA(
          old.blue / 2, UInt8((Int(old.green) + Int(old.alpha)) / 2),
          UInt8((Int(old.red) + Int(old.alpha)) / 2), old.alpha)
        #expect(half[x, y].distance(to: mixed) <= 1)
      }
    }
  }

  @Test("counts alike where the image is partly transparent", arguments: Canvas.BlendMode.allCases)
  func dividesByAlpha(mode: Canvas.BlendMode) throws {
    let color = Canvas.Color(red: 0.8, green: 0.3, blue: 0.45, alpha: 0.7)
    let drawing = Drawing.stretch.filtered([.tint(color, blendMode: mode)])
    // At an alpha of 51 a colour is a fifth.
    let solid = try Bitmap.colors(16, 16) { x, y in BGRA(UInt8(x * 15), UInt8(y * 15), 105) }
    let clear = try Bitmap.colors(16, 16) { x, y in BGRA(UInt8(x * 3), UInt8(y * 3), 21, 51) }
    let (whole, fifth) = (try drawing.drawn(solid, 16, 16), try drawing.drawn(clear, 16, 16))
    for x in 0..<16 {
      for y in 0..<16 {
        let (pixel, part) = (whole[x, y], fifth[x, y])
        for (a, b) in [(pixel.red, part.red), (pixel.green, part.green), (pixel.blue, part.blue)] {
          #expect(abs(Double(a) / 5 - Double(b)) <= 0.71, "\(x), \(y)")
        }
      }
    }
  }

  #if canImport(CoreGraphics) || Cairo
    @Test("mixes as a canvas does", arguments: Canvas.BlendMode.allCases)
    func equalsCanvas(mode: Canvas.BlendMode) throws {
      let source = try Bitmap.colors(17, 17, .bgrx32) { x, y in
        BGRA(UInt8(min(255, x * 16)), UInt8(min(255, y * 16)), UInt8(x * 7 + y * 8))
      }
      for color in [
        Canvas.Color(red: 0.2, green: 0.6, blue: 0.9), .black, .white, .red,
        Canvas.Color(red: 0.7, green: 0.5, blue: 0.1, alpha: 0.4),
      ] {
        let tinted = try Drawing.stretch.filtered([.tint(color, blendMode: mode)])
          .drawn(source, 17, 17)
        let drawn = try Drawing.custom { source, canvas in
          try canvas.draw(source, in: canvas.bounds)
          canvas.fill(color, blendMode: mode)
        }.drawn(source, 17, 17)
        for x in 0..<17 {
          for y in 0..<17 {
            #expect(
              tinted[x, y].distance(to: drawn[x, y]) <= 2,
              "\(color) over \(source[x, y]): \(tinted[x, y]), \(drawn[x, y])")
          }
        }
      }
    }
  #endif

  @Test("and a border have the colour that was named, in a wide space")
  func convertsColors() throws {
    let source = try Bitmap.colors(4, 4, .bgrx32) { _, _ in .white }
    let layout = PixelLayout(for: PixelSize(width: 4, height: 4), format: .bgrx32)
    for filter in [Drawing.Filter.tint(.red), .border(width: 2, color: .red)] {
      var bytes = [UInt8](repeating: 7, count: layout.byteCount)
      try bytes.withUnsafeMutableBytes {
        try Drawing.stretch.filtered([filter]).draw(
          source, into: $0, layout: layout, colorSpace: .displayP3, scale: 1, upTo: false
        ) { false }
      }
      // CSS Color 4, section 10.
      #expect(Drawn(layout: layout, bytes: bytes).allPixels == [BGRA(35, 51, 234)])
    }
  }
}
