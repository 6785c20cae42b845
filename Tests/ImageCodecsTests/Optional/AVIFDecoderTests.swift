#if AVIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("An AVIF decoder", .timeLimit(.minutes(10)))
  struct AVIFDecoderTests {
    private let confetti = DrawnImage.confetti(38, 30)
    private let slopes = DrawnImage.slopes(128, 96)

    @Test("reads pixels that were stored without loss exactly")
    func readsExactly() throws {
      let data = Fixture.avif(confetti)
      let bitmap = try decode(data)
      #expect(try header(of: data).size == confetti.size)
      #expect(bitmap.layout.format == .bgrx32)
      #expect(bitmap.packedBytes == confetti.opaqueBGRX)
    }

    @Test("multiplies by alpha once, however the file has it", arguments: [false, true])
    func readsAlpha(isPremultiplied: Bool) throws {
      let data = Fixture.avif(confetti, .init(hasAlpha: true, isPremultiplied: isPremultiplied))
      let bitmap = try decode(data)
      #expect(try header(of: data).hasAlpha)
      #expect(bitmap.layout.format == .bgra32)
      #expect(largestDifference(bitmap.packedBytes, confetti.premultipliedBGRA) <= 1)
    }

    @Test(
      "reads each sampling and depth", arguments: [444, 422, 420] as [UInt32],
      [8, 10, 12] as [UInt32])
    func readsSampling(sampling: UInt32, depth: UInt32) throws {
      let bitmap = try decode(
        Fixture.avif(slopes, .init(depth: depth, sampling: sampling, isExact: false)))
      #expect(largestDifference(bitmap.packedBytes, slopes.opaqueBGRX) <= 4)
    }

    @Test("reads gray images")
    func readsGray() throws {
      let gray = DrawnImage(64, 48) { x, y in (x + 2 * y, x + 2 * y, x + 2 * y, 255) }
      let bitmap = try decode(Fixture.avif(gray, .init(sampling: 400, isExact: false)))
      #expect(largestDifference(bitmap.packedBytes, gray.opaqueBGRX) <= 1)
    }

    /// Quarter turns against the clock and the mirroring after them, with the turn of EXIF that looks the
    /// same.
    private static let turns: [(rotation: Int32?, mirroring: Int32?, exif: Int)] = [
      (nil, nil, 1), (0, nil, 1), (1, nil, 8), (2, nil, 3), (3, nil, 6), (nil, 0, 4), (nil, 1, 2),
      (1, 0, 5), (1, 1, 7), (2, 0, 2), (2, 1, 4), (3, 0, 7), (3, 1, 5),
    ]

    @Test("turns the image upright", arguments: turns)
    func turnsUpright(rotation: Int32?, mirroring: Int32?, exif: Int) throws {
      let data = Fixture.avif(confetti, .init(rotation: rotation, mirroring: mirroring))
      let expected = confetti.turned(exif)
      #expect(try header(of: data).size == expected.size)
      #expect(try decode(data).packedBytes == expected.opaqueBGRX)
    }

    @Test("shows the part that the file shows, before it turns it")
    func crops() throws {
      let shown = PixelSize(width: 20, height: 12)
      let data = Fixture.avif(confetti, .init(rotation: 3, crop: (8, 10, shown)))
      let part = DrawnImage(20, 12) { x, y in confetti[x + 8, y + 10] }
      #expect(try header(of: data).size == PixelSize(width: 12, height: 20))
      #expect(try decode(data).packedBytes == part.turned(6).opaqueBGRX)
    }

    /// Rows are converted in strips, and colours interpolated between rows. A crop moves the strips' borders.
    @Test("has no seams", arguments: [420, 422] as [UInt32])
    func hasNoSeams(sampling: UInt32) throws {
      let image = DrawnImage(16, 150) { _, y in
        y / 2 % 2 == 0 ? (230, 40, 60, 255) : (20, 210, 90, 255)
      }
      func rows(above: Int) throws -> [[UInt8]] {
        let bitmap = try decode(
          Fixture.avif(
            image,
            .init(
              sampling: sampling, isExact: false,
              crop: (0, UInt32(above), PixelSize(width: 16, height: 150 - above)))))
        let bytes = bitmap.packedBytes
        return (0..<bitmap.size.height).map { Array(bytes[$0 * 64..<$0 * 64 + 64]) }
      }
      let whole = try rows(above: 0)
      for above in [2, 8, 22] {
        // Below the first pair, which has no row above it in the cropped image.
        #expect(try rows(above: above).dropFirst(2) == whole.dropFirst(above + 2))
      }
    }

    @Test(
      "averages its rows for a small result, and turns it", arguments: [nil, 1, 2, 3] as [Int32?])
    func reduces(rotation: Int32?) throws {
      // Squares, so that averaging changes no colour.
      let small = DrawnImage.confetti(24, 40)
      let image = small.enlarged(by: 4)
      let data = Fixture.avif(image, .init(rotation: rotation))
      let expected = small.turned([1, 8, 3, 6][Int(rotation ?? 0)])
      let minimum = PixelSize(width: expected.size.width - 3, height: expected.size.height - 3)
      let bitmap = try decode(data, atLeast: minimum)
      #expect(bitmap.packedBytes == expected.opaqueBGRX)
      #expect(bitmap.edges.fullSize == image.turned(rotation == 1 || rotation == 3 ? 6 : 1).size)
    }

    @Test("takes the memory of its planes and of the result, not of a whole image more")
    func takesPlanes() throws {
      let data = Fixture.avif(DrawnImage.slopes(1024, 512), .init(sampling: 420, isExact: false))
      var limits = DecodingLimits()
      // Planes and what dav1d keeps of blocks, rows, and 3 MiB for its contexts.
      limits.workingByteCount = 1024 * 512 * 4 + 1024 * 256 + (256 << 10) + (3 << 20) + 64 * 32 * 4
      let small = PixelSize(width: 64, height: 32)
      #expect(try decode(data, atLeast: small, limits: limits).size == small)
      expectTooLarge(naming: "\(1024 * 512 * 4) at whatever size") {
        try decode(data, limits: limits)
      }
    }

    @Test("reads sides above 32 768 pixels")
    func readsLongSides() throws {
      let image = DrawnImage.slopes(33_000, 8)
      let bitmap = try decode(Fixture.avif(image, .init(sampling: 420, isExact: false)))
      #expect(bitmap.size == image.size)
    }

    @Test("puts a grid together")
    func readsGrids() throws {
      let image = DrawnImage.confetti(192, 128)
      let bitmap = try decode(Fixture.avif(image, .init(cells: (3, 2))))
      #expect(bitmap.packedBytes == image.opaqueBGRX)
    }

    @Test("gives the first frame of an animation")
    func readsFirstFrame() throws {
      let data = Fixture.avif(confetti, .init(frameCount: 5))
      #expect(EncodedImageType(firstBytes: data.prefix(64)) == .avif)
      #expect(try decode(data).packedBytes == confetti.opaqueBGRX)
    }

    @Test("holds the announced size against the limits before it decodes")
    func keepsLimits() throws {
      var data = Fixture.avif(confetti)
      let extents = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
      data.replaceSubrange(
        extents..<extents + 8,
        with: Surgery.bigEndian(16_000, bytes: 4) + Surgery.bigEndian(16_385, bytes: 4))
      expectTooLarge(naming: "16000x16385", "268435456") { try decode(data) }
      // Beyond what libavif reads at all.
      data.replaceSubrange(extents..<extents + 4, with: Data([0x7F, 0xFF, 0xFF, 0xFF]))
      expectTooLarge { try decode(data) }
    }

    @Test("refuses an image that is larger than its container says")
    func refusesLies() throws {
      var data = Fixture.avif(DrawnImage.slopes(1500, 1400), .init(sampling: 420, isExact: false))
      let extents = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
      data.replaceSubrange(
        extents..<extents + 8,
        with: Surgery.bigEndian(16, bytes: 4) + Surgery.bigEndian(16, bytes: 4))
      expectDamaged { try decode(data) }
    }

    @Test("asks whether to go on before and after the decode, and at the end")
    func asks() {
      let data = Fixture.avif(confetti)
      for answer in 1...3 {
        let count = Counter()
        #expect(throws: ImageDecodingError.cancelled) {
          try decode(data) { count.increment() >= answer }
        }
        #expect(count.value == answer)
      }
    }
  }

  @Suite("The colours of an AVIF image", .timeLimit(.minutes(10)))
  struct AVIFColorTests {
    private func color(_ options: Fixture.AVIFOptions) throws -> [UInt8] {
      let data = Fixture.avif(DrawnImage(16, 16) { _, _ in (200, 120, 60, 255) }, options)
      let start = (5 * 16 + 5) * 4
      return try decode(data).shownBytes()[start..<start + 3].reversed()
    }

    @Test("are left as they are where they are sRGB, or nothing says what they are")
    func areSRGB() throws {
      for (primaries, transfer) in [(1, 13), (2, 2), (1, 1), (1, 6)] as [(Int32, Int32)] {
        let result = try color(.init(primaries: primaries, transfer: transfer))
        #expect(result == [200, 120, 60])
      }
    }

    @Test("are converted by a profile, and by the numbers of Display P3 as by its profile")
    func areConverted() throws {
      let expected = Fixture.toSRGB([200, 120, 60], profile: Fixture.displayP3)
      #expect(largestDifference(expected, [200, 120, 60]) > 5)
      for options: Fixture.AVIFOptions in [
        .init(profile: Fixture.displayP3), .init(primaries: 12, transfer: 13),
        // A profile comes before numbers.
        .init(primaries: 9, profile: Fixture.displayP3),
      ] {
        #expect(try largestDifference(color(options), expected) <= 1)
      }
    }

    /// The light of 200, 120, 60 by each curve, worked out from the standards with reference white as 1, and
    /// as sRGB.
    private static let curves: [(transfer: Int32, expected: [UInt8])] = [
      (8, [229, 182, 133]), (4, [201, 121, 57]), (5, [189, 98, 36]), (16, [255, 157, 39]),
      (18, [255, 128, 57]),
    ]

    @Test("follow the curve that is named", arguments: curves)
    func followCurves(transfer: Int32, expected: [UInt8]) throws {
      let result = try color(.init(transfer: transfer))
      #expect(largestDifference(result, expected) <= 2, "\(result)")
    }
  }
#endif
