#if canImport(CoreGraphics) || Cairo
  import Foundation
  import Pixels
  import Testing

  @testable import ImageDrawing

  @Suite("A bitmap of its own canvas", .timeLimit(.minutes(10)))
  struct BitmapCanvasTests {
    private struct Refusal: Error, Equatable {}

    @Test("is drawn in points and clear elsewhere")
    func drawsPoints() throws {
      let bitmap = try Bitmap(size: PixelSize(width: 9, height: 6), scale: 2) { canvas in
        #expect(canvas.size == Canvas.Size(width: 4.5, height: 3))
        canvas.fill(Canvas.Rect(x: 1, y: 1, width: 2, height: 2), with: .red)
      }
      #expect(bitmap.layout == PixelLayout(size: PixelSize(width: 9, height: 6), format: .bgra32))
      #expect(bitmap[2, 2] == .red && bitmap[5, 5] == .red)
      #expect(bitmap[1, 2] == .clear && bitmap[6, 5] == .clear)
    }

    @Test("ends with the closure's error as it is")
    func carriesErrors() {
      #expect(throws: Refusal()) {
        try Bitmap(size: PixelSize(width: 2, height: 2)) { canvas in
          canvas.fill(.red)
          throw Refusal()
        }
      }
    }

    @Test("is refused without pixels", arguments: [0, -1, .max])
    func refusesSizes(width: Int) {
      let size = PixelSize(width: width, height: 2)
      #expect(throws: BitmapError.invalidSize(size)) {
        try Bitmap(size: size) { $0.fill(.red) }
      }
    }

    @Test("is refused without a scale", arguments: [0, -1, .infinity, .nan])
    func refusesScales(scale: Double) {
      func isRefused(_ error: any Error) -> Bool {
        guard case .invalidScale(let named) = error as? BitmapError else { return false }
        return named == scale || named.isNaN && scale.isNaN
      }
      #expect {
        try Bitmap(size: PixelSize(width: 2, height: 2), scale: scale) { _ in }
      } throws: { isRefused($0) }
    }

    @Test("may exchange its canvas and give it back")
    func takesCanvasBack() throws {
      let size = PixelSize(width: 2, height: 2)
      var second: Bitmap?
      let first = try Bitmap(size: size) { outer in
        second = try Bitmap(size: size) { inner in
          swap(&outer, &inner)
          inner.fill(.red)
          swap(&outer, &inner)
          inner.fill(.blue)
        }
      }
      #expect(first[1, 1] == .red)
      #expect(try #require(second)[1, 1] == .blue)
    }

    @Test("traps where a closure returns or throws with the canvas of another drawing")
    func keepsCanvas() async {
      await #expect(processExitsWith: .failure) {
        let size = PixelSize(width: 2, height: 2)
        _ = try? Bitmap(size: size) { outer in
          _ = try Bitmap(size: size) { inner in swap(&outer, &inner) }
          exit(0)
        }
        exit(0)
      }
      await #expect(processExitsWith: .failure) {
        let size = PixelSize(width: 2, height: 2)
        _ = try? Bitmap(size: size) { outer in
          _ = try? Bitmap(size: size) { inner in
            swap(&outer, &inner)
            throw Refusal()
          }
          exit(0)
        }
        exit(0)
      }
    }
  }
#endif
