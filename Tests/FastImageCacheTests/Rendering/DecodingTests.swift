#if !canImport(ImageIO)
  import FastImageCache
  import Foundation
  import ImageCodecs
  import Locking
  import Pixels
  import TestSupport
  import Testing

  @Suite("A format's decoding", .timeLimit(.minutes(10)))
  struct DecodingTests {
    /// At 1/8 this is 1.9 times what is shown: enough for the usual wish.
    private static let size = PixelSize(width: 304, height: 304)

    private static func format(
      _ decoding: ImageFormat.Quality, family: String? = nil, side: Int = 20
    ) -> ImageFormat {
      ImageFormat(
        name: "\(decoding.rawValue)-\(side)", family: family,
        size: .exact(PixelSize(width: side, height: side)), pixelFormat: .bgrx32, capacity: 4,
        quality: decoding)
    }

    private let sizes = Lock<[PixelSize]>([])
    private var widths: [Int] { sizes.withLock { $0.map(\.width) } }
    private var decoders: [any ImageDecoder] {
      ImageDecoders.standard.map { SizeNotingDecoder(decoder: $0, sizes: sizes) }
    }

    private static func data() throws -> Data {
      let layout = PixelLayout(for: size, format: .bgrx32)
      return try Bitmap(layout: layout) { bytes in
        for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index / 24) }
      }.jpegData(quality: 0.9)
    }

    private func fixture(
      _ formats: [ImageFormat], _ change: (inout ImageCache.Configuration) -> Void = { _ in }
    ) async throws -> Fixture {
      let data = try Self.data()
      return try await Fixture(formats, source: ScriptedSource { _, _, _ in .encoded(data) }) {
        $0.decoders = decoders
        change(&$0)
      }
    }

    @Test(
      "asks for more of a file's pixels where it is the finest",
      arguments: [(ImageFormat.Quality.balanced, 38), (.best, 76)])
    func asksForMore(decoding: ImageFormat.Quality, width: Int) async throws {
      let format = Self.format(decoding)
      let fixture = try await fixture([format])
      _ = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: format)
      #expect(widths == [width])
    }

    @Test("of a family is met by one decode, the finest wish included", arguments: [true, false])
    func isShared(finestIsAsked: Bool) async throws {
      let formats = [Self.format(.balanced, family: "f"), Self.format(.best, family: "f")]
      let fixture = try await fixture(formats)
      let photo = Photo("a", url: "test:/1")
      _ = try await fixture.cache.image(for: photo, format: formats[finestIsAsked ? 1 : 0])
      await fixture.quiet()
      #expect(fixture.cache.cachedFormats(for: photo) == formats)
      #expect(widths == [76])
    }

    /// At 32 x 32 the finest decode is the one at 1/2, which declares 432 kB; one at 1/4 declares 364 kB.
    @Test(
      "shrinks where the finest decode would exceed the memory",
      arguments: [(1 << 20, 152), (400_000, 76)])
    func shrinks(byteBudget: Int, width: Int) async throws {
      let format = Self.format(.best, side: 32)
      for isLimit in [false, true] {
        let fixture = try await fixture([format]) {
          if isLimit {
            $0.limits.workingByteCount = byteBudget
          } else {
            $0.resources = LoadResources(decodeByteBudget: byteBudget)
          }
        }
        _ = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: format)
        #expect(widths.last == width)
      }
    }

    /// At 34 x 34 the usual margin asks for 1/2, and the least one for 1/4.
    @Test(
      "shrinks for a bitmap outside of any cache",
      arguments: [(1 << 20, [152]), (400_000, [76]), (300_000, [])])
    func shrinksOutside(workingByteCount: Int, widths: [Int]) throws {
      var limits = DecodingLimits()
      limits.workingByteCount = workingByteCount
      let bitmap = try? Bitmap(
        decoding: Self.data(), upTo: PixelSize(width: 34, height: 34), decoders: decoders,
        limits: limits)
      #expect(bitmap?.size.width == (widths.isEmpty ? nil : 34))
      #expect(self.widths == widths)
    }

    @Test("is balanced for a bitmap outside of any cache")
    func isBalancedOutside() async throws {
      let largest = PixelSize(width: 20, height: 20)
      let format = ImageFormat(
        name: "f", size: .fitting(largest), pixelFormat: .bgrx32, capacity: 4)
      let fixture = try await fixture([format])
      let image = try await fixture.cache.image(for: Photo("a", url: "test:/1"), format: format)
      let bitmap = try Bitmap(decoding: Self.data(), upTo: largest)
      #expect(bitmap.layout == image.layout)
      func bytes(_ bitmap: Bitmap) -> [UInt8] {
        bitmap.withPixels { $0.withUnsafeBytes { Array($0) } }
      }
      #expect(try bytes(bitmap) == bytes(image.makeBitmap()))
    }

    @Test("starts the table afresh when it changes")
    func startsAfresh() async throws {
      let directory = try TemporaryDirectory()
      for (decoding, isThere) in [
        (ImageFormat.Quality.balanced, false), (.balanced, true), (.best, false),
        (.best, true), (.balanced, false),
      ] {
        let format = ImageFormat(
          name: "f", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4, quality: decoding)
        let fixture = try await Fixture([format], directory: directory)
        #expect(fixture.cache.containsImage(for: Photo("a"), format: format) == isThere)
        try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
        await fixture.cache.close()
      }
    }

    @Test("is part of what is written of a format")
    func isEncoded() throws {
      for decoding in [ImageFormat.Quality.balanced, .best] {
        let format = Self.format(decoding)
        let data = try JSONEncoder().encode(format)
        #expect(try JSONDecoder().decode(ImageFormat.self, from: data) == format)
      }
      #expect(Self.format(.balanced).quality != Self.format(.best).quality)
    }
  }
#endif
