#if canImport(CoreGraphics) || Cairo
  import Locking
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A drawing closure", .timeLimit(.minutes(10)))
  struct CustomDrawingTests {
    private struct Refusal: Error {}

    private let source: Bitmap

    init() throws {
      source = try .colors(8, 8) { x, y in x < 4 ? .red : .blue }
    }

    @Test("gets the source and a canvas of the slot's size in points")
    func receivesSizes() throws {
      let seen = Lock<[String]>([])
      let drawing = Drawing.custom { source, canvas in
        let line = "\(source.size) \(canvas.size) \(canvas.pixelSize) \(canvas.scale)"
        seen.withLock { $0.append(line) }
      }
      _ = try drawing.drawn(source, 30, 20, scale: 2)
      let size = Canvas.Size(width: 15, height: 10)
      #expect(seen.withLock { $0 } == ["8x8 \(size) 30x20 2.0"])
    }

    @Test("starts with nothing on its canvas", arguments: PixelFormat.allCases)
    func startsEmpty(format: PixelFormat) throws {
      let drawn = try Drawing.custom { _, _ in }.drawn(source, 9, 3, format)
      let opaque: [UInt8] = format == .bgrx32 ? [0, 0, 0, 255] : [0, 0, 0, 0]
      for y in 0..<3 {
        let expected = (0..<9).flatMap { _ in opaque.prefix(format.bytesPerPixel) }
        #expect(drawn.row(y) == Array(expected))
      }
      #expect(drawn.paddings.allSatisfy { $0 == 0 })
    }

    @Test("fills the slot in its pixel format", arguments: PixelFormat.allCases)
    func convertsStyles(format: PixelFormat) throws {
      let drawn = try Drawing.custom { _, canvas in canvas.fill(.red) }
        .drawn(source, 2, 1, format)
      let expected: [UInt8] =
        switch format {
        case .bgra32, .bgrx32: [0, 0, 255, 255]
        case .bgr16: [0x00, 0x7c]
        case .gray8: [76]
        }
      #expect(drawn.row(0) == expected + expected)
    }

    @Test("that throws makes the drawing fail with its own error")
    func carriesErrors() throws {
      let drawing = Drawing.custom { _, canvas in
        canvas.fill(.red)
        throw Refusal()
      }
      let error = #expect(throws: DrawingError.self) { try drawing.drawn(source, 4, 4) }
      guard case .closureFailed(is Refusal)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }

    @Test("that throws a cancellation is cancelled")
    func carriesCancellation() throws {
      let drawing = Drawing.custom { _, _ in throw CancellationError() }
      let error = #expect(throws: DrawingError.self) { try drawing.drawn(source, 4, 4) }
      #expect(error?.isCancellation == true)
    }

    @Test("is not run for a drawing that is cancelled")
    func isNotRunWhenCancelled() throws {
      let runs = Lock(0)
      let drawing = Drawing.custom { _, _ in runs.withLock { $0 += 1 } }
      for limit in 0..<2 {
        var questions = 0
        #expect(throws: DrawingError.self) {
          try drawing.drawn(source, 4, 4) {
            questions += 1
            return questions > limit
          }
        }
      }
      #expect(runs.withLock { $0 } == 0)
    }

    @Test("sees colours in sRGB, whatever its source was stored in")
    func convertsFirst() throws {
      struct Invert: ColorConversion {
        func convert(
          _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat,
          to space: ColorSpace
        ) {
          let bytes = pixels.assumingMemoryBound(to: UInt8.self)
          for index in 0..<pixelCount * 4 where index % 4 != 3 { bytes[index] = 255 - bytes[index] }
        }
      }
      let source = try Bitmap.tight(4, 4, .bgrx32, conversion: Invert()) { _, _ in
        [55, 155, 255, 0]
      }
      let seen = Lock<[UInt8]>([])
      let drawn = try Drawing.custom { source, canvas in
        source.withUnsafeBytes { bytes in seen.withLock { $0 = Array(bytes.prefix(3)) } }
        try canvas.draw(source, in: canvas.bounds)
      }.drawn(source, 4, 4)
      #expect(seen.withLock { $0 } == [200, 100, 0])
      #expect(drawn.allPixels == [BGRA(200, 100, 0)])
    }

    @Test(
      "draws its source without the padding beside it, in any pixel format, before and after conversion"
    )
    func leavesPaddingOut() throws {
      struct Identity: ColorConversion {
        func convert(
          _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat,
          to space: ColorSpace
        ) {}
      }
      // Of the left column three quarters are padding; the border between black and white is what
      // moves when the rest counts as image, too.
      let edges = ImageEdges(
        x: 0.75, y: 0, width: 8.25, height: 4, fullSize: PixelSize(width: 33, height: 16))
      let drawing = Drawing.custom { source, canvas in
        try canvas.draw(source, in: canvas.bounds)
      }
      for format in PixelFormat.allCases {
        for conversion in [nil, Identity()] as [Identity?] {
          let source = try Bitmap.tight(9, 4, format, conversion: conversion, edges: edges) {
            x, _ in
            [UInt8](repeating: x < 5 ? 0 : 255, count: format.bytesPerPixel)
          }
          let drawn = try drawing.drawn(source, 4, 4, .gray8)
          let recipe = try Drawing.stretch.drawn(source, 4, 4, .gray8)
          #expect(drawn.row(1) == recipe.row(1))
          // The third of four pixels is 15 % black; 24 % if the padding counts as image.
          #expect((210...220).contains(drawn.row(1)[2]))
        }
      }
    }

    @Test("draws the badge of the documentation")
    func documentation() throws {
      let badge = Drawing.custom { source, canvas in
        canvas.clip(to: .ellipse(in: canvas.bounds))
        try canvas.draw(source, in: canvas.bounds, scaling: .aspectFill)
        canvas.stroke(.ellipse(in: canvas.bounds.inset(by: 1)), with: .white, lineWidth: 2)
      }
      let drawn = try badge.drawn(source, 40, 40)
      #expect(drawn[0, 0] == .clear && drawn[20, 1] == .white)
      #expect(drawn[10, 20] == .red && drawn[30, 20] == .blue)
    }

    @Test("that fills its canvas with the source draws what a recipe draws")
    func matchesRecipes() throws {
      let source = try Bitmap.noise(84, 42, .bgra32, seed: 2)
      for scaling in Drawing.Scaling.allCases {
        let recipe = Drawing(content: .recipe(Drawing.Recipe(scaling: scaling, alignment: .left)))
        let closure = Drawing.custom { source, canvas in
          try canvas.draw(source, in: canvas.bounds, scaling: scaling, alignment: .left)
        }
        let expected = try recipe.drawn(source, 20, 20)
        let drawn = try closure.drawn(source, 20, 20, scale: 2)
        #expect(drawn.distance(to: expected) <= 1)
      }
    }
  }
#endif
