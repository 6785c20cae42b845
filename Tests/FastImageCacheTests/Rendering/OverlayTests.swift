#if canImport(CoreGraphics) || Cairo
  import FastImageCache
  import Foundation
  import Testing

  @Suite("A canvas", .timeLimit(.minutes(10)))
  struct OverlayTests {
    private func pixel(_ bitmap: Bitmap, _ x: Int, _ y: Int) -> [UInt8] {
      bitmap.withPixels { span in
        (0..<4).map {
          span.unsafeLoad(
            fromByteOffset: y * bitmap.layout.rowBytes + x * 4 + $0, as: UInt8.self)
        }
      }
    }

    @Test("takes images of the cache")
    func drawsCachedImages() async throws {
      let fixture = try await Fixture()
      let left = try await fixture.cache.store(solid(10), for: Photo("a"), format: .row)
      let right = try await fixture.cache.store(solid(20), for: Photo("b"), format: .row)
      let sheet = try Bitmap(size: PixelSize(width: 16, height: 8)) { canvas in
        try canvas.draw(left, in: Canvas.Rect(x: 0, y: 0, width: 8, height: 8))
        try canvas.draw(right, in: Canvas.Rect(x: 8, y: 0, width: 8, height: 8), opacity: 0.5)
      }
      #expect(pixel(sheet, 7, 7) == [10, 0, 77, 255])
      let faint = pixel(sheet, 8, 0)
      #expect(faint[0] == 10 && (38...39).contains(faint[2]) && (127...128).contains(faint[3]))
    }

    @Test("of an entity's closure takes a decoded overlay")
    func drawsOverlay() async throws {
      let fixture = try await Fixture()
      let mark = try Bitmap(
        decoding: solid(99, size: PixelSize(width: 64, height: 64)).pngData(),
        upTo: PixelSize(width: 4, height: 4))
      var photo = Photo("a", url: "test:/5")
      photo.drawing = .custom { source, canvas in
        try canvas.draw(source, in: canvas.bounds)
        try canvas.draw(mark, in: Canvas.Rect(x: 4, y: 4, width: 4, height: 4))
      }
      let drawn = try await fixture.cache.image(for: photo, format: .row).makeBitmap()
      #expect(pixel(drawn, 0, 0) == [5, 0, 77, 255] && pixel(drawn, 3, 4) == [5, 0, 77, 255])
      #expect(pixel(drawn, 4, 4) == [99, 0, 77, 255] && pixel(drawn, 7, 7) == [99, 0, 77, 255])
    }
  }
#endif
