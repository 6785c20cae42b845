#if !canImport(CoreGraphics) && !Cairo
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A build without a canvas", .timeLimit(.minutes(10)))
  struct UnavailableCanvasTests {
    @Test("says so when a closure or a bitmap is to be drawn")
    func failsClearly() throws {
      let source = try Bitmap.colors(1, 1) { _, _ in .red }
      let errors = [
        #expect(throws: DrawingError.self) {
          try Drawing.custom { _, canvas in canvas.fill(.red) }.drawn(source, 4, 4)
        },
        #expect(throws: DrawingError.self) {
          try Bitmap(size: PixelSize(width: 4, height: 4)) { $0.fill(.red) }
        },
      ]
      for error in errors {
        guard case .canvasUnavailable? = error else { throw CancellationError() }
      }
    }
  }
#endif
