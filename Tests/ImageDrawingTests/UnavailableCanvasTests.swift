#if !canImport(CoreGraphics) && !Cairo
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A build without a canvas", .timeLimit(.minutes(10)))
  struct UnavailableCanvasTests {
    @Test("says so when a closure is to draw")
    func failsClearly() throws {
      let source = try Bitmap.colors(1, 1) { _, _ in .red }
      do throws(DrawingError) {
        _ = try Drawing.custom { _, canvas in canvas.fill(.red) }.drawn(source, 4, 4)
        Issue.record("A closure drew on nothing.")
      } catch .canvasUnavailable {
        return
      } catch {
        Issue.record("\(error)")
      }
    }

    @Test("says so when a bitmap is to be drawn")
    func failsClearlyForBitmaps() {
      #expect {
        try Bitmap(size: PixelSize(width: 4, height: 4)) { $0.fill(.red) }
      } throws: {
        if case .canvasUnavailable? = $0 as? DrawingError { true } else { false }
      }
    }
  }
#endif
