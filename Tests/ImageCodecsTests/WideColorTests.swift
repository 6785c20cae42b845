#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("Display P3", .timeLimit(.minutes(10)))
  struct WideColorTests {
    private let image = DrawnImage.slopes(16, 16)

    private func encoded(
      _ encoder: some ImageEncoder, _ space: ColorSpace = .displayP3,
      _ format: PixelFormat = .bgrx32
    ) throws -> Data {
      let pixels =
        format.hasAlpha ? DrawnImage.confetti(16, 16).premultipliedBGRA : image.opaqueBGRX
      let layout = try #require(
        PixelLayout(size: image.size, format: format, rowBytes: 16 * format.bytesPerPixel))
      return try pixels.withUnsafeBytes {
        try encoder.encode($0.bytes, layout: layout, colorSpace: space)
      }
    }

    @Test("has one profile, whose bytes are the same at all times, and named")
    func isDeterministic() throws {
      let colors = CodedColors(primaries: 12, transfer: 13)
      let profile = try #require(try colors.makeProfile(named: "Display P3"))
      #expect(try profile == colors.makeProfile(named: "Display P3"))
      // ICC.1:2022, section 7.2.8: the date.
      #expect(profile[24..<36].allSatisfy { $0 == 0 })
      #expect(profile.range(of: Data("Display P3".utf8.flatMap { [0, $0] })) != nil)
      #expect(try encoded(.png).range(of: Data("iCCP".utf8)) != nil)
    }

    @Test("is found in files with its profile, whose numbers stay as they are")
    func survives() throws {
      for (file, tolerance) in try [
        (encoded(.png), 0), (encoded(.jpeg(quality: 1)), 12), (encoded(.losslessWebP), 0),
        (encoded(.webp(quality: 1)), 16),
      ] {
        let bitmap = try decode(file)
        #expect(bitmap.colorConversion != nil)
        #expect(
          largestDifference(bitmap.shownBytes(in: .displayP3), image.opaqueBGRX) <= tolerance)
        #expect(largestDifference(bitmap.shownBytes(in: .sRGB), image.opaqueBGRX) > 40)
      }
    }

    @Test("goes with alpha into PNG and WebP", arguments: [true, false])
    func survivesWithAlpha(isLossless: Bool) throws {
      let webp = try encoded(
        isLossless ? WebPEncoder.losslessWebP : WebPEncoder(quality: 1), .displayP3, .bgra32)
      let plain = try encoded(
        isLossless ? WebPEncoder.losslessWebP : WebPEncoder(quality: 1), .sRGB, .bgra32)
      for (file, other) in [
        (webp, plain), try (encoded(.png, .displayP3, .bgra32), encoded(.png, .sRGB, .bgra32)),
      ] {
        let (bitmap, expected) = (try decode(file), try decode(other))
        #expect(bitmap.layout.format == .bgra32 && bitmap.size == image.size)
        #expect(bitmap.colorConversion != nil && expected.colorConversion == nil)
        #expect(bitmap.packedBytes == expected.packedBytes)
      }
      // RFC 9649, section 2.7: what has alpha says so before its image, for readers that look no further.
      #expect(webp[12..<16].elementsEqual("VP8X".utf8) && webp[20] == 0x30)
    }

    @Test("goes into WebP with a profile of odd length, too, after which a byte of padding stands")
    func padsProfiles() throws {
      let layout = try #require(PixelLayout(size: image.size, format: .bgrx32, rowBytes: 64))
      let plain = try encoded(.losslessWebP, .sRGB)
      let file = [1, 2, 3].withUnsafeBytes { profile in
        WebPContainer.adding(UnsafeRawBufferPointer(rebasing: profile[..<3]), to: plain, layout)
      }
      #expect(file.count == plain.count + 18 + 12)
      #expect(try decode(file).packedBytes == decode(plain).packedBytes)
    }

    @Test("leaves no trace in files of gray and of sRGB")
    func leavesGray() throws {
      for encoder in [PNGEncoder(), JPEGEncoder(), WebPEncoder()] as [any ImageEncoder] {
        let gray = try #require(PixelLayout(size: image.size, format: .gray8, rowBytes: 16))
        let file = try image.red.withUnsafeBytes {
          try encoder.encode($0.bytes, layout: gray, colorSpace: .displayP3)
        }
        #expect(try decode(file).colorConversion == nil)
        #expect(try decode(encoded(encoder, .sRGB)).colorConversion == nil)
      }
    }

    @Test("keeps the colours of a profile that sRGB lacks")
    func keepsColors() throws {
      // Adobe RGB's green in Display P3: worked out from both spaces' chromaticities.
      let file = Fixture.png(
        PixelSize(width: 1, height: 1), [105, 200, 60],
        .init(colorType: 2, profile: Fixture.adobeRGB))
      let bitmap = try decode(file)
      #expect(largestDifference(bitmap.shownBytes(in: .displayP3), [68, 198, 78, 255]) <= 1)
      #expect(bitmap.shownBytes(in: .sRGB)[2] == 0)
    }

    @Test("is what inks become where it is asked for, and the result says so")
    func convertsInks() throws {
      // Cyan, and yellow, which this profile leaves out.
      let inks = (0..<64).flatMap { _ in [0, 255, 0, 255] as [UInt8] }
      var options = Fixture.JPEGOptions(profile: Fixture.cmyk)
      let file = Fixture.jpeg(PixelSize(width: 8, height: 8), inks, options)
      var request = DecodeRequest()
      let narrow = try ImageDecoders.standard.decoder(for: file).decode(file, request)
      request.colorSpace = .displayP3
      let wide = try ImageDecoders.standard.decoder(for: file).decode(file, request)
      #expect(narrow.colorSpace == .sRGB && wide.colorSpace == .displayP3)
      #expect(wide.colorConversion == nil)
      #expect(largestDifference(Array(narrow.packedBytes.prefix(4)), [255, 255, 0, 255]) <= 3)
      #expect(largestDifference(Array(wide.packedBytes.prefix(4)), [253, 251, 117, 255]) <= 3)
      // Without a profile the inks' colours are a guess, in sRGB.
      options.profile = nil
      let guessed = Fixture.jpeg(PixelSize(width: 8, height: 8), inks, options)
      #expect(
        try ImageDecoders.standard.decoder(for: guessed).decode(guessed, request).colorSpace
          == .sRGB)
    }
  }
#endif
