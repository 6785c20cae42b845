#if canImport(CoreGraphics) || Cairo
  import Foundation
  import ImageCodecs
  import Pixels
  import TestSupport
  import Testing

  @testable import FastImageCache

  /// A closure can be held in the middle of a drawing, so what happens meanwhile is tested here too.
  @Suite("A request with a drawing closure", .timeLimit(.minutes(10)))
  struct DrawingClosureTests {
    @Test("is not replaced, once stored by hand, by a load that began meanwhile and ends later")
    func staysWhenLoadEndsLater() async throws {
      let (fixture, gate) = try await Fixture.gated()
      let (drawing, release) = (Counter(), Gate())
      let plain = Photo("a", url: "test:/8")
      var photo = plain
      photo.drawing = .custom { _, canvas in
        drawing.increment()
        release.waitBlocking()
        canvas.fill(.black)
      }
      let (cache, byHand) = (fixture.cache, photo)
      async let stored = cache.store(solid(3), for: byHand, format: .row)
      await drawing.reaches(1)
      async let asked = cache.image(for: plain, format: .row)
      // Keeps the load going when the other is answered by what was stored.
      async let keeping = cache.image(for: Photo("b", url: "test:/8"), format: .row)
      await fixture.subscribers(2)
      await fixture.source.started.reaches(1)
      release.open()
      _ = try await (stored, asked)
      gate.open()
      _ = try await keeping
      await fixture.quiet()
      let image = try #require(cache.cachedImage(for: plain, format: .row))
      #expect(image.withPixels { $0.unsafeLoad(fromByteOffset: 2, as: UInt8.self) } == 0)
    }

    #if !canImport(ImageIO)
      @Test("does not leave its small decode to a larger image of the same file")
      func decodesAgainForLargerImage() async throws {
        let size = PixelSize(width: 320, height: 240)
        let data = try colourfulFile(size)
        let small = ImageFormat("small", 120, 90)
        let whole = ImageFormat("whole", size.width, size.height)
        let source = ScriptedSource { _, _, _ in .encoded(data) }
        let alone = try await Fixture([small, whole], source: source)
        let expected = try await alone.cache.image(for: Photo("b", url: "test:/1"), format: whole)

        let fixture = try await Fixture([small, whole], source: source)
        let (started, release) = (Counter(), Gate())
        var photo = Photo("a", url: "test:/1")
        photo.drawing = .custom { _, canvas in
          started.increment()
          release.waitBlocking()
          canvas.fill(.black)
        }
        let (cache, entity) = (fixture.cache, photo)
        async let first = cache.image(for: entity, format: small)
        await started.reaches(1)
        async let second = cache.image(for: Photo("b", url: "test:/1"), format: whole)
        await fixture.subscribers(2)
        release.open()
        _ = try await first
        #expect(try await bytes(of: second) == bytes(of: expected))
      }

      /// Colours that change from pixel to pixel, stored at half the resolution of brightness.
      private func colourfulFile(_ size: PixelSize) throws -> Data {
        let layout = try #require(PixelLayout(size: size, format: .bgrx32))
        let bitmap = try Bitmap(layout: layout) { bytes in
          for y in 0..<size.height {
            for x in 0..<size.width {
              let wave = sin(Double(x) / 3) * cos(Double(y) / 3.7)
              bytes[y * layout.rowBytes + x * 4] = UInt8(127 + 100 * wave)
              bytes[y * layout.rowBytes + x * 4 + 1] = 128
              bytes[y * layout.rowBytes + x * 4 + 2] = UInt8(127 - 100 * wave)
            }
          }
        }
        return try bitmap.jpegData(quality: 0.92)
      }

      private func bytes(of image: CachedImage) -> [UInt8] {
        image.withPixels { pixels in pixels.withUnsafeBytes { Array($0) } }
      }
    #endif

    @Test("stores nothing when it is cancelled while the image is drawn", arguments: [true, false])
    func stopsDrawing(isLast: Bool) async throws {
      let (started, release) = (Counter(), Gate())
      let fixture = try await Fixture()
      var photo = Photo("a", url: "test:/6")
      photo.drawing = .custom { _, canvas in
        started.increment()
        release.waitBlocking()
        canvas.fill(.white)
      }
      let entity = photo
      let row = Task { try await fixture.image(entity) }
      let other = isLast ? nil : Task { try await fixture.image(entity) }
      await started.reaches(1)
      if !isLast { await fixture.subscribers(2) }
      row.cancel()
      await #expect(throws: ImageCacheError.self) { try await row.value }
      release.open()
      _ = try await other?.value
      await fixture.quiet()
      #expect(fixture.cache.containsImage(for: entity, format: .row) == !isLast)
    }

    @Test("says that storing by hand was cancelled when it is, while the image is drawn")
    func cancelsStoring() async throws {
      let (started, release) = (Counter(), Gate())
      let fixture = try await Fixture()
      var photo = Photo("a")
      photo.drawing = .custom { _, _ in
        started.increment()
        release.waitBlocking()
        throw CancellationError()
      }
      let (entity, bitmap) = (photo, try solid(5))
      let storing = Task {
        try await fixture.cache.store(bitmap, for: entity, format: .row)
      }
      await started.reaches(1)
      storing.cancel()
      release.open()
      await #expect(throws: ImageCacheError.cancelled) { try await storing.value }
      #expect(!fixture.cache.containsImage(for: entity, format: .row))
    }

    @Test("that throws stores nothing and says why")
    func refusesBrokenDrawing() async throws {
      struct Broken: Error {}
      let fixture = try await Fixture()
      var photo = Photo("a")
      photo.drawing = .custom { _, _ in throw Broken() }
      let error = ImageCacheError.drawingFailed(entity: "a", format: "row", underlying: Broken())
      await #expect(throws: error) {
        try await fixture.cache.store(solid(5), for: photo, format: .row)
      }
      #expect(!fixture.cache.containsImage(for: photo, format: .row))
    }

    @Test("may ask the cache from it without deadlock")
    func reentersCache() async throws {
      let fixture = try await Fixture([.row, .large])
      let cache = fixture.cache
      try await cache.store(solid(3), for: Photo("badge"), format: .row)
      var photo = Photo("a", url: "test:/5")
      let seen = Counter()
      photo.drawing = .custom { _, canvas in
        if cache.cachedImage(for: Photo("badge"), format: .row) != nil { seen.increment() }
        _ = cache.containsImage(for: Photo("a"), format: .large)
        canvas.fill(.black)
      }
      _ = try await cache.image(for: photo, format: .large)
      #expect(seen.value == 1)
    }
  }

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
      let drawn = try await fixture.image(photo).makeBitmap()
      #expect(pixel(drawn, 0, 0) == [5, 0, 77, 255] && pixel(drawn, 3, 4) == [5, 0, 77, 255])
      #expect(pixel(drawn, 4, 4) == [99, 0, 77, 255] && pixel(drawn, 7, 7) == [99, 0, 77, 255])
    }
  }
#endif
