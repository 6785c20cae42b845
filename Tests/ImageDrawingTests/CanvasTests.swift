#if canImport(CoreGraphics) || Cairo
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A canvas", .timeLimit(.minutes(10)))
  struct CanvasTests {
    private func draw(
      _ width: Int = 20, _ height: Int = 20, scale: Double = 1,
      _ body: @escaping @Sendable (inout Canvas) throws -> Void
    ) throws -> Drawn {
      let source = try Bitmap.colors(1, 1) { _, _ in .clear }
      return try Drawing.custom { _, canvas in try body(&canvas) }
        .drawn(source, width, height, scale: scale)
    }

    /// Red, green, blue and white in the corners, from the upper left, row by row.
    private static func corners(_ side: Int = 2, _ format: PixelFormat = .bgra32) throws -> Bitmap {
      try .colors(side, side, format) { x, y in
        let isRight = x >= side / 2
        return y < side / 2 ? (isRight ? .green : .red) : (isRight ? .white : .blue)
      }
    }

    @Test("counts points from the upper left corner, in pixels times its scale")
    func countsPoints() throws {
      let drawn = try draw(scale: 2) {
        $0.fill(Canvas.Rect(x: 1, y: 2, width: 3, height: 1), with: .red)
      }
      for y in 0..<20 {
        for x in 0..<20 {
          let isInside = (2..<8).contains(x) && (4..<6).contains(y)
          #expect(drawn[x, y] == (isInside ? .red : .clear))
        }
      }
    }

    @Test("multiplies colours by their opacity")
    func fillsTransparent() throws {
      let drawn = try draw { $0.fill(Canvas.Color.white.withAlpha(0.5)) }
      #expect(drawn.allPixels.count == 1)
      #expect(drawn[3, 3].distance(to: BGRA(128, 128, 128, 128)) <= 1)
    }

    @Test("clears a rectangle, or all of it")
    func clears() throws {
      let part = try draw {
        $0.fill(.red)
        $0.clear(Canvas.Rect(x: 0, y: 0, width: 20, height: 5))
      }
      let all = try draw {
        $0.fill(.red)
        $0.clear()
      }
      #expect(part[7, 4] == .clear && part[7, 5] == .red)
      #expect(all.allPixels == [.clear])
    }

    @Test("fills a part that lies within another, too")
    func fillsPaths() throws {
      let path = {
        var path = Canvas.Path.rect(Canvas.Rect(x: 0, y: 0, width: 20, height: 20))
        path.move(to: Canvas.Point(x: 5, y: 5))
        path.addLine(to: Canvas.Point(x: 15, y: 5))
        path.addLine(to: Canvas.Point(x: 15, y: 15))
        path.close()
        return path
      }()
      #expect(try draw { $0.fill(path, with: .blue) }.allPixels == [.blue])
    }

    @Test("fills triangles, curves and open parts")
    func fillsFreePaths() throws {
      var path = Canvas.Path()
      path.addLine(to: Canvas.Point(x: 0, y: 0))
      path.addLine(to: Canvas.Point(x: 20, y: 0))
      path.addCurve(
        to: Canvas.Point(x: 0, y: 20), control1: Canvas.Point(x: 20, y: 10),
        control2: Canvas.Point(x: 10, y: 20))
      let shape = path
      let drawn = try draw { $0.fill(shape, with: .green) }
      #expect(drawn[1, 1] == .green && drawn[12, 12] == .green)
      #expect(drawn[19, 19] == .clear && drawn[17, 17] == .clear)
    }

    @Test("draws lines of a width around a path")
    func strokes() throws {
      let drawn = try draw {
        $0.stroke(
          .rect(Canvas.Rect(x: 4, y: 4, width: 12, height: 12)), with: .red, lineWidth: 2)
      }
      #expect((0..<20).filter { drawn[$0, 10] == .red } == [3, 4, 15, 16])
      #expect(drawn[3, 3] == .red)
      #expect(drawn[10, 10] == .clear)
    }

    @Test("draws straight ends and pointed corners")
    func endsAndCorners() throws {
      var line = Canvas.Path()
      line.move(to: Canvas.Point(x: 6, y: 6))
      line.addLine(to: Canvas.Point(x: 14, y: 6))
      line.addLine(to: Canvas.Point(x: 14, y: 14))
      let path = line
      let drawn = try draw { $0.stroke(path, with: .red, lineWidth: 4) }
      #expect([drawn[4, 4].alpha, drawn[5, 6].alpha, drawn[15, 4].alpha] == [0, 0, 255])
    }

    @Test("draws nothing outside of its clips, until the saved state ends")
    func clips() throws {
      let drawn = try draw { canvas in
        canvas.withSavedState { canvas in
          canvas.clip(to: Canvas.Rect(x: 0, y: 0, width: 10, height: 20))
          canvas.clip(to: .rect(Canvas.Rect(x: 0, y: 0, width: 20, height: 10)))
          canvas.fill(.red)
        }
        canvas.fill(Canvas.Rect(x: 15, y: 15, width: 5, height: 5), with: .blue)
      }
      #expect(drawn[9, 9] == .red && drawn[10, 9] == .clear && drawn[9, 10] == .clear)
      #expect(drawn[17, 17] == .blue)
    }

    @Test("clips to ellipses and round corners like the recipes do")
    func clipsRound() throws {
      let white = try Bitmap.colors(4, 4) { _, _ in .white }
      let recipe = try Drawing.stretch(corners: .ellipse).drawn(white, 40, 40)
      let rounded = try Drawing.stretch(corners: .rounded(radius: 9)).drawn(white, 40, 40)
      let clipped = try draw(40, 40) {
        $0.clip(to: .ellipse(in: $0.bounds))
        $0.fill(.white)
      }
      let filled = try draw(40, 40) {
        $0.fill(.roundedRect($0.bounds, radius: 9), with: .white)
      }
      #expect(clipped.distance(to: recipe) <= 16)
      #expect(filled.distance(to: rounded) <= 16)
    }

    @Test("moves, scales and turns clockwise, and undoes it with the saved state")
    func transforms() throws {
      let drawn = try draw { canvas in
        canvas.withSavedState { canvas in
          canvas.translate(x: 10, y: 10)
          canvas.rotate(degrees: 90)
          canvas.scale(x: 2, y: 1)
          canvas.fill(Canvas.Rect(x: 0, y: 0, width: 5, height: 3), with: .red)
        }
        canvas.fill(Canvas.Rect(x: 0, y: 0, width: 1, height: 1), with: .blue)
      }
      for y in 0..<20 {
        for x in 0..<20 {
          let isTurned = (7..<10).contains(x) && (10..<20).contains(y)
          #expect(drawn[x, y] == (isTurned ? .red : x + y == 0 ? .blue : .clear))
        }
      }
    }

    @Test("draws bitmaps where they belong after a saved state, too")
    func restoresTheTransform() throws {
      let white = try Bitmap.colors(1, 1) { _, _ in .white }
      let drawn = try draw { canvas in
        canvas.withSavedState { $0.translate(x: 10, y: 10) }
        try canvas.draw(white, in: Canvas.Rect(x: 2, y: 3, width: 1, height: 1))
      }
      #expect(drawn[2, 3] == .white && drawn[12, 13] == .clear)
    }

    @Test("draws bitmaps of every pixel format upright", arguments: [1.0, 2.0])
    func drawsBitmaps(scale: Double) throws {
      let color = try Self.corners()
      let opaque = try Self.corners(2, .bgrx32)
      let words = try Bitmap.tight(2, 2, .bgr16) { x, y in
        [[0x00, 0x7c], [0xe0, 0x03], [0x1f, 0x00], [0xff, 0x7f]][y * 2 + x]
      }
      for bitmap in [color, opaque, words] {
        let drawn = try draw(scale: scale) {
          try $0.draw(
            bitmap, in: Canvas.Rect(x: 1, y: 2, width: 8, height: 6), interpolation: .nearest)
        }
        let (x, y) = (Int(scale), Int(2 * scale))
        let (right, bottom) = (x + Int(8 * scale) - 1, y + Int(6 * scale) - 1)
        #expect(drawn[x, y] == .red && drawn[right, y] == .green)
        #expect(drawn[x, bottom] == .blue && drawn[right, bottom] == .white)
        #expect(drawn[x - 1, y] == .clear && drawn[right + 1, bottom] == .clear)
      }
    }

    @Test("scales bitmaps with the resampler, also where they reach beyond the canvas")
    func drawsBeyondTheCanvas() throws {
      let noise = try Bitmap.noise(64, 64, .bgra32, seed: 9)
      let whole = try Drawing.stretch.drawn(noise, 40, 40)
      let drawn = try draw {
        try $0.draw(noise, in: Canvas.Rect(x: -10, y: -15, width: 40, height: 40))
      }
      #expect(drawn.distance(to: whole, x: 10, y: 15) <= 1)
    }

    @Test("draws a bitmap many times larger than itself at the cost of what is seen")
    func magnifies() throws {
      let corners = try Self.corners()
      let drawn = try draw {
        try $0.draw(
          corners, in: Canvas.Rect(x: -1e9, y: -1e9, width: 2e9 + 10, height: 2e9 + 10),
          interpolation: .nearest)
      }
      #expect(drawn[4, 4] == .red && drawn[5, 4] == .green)
      #expect(drawn[4, 5] == .blue && drawn[5, 5] == .white)
    }

    @Test(
      "draws nothing into rectangles beyond reason",
      arguments: [
        Canvas.Rect(x: 0, y: 0, width: 1e-300, height: 5),
        Canvas.Rect(x: -1e300, y: 0, width: 2e300, height: 5),
        Canvas.Rect(x: .nan, y: 0, width: 5, height: 5),
        Canvas.Rect(x: 0, y: 0, width: .infinity, height: 5),
        Canvas.Rect(x: 0, y: 0, width: -5, height: 5),
      ], [0.0, 30])
    func ignoresUnreasonableRects(rect: Canvas.Rect, degrees: Double) throws {
      let white = try Bitmap.colors(4, 4) { _, _ in .white }
      let drawn = try draw {
        $0.rotate(degrees: degrees)
        try $0.draw(white, in: rect)
      }
      #expect(drawn.allPixels == [.clear])
    }

    @Test("covers pixels at a bitmap's edge as far as it reaches")
    func coversEdges() throws {
      let white = try Bitmap.colors(4, 4) { _, _ in .white }
      let drawn = try draw {
        try $0.draw(white, in: Canvas.Rect(x: 2.5, y: 4, width: 5, height: 4.25))
      }
      #expect(drawn[2, 5].distance(to: BGRA(128, 128, 128, 128)) <= 2)
      #expect(drawn[4, 8].distance(to: BGRA(64, 64, 64, 64)) <= 2)
      #expect(drawn[3, 4] == .white)
    }

    @Test("turns and mirrors bitmaps")
    func turnsBitmaps() throws {
      let corners = try Self.corners(10)
      let turned = try draw {
        $0.translate(x: 20, y: 0)
        $0.rotate(degrees: 90)
        try $0.draw(corners, in: Canvas.Rect(x: 0, y: 0, width: 20, height: 20))
      }
      let mirrored = try draw {
        $0.translate(x: 20, y: 0)
        $0.scale(x: -1, y: 1)
        try $0.draw(corners, in: Canvas.Rect(x: 0, y: 0, width: 20, height: 20))
      }
      let places = [(1, 1), (18, 1), (1, 18), (18, 18)]
      #expect(places.map { turned[$0.0, $0.1] } == [.blue, .red, .white, .green])
      #expect(places.map { mirrored[$0.0, $0.1] } == [.green, .red, .white, .blue])
      // The outermost pixels lie between the bitmap's border and nothing.
      #expect(turned.allPixels.allSatisfy { $0.alpha == 255 })
    }

    @Test("draws bitmaps at an opacity")
    func drawsTransparent() throws {
      let white = try Bitmap.colors(4, 4) { _, _ in .white }
      let drawn = try draw { canvas in
        canvas.fill(.black)
        try canvas.draw(white, in: canvas.bounds, opacity: 0.25)
      }
      #expect(drawn[5, 5].distance(to: BGRA(64, 64, 64)) <= 1)
    }

    @Test(
      "blends",
      arguments: [
        (Canvas.BlendMode.normal, 0.75), (.multiply, 0.375), (.screen, 0.875), (.overlay, 0.75),
        (.darken, 0.5), (.lighten, 0.75), (.difference, 0.25), (.exclusion, 0.5),
        (.hardLight, 0.75), (.colorDodge, 1), (.colorBurn, 1.0 / 3), (.luminosity, 0.75),
        (.softLight, 0.6036), (.color, 0.5), (.hue, 0.5), (.saturation, 0.5),
      ])
    func blends(mode: Canvas.BlendMode, expected: Double) throws {
      let bitmap = try Bitmap.tight(1, 1, .gray8) { _, _ in [191] }
      let filled = try draw {
        $0.fill(Canvas.Color(white: 0.5))
        $0.fill($0.bounds, with: Canvas.Color(white: 0.75), blendMode: mode)
      }
      let painted = try draw {
        $0.fill(Canvas.Color(white: 0.5))
        try $0.draw(bitmap, in: $0.bounds, blendMode: mode)
      }
      for drawn in [filled, painted] {
        #expect(abs(Double(drawn[9, 9].green) - expected * 255) <= 3)
        #expect(drawn[9, 9].alpha == 255)
      }
    }

    @Test("has bounds, and rectangles that shrink about their middle")
    func bounds() throws {
      let drawn = try draw(scale: 2) {
        $0.fill($0.bounds.inset(by: 2), with: .red)
        $0.fill($0.bounds.inset(by: 9), with: .blue)
      }
      #expect((0..<20).filter { drawn[$0, 10] == .red } == Array(4..<16))
      #expect((0..<20).filter { drawn[10, $0] == .red } == Array(4..<16))
    }
  }
#endif
