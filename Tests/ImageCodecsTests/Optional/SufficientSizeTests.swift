#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A decode for which a smaller image suffices", .timeLimit(.minutes(10)))
  struct SufficientSizeTests {
    /// A kind of file that holds a thumbnail of 64 times 48 pixels beside an image of 256 times 192.
    enum Kind: CaseIterable {
      case jpeg
      #if HEIF
        case heif
      #endif
      #if HEIF && AVIF
        case avif
      #endif
    }

    /// The encoder behind the AVIF files here turns nothing.
    private static var turning: [Kind] { Kind.allCases.filter { "\($0)" != "avif" } }

    private static let full = PixelSize(width: 256, height: 192)
    private static let small = PixelSize(width: 64, height: 48)

    /// - Parameter orientation: How both are stored.
    private func file(_ kind: Kind, orientation: Int = 1, hasAlpha: Bool = false) -> Data {
      let image = DrawnImage.slopes(Self.full.width, Self.full.height)
      #if HEIF
        func heif(isAV1: Bool) -> Data {
          var options = Fixture.HEIFOptions()
          (options.isAV1, options.hasAlpha, options.thumbnailSide) = (isAV1, hasAlpha, 64)
          (options.isExact, options.orientation) = (false, UInt32(orientation))
          return Fixture.heif(image, options)
        }
      #endif
      switch kind {
      case .jpeg:
        let small = DrawnImage.slopes(Self.small.width, Self.small.height)
        let thumbnail = Fixture.jpeg(small.size, small.rgb)
        return Surgery.adding(
          exif: Surgery.exif(orientation: orientation, thumbnail: thumbnail),
          toJPEG: Fixture.jpeg(image.size, image.rgb))
      #if HEIF
        case .heif: return heif(isAV1: false)
      #endif
      #if HEIF && AVIF
        case .avif: return heif(isAV1: true)
      #endif
      }
    }

    private func decode(
      _ data: Data, sufficient: PixelSize?, atLeast minimumSize: PixelSize? = nil
    ) throws(ImageDecodingError) -> Bitmap {
      let request = DecodeRequest(minimumSize: minimumSize, sufficientSize: sufficient)
      return try ImageDecoders.standard.decoder(for: data).decode(data, request)
    }

    @Test("gives the thumbnail, with the edges of the image", arguments: Kind.allCases)
    func givesThumbnail(kind: Kind) throws {
      for sufficient in [
        Self.small, PixelSize(width: 40, height: 40), PixelSize(width: 1, height: 1),
      ] {
        let bitmap = try decode(file(kind), sufficient: sufficient)
        #expect(bitmap.size == Self.small)
        #expect(bitmap.edges.fullSize == Self.full)
        let expected = DrawnImage.slopes(Self.small.width, Self.small.height).opaqueBGRX
        #expect(largestDifference(bitmap.packedBytes, expected) <= 12)
      }
    }

    @Test("gives the thumbnail whatever the minimum is", arguments: Kind.allCases)
    func comesBeforeMinimum(kind: Kind) throws {
      let minimum = PixelSize(width: 128, height: 96)
      let bitmap = try decode(file(kind), sufficient: Self.small, atLeast: minimum)
      #expect(bitmap.size == Self.small)
    }

    @Test("turns the thumbnail upright", arguments: turning, [3, 6, 8])
    func turnsThumbnail(kind: Kind, orientation: Int) throws {
      let expected = DrawnImage.slopes(Self.small.width, Self.small.height).turned(orientation)
      let bitmap = try decode(file(kind, orientation: orientation), sufficient: expected.size)
      #expect(bitmap.size == expected.size)
      #expect(bitmap.edges.fullSize == DrawnImage.slopes(256, 192).turned(orientation).size)
      #expect(largestDifference(bitmap.packedBytes, expected.opaqueBGRX) <= 12)
    }

    @Test(
      "gives the image where the thumbnail is too small, or nothing is said",
      arguments: Kind.allCases)
    func givesImage(kind: Kind) throws {
      for sufficient in [nil, PixelSize(width: 65, height: 1), PixelSize(width: 1, height: 49)] {
        let bitmap = try decode(file(kind), sufficient: sufficient)
        #expect(bitmap.size == Self.full)
      }
    }

    @Test("gives the image where the thumbnail is damaged")
    func survivesDamage() throws {
      var data = file(.jpeg)
      // The second file begins within the first one's metadata.
      let start = try #require(
        data.range(of: Data([0xFF, 0xD8, 0xFF]), in: 2..<data.count)
      ).upperBound
      data.replaceSubrange(start + 2..<start + 300, with: Data(count: 298))
      #expect(try decode(data, sufficient: Self.small).size == Self.full)
    }

    #if HEIF
      @Test("gives the image where it has alpha, which its thumbnail might lack")
      func keepsAlpha() throws {
        let bitmap = try decode(file(.heif, hasAlpha: true), sufficient: Self.small)
        #expect(bitmap.size == Self.full)
        #expect(bitmap.layout.format == .bgra32)
      }
    #endif

    @Test("keeps the limits of the image", arguments: Kind.allCases)
    func keepsLimits(kind: Kind) throws {
      var limits = DecodingLimits()
      limits.sideLength = 255
      let data = file(kind)
      let request = DecodeRequest(sufficientSize: Self.small, limits: limits)
      #expect { try ImageDecoders.standard.decoder(for: data).decode(data, request) } throws: {
        tooLarge($0, naming: "256x192", "255")
      }
    }
  }
#endif
