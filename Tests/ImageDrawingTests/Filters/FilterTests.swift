import Pixels
import Testing

@testable import ImageDrawing

@Suite("A filter", .timeLimit(.minutes(10)))
struct FilterTests {
  private static let glass = Canvas.Color(red: 0.9, green: 0.2, blue: 0.1, alpha: 0.6)

  /// One of each, with a colour of its own for each blend mode.
  private static let changing: [Drawing.Filter] =
    [
      .blur(radius: 1.7), .saturation(0), .saturation(2.5), .brightness(0.4), .brightness(3),
      .contrast(0.3), .contrast(4), .sepia(0.7), .sepia(1), .border(width: 2, color: glass),
      .flip(.horizontal), .flip(.vertical),
    ] + Canvas.BlendMode.allCases.map { .tint(glass, blendMode: $0) }

  private static let neutral: [Drawing.Filter] = [
    .blur(radius: 0), .blur(radius: -3), .blur(radius: .nan), .saturation(1), .saturation(.nan),
    .brightness(1), .brightness(.nan), .contrast(1), .contrast(.nan), .sepia(0), .sepia(-1),
    .sepia(.nan), .border(width: 0, color: .red), .border(width: .nan, color: .red),
    .border(width: 3, color: .clear), .tint(.clear), .tint(.red.withAlpha(-1), blendMode: .hue),
    .tint(.red.withAlpha(.nan)),
  ]

  @Test("of a neutral number changes no byte", arguments: PixelFormat.allCases)
  func isNeutral(format: PixelFormat) throws {
    let source = try Bitmap.noise(23, 9, format == .gray8 ? .gray8 : .bgra32, seed: 1)
    let plain = try Drawing.aspectFill.drawn(source, 11, 7, format)
    for filter in Self.neutral {
      let drawn = try Drawing.aspectFill.filtered([filter]).drawn(source, 11, 7, format)
      #expect(drawn.bytes == plain.bytes, "\(filter)")
    }
    #expect(try Drawing.aspectFill.filtered([]).drawn(source, 11, 7, format).bytes == plain.bytes)
    // Twice the same side.
    for axis in Drawing.Filter.Axis.allCases {
      let flips = Drawing.aspectFill.filtered([.flip(axis), .flip(axis)])
      #expect(try flips.drawn(source, 11, 7, format).bytes == plain.bytes)
    }
  }

  @Test("changes pixels, and no byte between rows", arguments: changing)
  func changes(_ filter: Drawing.Filter) throws {
    let source = try Bitmap.noise(11, 7, .bgra32, seed: 2)
    for format in PixelFormat.allCases {
      let plain = try Drawing.stretch.drawn(source, 11, 7, format)
      let drawn = try Drawing.stretch.filtered([filter]).drawn(source, 11, 7, format)
      let isGray = format == .gray8
      let mayKeepGray = if case .saturation = filter { true } else { false }
      #expect(drawn.bytes != plain.bytes || isGray && mayKeepGray)
      #expect(drawn.paddings.allSatisfy { $0 == 0 })
    }
  }

  @Test("works alike in all pixel formats", arguments: changing)
  func isIndependentOfFormat(_ filter: Drawing.Filter) throws {
    let source = try Bitmap.noise(11, 7, .bgrx32, seed: 2)
    let drawing = Drawing.stretch.filtered([filter])
    let color = try drawing.drawn(source, 11, 7, .bgrx32)
    #expect(try drawing.drawn(source, 11, 7, .bgra32).bytes == color.bytes)
    let words = try drawing.drawn(source, 11, 7, .bgr16)
    let gray = try drawing.drawn(source, 11, 7, .gray8)
    for x in 0..<11 {
      for y in 0..<7 {
        let pixel = color[x, y]
        let (red, green, blue) = (Int(pixel.red), Int(pixel.green), Int(pixel.blue))
        #expect(Int(words.word(x, y)) >> 10 == (red * 31 + 127) / 255)
        #expect(
          Int(gray.byte(x, y)) == (19_595 * red + 38_470 * green + 7_471 * blue + 32_768) >> 16)
      }
    }
  }

  @Test(
    "leaves no colour above its alpha, whatever its numbers",
    arguments: [(1, 1), (1, 5), (6, 1), (21, 18)])
  func staysMultiplied(width: Int, height: Int) throws {
    let numbers = [0, -1, .nan, .infinity, -.infinity, 1e308, 0.5, .leastNonzeroMagnitude]
    let odd = numbers.flatMap { number -> [Drawing.Filter] in
      let color = Canvas.Color(red: number, green: number, blue: 0.5, alpha: number)
      let solid = Canvas.Color(red: number, green: 0.5, blue: number)
      return [
        .blur(radius: number), .saturation(number), .brightness(number), .contrast(number),
        .sepia(number), .border(width: number, color: color), .border(width: number, color: solid),
      ]
        + Canvas.BlendMode.allCases.flatMap { mode -> [Drawing.Filter] in
          [.tint(color, blendMode: mode), .tint(solid, blendMode: mode)]
        }
    }
    let source = try Bitmap.noise(width, height, .bgra32, seed: 4)
    for filter in Self.changing + odd {
      let drawn = try Drawing.stretch.filtered([filter]).drawn(source, width, height)
      let isMultiplied = drawn.allPixels.allSatisfy { max($0.blue, $0.green, $0.red) <= $0.alpha }
      #expect(isMultiplied, "\(filter)")
      let solid = try Drawing.stretch.filtered([filter]).drawn(source, width, height, .bgrx32)
      #expect(solid.allPixels.allSatisfy { $0.alpha == 255 }, "\(filter)")
    }
  }

  @Test("works on what its drawing made, with those before it")
  func followsDrawing() throws {
    let source = try Bitmap.colors(8, 8, .bgrx32) { x, _ in x < 4 ? .red : .blue }
    let face = try Drawing.aspectFill(corners: .ellipse)
      .filtered([.tint(.green), .border(width: 1, color: .white)]).drawn(source, 8, 8)
    #expect(face[4, 4] == .green && face[0, 4] == .white && face[0, 0] == .white)
    #expect(face[1, 1].alpha < 255 && face[1, 1].red == 0)

    let order = try Drawing.stretch.filtered([.brightness(0), .border(width: 1, color: .white)])
      .drawn(source, 8, 8)
    let other = try Drawing.stretch.filtered([.border(width: 1, color: .white), .brightness(0)])
      .drawn(source, 8, 8)
    #expect(order[0, 0] == .white && order[4, 4] == .black && other.allPixels == [.black])
  }

  @Test("is equal to one of the same numbers; two calls make one list")
  func compares() {
    let blurred = Drawing.aspectFill.filtered([.blur(radius: 8)])
    #expect(blurred == .aspectFill.filtered([.blur(radius: 8)]))
    #expect(blurred != .aspectFill && blurred != .aspectFill.filtered([.blur(radius: 9)]))
    #expect(blurred != Drawing.aspectFit.filtered([.blur(radius: 8)]))
    #expect(
      blurred.filtered([.flip(.vertical)])
        == .aspectFill.filtered([.blur(radius: 8), .flip(.vertical)]))
    #expect(Drawing.aspectFill.filtered([]) == .aspectFill)
    #expect(Drawing.Filter.tint(.red) == .tint(.red, blendMode: .normal))
  }

  @Test("is not begun once the drawing is cancelled")
  func cancels() throws {
    let source = try Bitmap.noise(3, 2, .bgra32, seed: 1)
    let drawing = Drawing.stretch.filtered([.sepia(1), .sepia(0), .flip(.vertical)])
    for format in [PixelFormat.bgra32, .bgr16] {
      // At the beginning, before two rows, and before two filters that are not neutral.
      for limit in 0..<5 {
        var questions = 0
        #expect(throws: DrawingError.self) {
          try drawing.drawn(source, 3, 2, format) {
            questions += 1
            return questions > limit
          }
        }
        #expect(questions == limit + 1)
      }
      var questions = 0
      _ = try drawing.drawn(source, 3, 2, format) {
        questions += 1
        return false
      }
      #expect(questions == 5)
    }
  }
}

@Suite("A filter for shapes", .timeLimit(.minutes(10)))
struct ShapeFilterTests {
  @Test("mirrors", arguments: [(5, 3), (4, 4), (1, 6), (6, 1)])
  func flips(width: Int, height: Int) throws {
    let source = try Bitmap.noise(width, height, .bgra32, seed: 8)
    let across = try Drawing.stretch.filtered([.flip(.horizontal)]).drawn(source, width, height)
    let down = try Drawing.stretch.filtered([.flip(.vertical)]).drawn(source, width, height)
    for x in 0..<width {
      for y in 0..<height {
        #expect(across[x, y] == source[width - 1 - x, y])
        #expect(down[x, y] == source[x, height - 1 - y])
      }
    }
  }

  @Test(
    "draws a frame in whole pixels",
    arguments: [(2, 1, 2), (1, 2, 2), (1.3, 1, 1), (0.2, 1, 1), (0.75, 2, 2), (9, 1, 9)])
  func frames(width: Double, scale: Double, pixels: Int) throws {
    let source = try Bitmap.colors(9, 7, .bgrx32) { _, _ in .white }
    let drawn = try Drawing.stretch.filtered([.border(width: width, color: .blue)])
      .drawn(source, 9, 7, scale: scale)
    for x in 0..<9 {
      for y in 0..<7 {
        let isFrame = min(x, 8 - x, y, 6 - y) < pixels
        #expect(drawn[x, y] == (isFrame ? .blue : .white), "\(x), \(y)")
      }
    }
  }

  @Test("lays a partly transparent frame over each pixel once")
  func framesWithGlass() throws {
    // Both sides are wider than a half.
    let source = try Bitmap.colors(3, 9) { x, y in x == 1 ? .white : .clear }
    let drawn = try Drawing.stretch
      .filtered([.border(width: 2, color: .blue.withAlpha(0.4))]).drawn(source, 3, 9)
    for y in 0..<9 {
      #expect(drawn[0, y] == BGRA(102, 0, 0, 102) && drawn[2, y] == drawn[0, y], "\(y)")
      #expect(drawn[1, y] == BGRA(255, 153, 153), "\(y)")
    }
  }
}
