#if canImport(CoreGraphics) || Cairo
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A drawing in Display P3", .timeLimit(.minutes(10)))
  struct ColorSpaceTests {
    /// sRGB's red in P3's numbers: CSS Color 4, section 10.
    private let redInP3 = BGRA(35, 51, 234)

    private func drawn(
      _ drawing: Drawing, _ source: Bitmap, in space: ColorSpace = .displayP3,
      format: PixelFormat = .bgra32
    ) throws -> Drawn {
      let layout = PixelLayout(for: PixelSize(width: 4, height: 4), format: format)
      var bytes = [UInt8](repeating: 7, count: layout.byteCount)
      try bytes.withUnsafeMutableBytes {
        try drawing.draw(
          source, into: $0, layout: layout, colorSpace: space, scale: 1, upTo: false
        ) { false }
      }
      return Drawn(layout: layout, bytes: bytes)
    }

    private func red(_ space: ColorSpace, alpha: UInt8 = 255) throws -> Bitmap {
      try Bitmap(size: PixelSize(width: 4, height: 4), format: .bgra32, colorSpace: space) {
        bytes, _ in
        for index in bytes.indices where index % 4 >= 2 { bytes[index] = alpha }
      }
    }

    @Test("has the source's colours, whichever space they come in")
    func convertsSources() throws {
      #expect(try drawn(.stretch, red(.sRGB)).allPixels == [redInP3])
      #expect(try drawn(.stretch, red(.displayP3)).allPixels == [.red])
      #expect(try drawn(.stretch, red(.displayP3), in: .sRGB).allPixels == [.red])
      let gray = try Bitmap.tight(4, 4, .gray8) { _, _ in [99] }
      #expect(try drawn(.stretch, gray).allPixels == [BGRA(99, 99, 99)])
    }

    @Test("converts colours without their alpha")
    func dividesByAlpha() throws {
      let half = try #require(drawn(.stretch, red(.sRGB, alpha: 128)).allPixels.first)
      #expect(half.distance(to: BGRA(18, 26, 117, 128)) <= 1)
    }

    @Test("has a background of the colour that was named")
    func convertsBackgrounds() throws {
      let clear = try Bitmap.tight(4, 4, .bgra32) { _, _ in [0, 0, 0, 0] }
      for (color, expected) in [
        (Canvas.Color.red, redInP3), (Canvas.Color(displayP3Red: 1, green: 0, blue: 0), .red),
        (.white, .white),
      ] {
        #expect(try drawn(.stretch(background: color), clear).allPixels == [expected])
      }
      // What sRGB does not have becomes its nearest.
      let wide = Canvas.Color(displayP3Red: 1, green: 0, blue: 0)
      #expect(try drawn(.stretch(background: wide), clear, in: .sRGB).allPixels == [.red])
      #expect(wide.red > 1 && wide.green < 0)
    }

    @Test("lends a closure a source and a canvas of its space, which mix")
    func convertsInClosures() throws {
      let sRGB = try red(.sRGB)
      let drawing = Drawing.custom { source, canvas in
        guard source.colorSpace == .displayP3, canvas.colorSpace == .displayP3 else { return }
        try canvas.draw(source, in: Canvas.Rect(x: 0, y: 0, width: 4, height: 1))
        canvas.fill(Canvas.Rect(x: 0, y: 1, width: 4, height: 1), with: .red)
        let wide = Canvas.Color(displayP3Red: 1, green: 0, blue: 0)
        canvas.fill(Canvas.Rect(x: 0, y: 2, width: 4, height: 1), with: wide)
        var line = Canvas.Path()
        line.move(to: Canvas.Point(x: 0, y: 3.5))
        line.addLine(to: Canvas.Point(x: 4, y: 3.5))
        canvas.stroke(line, with: .red, lineWidth: 1)
        canvas.fill(.rect(Canvas.Rect(x: 1, y: 3, width: 1, height: 1)), with: .red)
        try canvas.draw(sRGB, in: Canvas.Rect(x: 3, y: 3, width: 1, height: 1))
      }
      let result = try drawn(drawing, red(.sRGB))
      for (x, y) in [(0, 0), (0, 1), (0, 3), (1, 3), (3, 3)] {
        #expect(result[x, y].distance(to: redInP3) <= 1)
      }
      #expect(result[0, 2] == .red)
    }

    @Test("is possible without a table")
    func drawsBitmaps() throws {
      let bitmap = try Bitmap(
        size: PixelSize(width: 2, height: 1), colorSpace: .displayP3
      ) { canvas in canvas.fill(.red) }
      #expect(bitmap.colorSpace == .displayP3)
      let pixel = bitmap.withPixels { pixels in pixels.withUnsafeBytes { Array($0.prefix(4)) } }
      #expect(BGRA(pixel[0], pixel[1], pixel[2]).distance(to: redInP3) <= 1)
    }
  }
#endif
