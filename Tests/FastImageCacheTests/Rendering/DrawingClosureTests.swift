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
      let gate = CancellableGate()
      let fixture = try await Fixture(source: ScriptedSource(gate: gate))
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
        let small = ImageFormat(
          name: "small", size: .exact(PixelSize(width: 120, height: 90)), pixelFormat: .bgrx32,
          capacity: 4)
        let whole = ImageFormat(
          name: "whole", size: .exact(size), pixelFormat: .bgrx32, capacity: 4)
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

    @Test("is drawn before any other image of its load is stored, so that all can be given up")
    func comesBeforeAnswers() async throws {
      let gate = CancellableGate()
      let fixture = try await Fixture(source: ScriptedSource(gate: gate))
      let recorder = fixture.cache.recorder
      let storedEarly = Counter()
      var photo = Photo("b", url: "test:/5")
      photo.drawing = .custom { _, canvas in
        if recorder.counts.stores > 0 { storedEarly.increment() }
        canvas.fill(.black)
      }
      let plain = Photo("a", url: "test:/5")
      let first = Task { try await fixture.cache.image(for: plain, format: .row) }
      await fixture.subscribers(1)
      let second = Task { [photo] in try await fixture.cache.image(for: photo, format: .row) }
      await fixture.subscribers(2)
      gate.open()
      _ = try await (first.value, second.value)
      #expect(storedEarly.value == 0)
      #expect(recorder.counts.fetches == 1 && recorder.counts.stores == 2)
    }

    @Test("answers before the rest of the family is drawn")
    func comesSecond() async throws {
      let release = Gate()
      let drawn = Counter()
      let fixture = try await Fixture([.large, .dot])
      var photo = Photo("a")
      photo.drawing = .custom { _, canvas in
        drawn.increment()
        if canvas.size.width < 10 { release.waitBlocking() }
        canvas.fill(.white)
      }
      // Answered although the small one cannot be finished.
      _ = try await fixture.cache.image(for: photo, format: .large)
      await drawn.reaches(2)
      #expect(!fixture.cache.containsImage(for: photo, format: .dot))
      release.open()
      await fixture.quiet()
      #expect(fixture.cache.containsImage(for: photo, format: .dot))
    }

    @Test(
      "stores nothing when it is cancelled while the image is drawn", arguments: [true, false])
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
      let row = Task { try await fixture.cache.image(for: entity, format: .row) }
      let other = isLast ? nil : Task { try await fixture.cache.image(for: entity, format: .row) }
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
      do {
        _ = try await storing.value
        Issue.record("It was stored.")
      } catch ImageCacheError.cancelled {}
      #expect(!fixture.cache.containsImage(for: entity, format: .row))
    }

    @Test("that throws stores nothing and says why")
    func refusesBrokenDrawing() async throws {
      struct Broken: Error {}
      let fixture = try await Fixture()
      var photo = Photo("a")
      photo.drawing = .custom { _, _ in throw Broken() }
      let bitmap = try solid(5)
      do throws(ImageCacheError) {
        try await fixture.cache.store(bitmap, for: photo, format: .row)
        Issue.record("Storing succeeded.")
      } catch {
        guard case .drawingFailed(let entity, let format, let own) = error else { throw error }
        #expect(entity == "a" && format == "row" && own is Broken)
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
#endif
