#if Cairo && canImport(CCairo)
  import CCairo
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A canvas of Cairo", .timeLimit(.minutes(10)))
  struct CairoCanvasTests {
    private func draw(
      _ body: @escaping @Sendable (inout Canvas) throws -> Void
    ) throws(DrawingError) -> Drawn {
      let drawing = Drawing.custom { _, canvas in try body(&canvas) }
      guard let source = try? Bitmap.colors(1, 1, color: { _, _ in .clear }) else {
        throw .outOfMemory
      }
      return try drawing.drawn(source, 20, 20, scale: 2)
    }

    @Test("lends its context in points, within its clip, and undoes what happens to its state")
    func lendsContext() throws {
      let drawn = try draw { canvas in
        canvas.clip(to: Canvas.Rect(x: 0, y: 0, width: 5, height: 10))
        canvas.withNativeContext { context in
          cairo_set_source_rgb(context, 0, 1, 0)
          cairo_rectangle(context, 0, 0, 10, 4)
          cairo_fill(context)
          cairo_translate(context, 100, 100)
        }
        canvas.fill(Canvas.Rect(x: 0, y: 8, width: 1, height: 1), with: .red)
      }
      #expect(drawn[9, 7] == .green && drawn[10, 7] == .clear && drawn[9, 8] == .clear)
      #expect(drawn[1, 17] == .red)
    }

    @Test("makes the drawing fail when Cairo does")
    func reportsErrors() throws {
      let error = #expect(throws: DrawingError.self) {
        try draw { canvas in
          canvas.withNativeContext { context in cairo_pop_group_to_source(context) }
        }
      }
      guard case .canvasFailed(let text)? = error, text.contains("cairo_pop_group") else {
        Issue.record("\(String(describing: error))")
        return
      }
    }

    @Test("refuses a size that Cairo cannot draw")
    func refusesSizes() throws {
      let wide = try Bitmap.tight(1, 1, .gray8) { _, _ in [0] }
      let error = #expect(throws: DrawingError.self) {
        try Drawing.custom { _, _ in }.drawn(wide, 40_000, 1)
      }
      guard case .canvasFailed? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }
#endif
