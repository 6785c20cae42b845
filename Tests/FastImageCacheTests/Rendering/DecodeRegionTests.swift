#if !canImport(ImageIO)
  import Foundation
  import ImageCodecs
  import ImageDrawing
  import Locking
  import Pixels
  import TestSupport
  import Testing

  @testable import FastImageCache

  /// What lies beside a drawing is not decoded, and nobody may miss it.
  @Suite("An image of which a part is shown", .timeLimit(.minutes(10)))
  struct DecodeRegionTests {
    private static let size = PixelSize(width: 900, height: 300)

    private static let right = end("right", 60)

    private static func end(_ name: String, _ side: Int) -> ImageFormat {
      ImageFormat(name, side, family: "ends")
    }

    private let data: Data
    private let sizes = Lock<[PixelSize]>([])

    /// Shown in formats whose names say which end.
    private struct Ends: ImageEntity {
      let imageID: ImageID = "ends"

      func versionID(for format: ImageFormat) -> ImageID { imageID }
      func sourceURL(for format: ImageFormat) -> URL? { URL(string: "test:/ends") }
      func drawing(for format: ImageFormat) -> Drawing {
        let ends: [String: Drawing.Alignment] = ["left": .left, "right": .right, "top": .top]
        return .aspectFill(alignment: ends[format.name] ?? .bottom)
      }
    }

    init() throws { data = try Self.data(Self.size) }

    private static func data(_ size: PixelSize) throws -> Data {
      let layout = PixelLayout(for: size, format: .bgrx32)
      return try Bitmap(layout: layout) { bytes in
        for y in 0..<size.height {
          for x in 0..<size.width {
            let start = y * layout.rowBytes + x * 4
            bytes[start] = UInt8(truncatingIfNeeded: x / 4)
            bytes[start + 1] = UInt8(truncatingIfNeeded: y)
            bytes[start + 2] = UInt8(truncatingIfNeeded: (x + y) / 5)
          }
        }
      }.jpegData(quality: 0.9)
    }

    private func fixture(
      _ formats: [ImageFormat], of data: Data? = nil,
      _ change: (inout ImageCache.Configuration) -> Void = { _ in }
    ) async throws -> Fixture {
      let data = data ?? self.data
      return try await Fixture(formats, source: ScriptedSource { _, _, _ in .encoded(data) }) {
        $0.decoders = ImageDecoders.standard.map { SizeNotingDecoder(decoder: $0, sizes: sizes) }
        change(&$0)
      }
    }

    /// The same drawing from a decode of everything.
    private func expected(_ photo: Ends, _ format: ImageFormat) throws -> [UInt8] {
      let decoder = try ImageDecoders.standard.decoder(for: data)
      let whole = try decoder.decode(
        data, DecodeRequest(minimumSize: PixelSize(width: 300, height: 100)))
      let layout = PixelLayout(for: format.size, format: format.pixelFormat)
      return try Bitmap(layout: layout) { bytes in
        try photo.drawing(for: format).draw(
          whole, into: bytes, layout: layout, scale: 1, upTo: false, isCancelled: { false })
      }.bytes
    }

    @Test("is decoded without the rest, and looks the same")
    func leavesOut() async throws {
      let photo = Ends()
      let fixture = try await fixture([Self.right])
      let image = try await fixture.image(photo, Self.right)
      #expect(try image.makeBitmap().bytes == expected(photo, Self.right))
      // At 4/8 the right third of 450 columns, from a border of blocks on.
      let decoded = try #require(sizes.withLock { $0 }.first)
      #expect((150..<158).contains(decoded.width) && decoded.height == 150)
      #expect(sizes.withLock { $0 }.count == 1)
    }

    @Test(
      "in several formats is decoded once, with the parts of all",
      arguments: [["left", "right"], ["right", "left"], ["top", "bottom"], ["bottom", "top"]])
    func decodesUnionOfParts(names: [String]) async throws {
      let formats = names.map { Self.end($0, 40) }
      let isUpright = names.contains("top")
      let data = try Self.data(
        isUpright ? PixelSize(width: Self.size.height, height: Self.size.width) : Self.size)
      let fixture = try await fixture(formats, of: data)
      _ = try await fixture.image(Ends(), formats[0])
      await fixture.quiet()
      for format in formats where !isUpright {
        let image = try #require(fixture.cache.cachedImage(for: Ends(), format: format))
        #expect(try image.makeBitmap().bytes == expected(Ends(), format))
      }
      let whole = isUpright ? PixelSize(width: 75, height: 225) : PixelSize(width: 225, height: 75)
      #expect(
        sizes.withLock { $0 } == [PixelSize(width: whole.width * 2, height: whole.height * 2)])
    }

    @Test("is decoded again for a part or a size that the decode does not have")
    func isDecodedAgain() throws {
      let (full, end) = (ImageRegion(Self.size), ImageRegion(columns: 600..<900, rows: 0..<300))
      func photo(
        for side: Int, showing region: ImageRegion, of data: Data
      ) throws -> SourceImage {
        let decoder = try ImageDecoders.standard.decoder(for: data)
        let minimum = PixelSize(width: 3 * side, height: side)
        var request = DecodeRequest(minimumSize: minimum)
        (request.hasMargin, request.region) = (true, region)
        var photo = SourceImage(
          url: nil, content: .encoded(data, decoder, try decoder.header(of: data)),
          decoded: try decoder.decode(data, request))
        photo.decodedSize = minimum
        return photo
      }
      func size(_ side: Int) -> PixelSize { PixelSize(width: 3 * side, height: side) }
      let part = try photo(for: 60, showing: end, of: data)
      #expect(part.isDecoded(to: size(60), showing: end, in: .sRGB))
      #expect(!part.isDecoded(to: size(60), showing: full, in: .sRGB))
      let averages = try photo(for: 40, showing: full, of: data)
      // 38 rows, which are averages: enough for what they were asked for.
      #expect(averages.decoded?.size.height == 38)
      #expect(averages.isDecoded(to: size(40), showing: full, in: .sRGB))
      #expect(!averages.isDecoded(to: size(41), showing: full, in: .sRGB))
      // 75 rows, which lack frequencies: enough for 65, whatever they were asked for.
      let filtered = try photo(for: 50, showing: full, of: data)
      #expect(filtered.decoded?.size.height == 75)
      #expect(filtered.isDecoded(to: size(65), showing: full, in: .sRGB))
      #expect(!filtered.isDecoded(to: size(66), showing: full, in: .sRGB))
      // 60 rows of a decoder that scales smoothly: enough for 60.
      let smooth = try photo(
        for: 55, showing: full, of: solid(1, size: Self.size).pngData())
      #expect(smooth.decoded?.size.height == 60)
      #expect(smooth.isDecoded(to: size(60), showing: full, in: .sRGB))
      #expect(!smooth.isDecoded(to: size(61), showing: full, in: .sRGB))
    }

    @Test("is whole in the hook that looks at it")
    func isWholeInHook() async throws {
      let seen = Lock<[PixelSize]>([])
      let fixture = try await fixture([Self.right]) {
        $0.willStore = { image in
          let size = image.bitmap.size
          seen.withLock { $0.append(size) }
        }
      }
      _ = try await fixture.image(Ends(), Self.right)
      #expect(seen.withLock { $0 } == [PixelSize(width: 450, height: 150)])
    }

    #if Cairo
      @Test("is whole in the closure that draws it")
      func isWholeInClosure() async throws {
        let seen = Lock<[PixelSize]>([])
        var photo = Photo("closed", url: "test:/panorama")
        photo.drawing = .custom { source, _ in seen.withLock { $0.append(source.size) } }
        let fixture = try await fixture([Self.right])
        _ = try await fixture.image(photo, Self.right)
        #expect(seen.withLock { $0 } == [PixelSize(width: 450, height: 150)])
      }
    #endif
  }

  extension Bitmap {
    fileprivate var bytes: [UInt8] { withPixels { $0.withUnsafeBytes { Array($0) } } }
  }
#endif
