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
      _ = try await fixture.image(Photo("a", url: "test:/1"), format)
      #expect(widths == [width])
    }

    @Test("of a family is met by one decode, the finest wish included", arguments: [true, false])
    func isShared(finestIsAsked: Bool) async throws {
      let formats = [Self.format(.balanced, family: "f"), Self.format(.best, family: "f")]
      let fixture = try await fixture(formats)
      let photo = Photo("a", url: "test:/1")
      _ = try await fixture.image(photo, formats[finestIsAsked ? 1 : 0])
      await fixture.quiet()
      #expect(fixture.cache.cachedFormats(for: photo) == formats)
      #expect(widths == [76])
    }

    /// At 32 x 32 the finest decode is the one at 1/2, which declares 432 kB; one at 1/4 declares 364 kB.
    @Test(
      "shrinks where its finest decode is too large",
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
        _ = try await fixture.image(Photo("a", url: "test:/1"), format)
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
      let image = try await fixture.image(Photo("a", url: "test:/1"), format)
      let bitmap = try Bitmap(decoding: Self.data(), upTo: largest)
      #expect(bitmap.layout == image.layout)
      func bytes(_ bitmap: Bitmap) -> [UInt8] {
        bitmap.withPixels { $0.withUnsafeBytes { Array($0) } }
      }
      #expect(try bytes(bitmap) == bytes(image.makeBitmap()))
    }
  }

  /// What decoders leave out, the loader must not let be seen: images are drawn from a file and from
  /// all of its pixels. The bounds stand between 2.3 times the size drawn, which is the rule, and 1.5
  /// times, with which rings appear that the image does not have.
  @Suite("An image that is drawn from a smaller decode", .timeLimit(.minutes(10)))
  struct DecodeSizeTests {
    private static let size = PixelSize(width: 800, height: 600)

    private struct Shown: ImageEntity {
      let imageID: ImageID
      let content: ImageSourceResponse

      func versionID(for format: ImageFormat) -> ImageID { imageID }
      func sourceURL(for format: ImageFormat) -> URL? { nil }
      func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? { content }
      func prerendersFamily(_ family: String) -> Bool { false }
    }

    /// Rings that become finer outwards, until two pixels are a period.
    private func rings() throws -> Bitmap {
      try image { x, y in
        let squared = Double((x - 400) * (x - 400) + (y - 300) * (y - 300))
        return 127.5 + 127.5 * cos(.pi * squared / 800)
      }
    }

    private func image(_ gray: (Int, Int) -> Double) throws -> Bitmap {
      let layout = try #require(PixelLayout(size: Self.size, format: .bgrx32))
      return try Bitmap(layout: layout) { bytes in
        for y in 0..<Self.size.height {
          for x in 0..<Self.size.width {
            let value = UInt8(gray(x, y))
            for channel in 0..<3 { bytes[y * layout.rowBytes + x * 4 + channel] = value }
          }
        }
      }
    }

    /// The first is decoded at 2.3 times its size. The second is decoded whole, with coarse
    /// colours, which are no matter of brightness.
    @Test("differs little from one of all pixels", arguments: [(172, 129, 3.0), (266, 200, 0.01)])
    func differsLittle(width: Int, height: Int, bound: Double) async throws {
      let data = try rings().jpegData(quality: 0.92)
      let decoder = try #require(ImageDecoders.standard.first { $0.recognizes(data.prefix(64)) })
      let format = ImageFormat("drawn", width, height, capacity: 2)
      let fixture = try await Fixture([format])
      let small = try await fixture.image(Shown(imageID: "file", content: .encoded(data)), format)
        .makeBitmap()
      let exact = try await fixture.image(
        Shown(imageID: "pixels", content: .bitmap(decoder.decode(data, DecodeRequest()))), format
      ).makeBitmap()
      let sum = small.withPixels { small in
        exact.withPixels { exact in
          (0..<small.byteCount).reduce(0) { sum, index in
            let one = small.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            let other = exact.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            return sum + abs(Int(one) - Int(other))
          }
        }
      }
      // Of four bytes three are colours.
      #expect(Double(sum) / Double(width * height * 3) <= bound)
    }
  }
#endif
