#if Cairo && canImport(CCairo)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("Loading Cairo", .timeLimit(.minutes(10)))
  struct CairoLibraryTests {
    /// In a process that has loaded no Cairo yet.
    @Test("says which package to install, or which function is missing, and succeeds later")
    func failures() async {
      await #expect(processExitsWith: .exitCode(3)) {
        var failureCount: Int32 = 0
        func fail(_ name: String, _ reason: String) {
          do throws(DrawingError) {
            try CairoLibrary.load(name)
          } catch {
            let text = error.description
            if text.contains("libcairo2"), text.contains(reason) { failureCount += 1 }
          }
        }
        fail("libcairo-none.so", "libcairo-none.so: cannot open shared object file")
        fail("libc.so.6", "libc.so.6 has no cairo_create")
        let drawing = Drawing.custom { _, canvas in canvas.clear() }
        let source = try Bitmap.colors(1, 1) { _, _ in .clear }
        _ = try drawing.drawn(source, 4, 4, scale: 1)
        exit(failureCount + 1)
      }
    }
  }
#endif
