#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("An embedded profile", .timeLimit(.minutes(10)))
  struct ColorTests {
    private static let colors: [[UInt8]] = [
      [0, 0, 0], [255, 255, 255], [128, 128, 128], [200, 100, 50], [90, 140, 110], [60, 70, 160],
      [130, 120, 40], [250, 240, 230],
    ]
    private let size = PixelSize(width: 8, height: 1)

    /// What an image of ``colors`` looks like once its conversion is applied: blue, green, red.
    private func converted(_ bitmap: Bitmap) -> [[UInt8]] {
      let bytes = bitmap.shownBytes()
      return (0..<bitmap.size.width).map { Array(bytes[4 * $0..<4 * $0 + 3].reversed()) }
    }

    private func png(profile: Data) -> Data {
      return Fixture.png(size, Self.colors.flatMap { $0 }, .init(colorType: 2, profile: profile))
    }

    /// From a space of red, green and blue to sRGB by IEC 61966-2-1 and a matrix worked out
    /// elsewhere, from both spaces' chromaticities; out of gamut is cut off.
    private func computed(
      _ color: [UInt8], matrix: [[Double]], decode: (Double) -> Double
    ) -> [UInt8] {
      let linear = color.map { decode(Double($0) / 255) }
      return matrix.map { row in
        let value = min(max(zip(row, linear).map(*).reduce(0, +), 0), 1)
        let curved = value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
        return UInt8((curved * 255).rounded())
      }
    }

    @Test("of Display P3 and of Adobe RGB leads to the sRGB values that the standards give")
    func convertsRGB() throws {
      let spaces: [(profile: Data, matrix: [[Double]], decode: (Double) -> Double)] = [
        (
          Fixture.displayP3,
          [
            [1.2249401, -0.2249402, 0], [-0.0420570, 1.0420571, 0],
            [-0.0196376, -0.0786361, 1.0982736],
          ],
          { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        ),
        (
          Fixture.adobeRGB, [[1.3983558, -0.3983558, 0], [0, 1, 0], [0, -0.0429289, 1.0429289]],
          { pow($0, 2.19921875) }
        ),
      ]
      for (profile, matrix, decode) in spaces {
        let bitmap = try ImageCodecsTests.decode(png(profile: profile))
        let expected = Self.colors.map { computed($0, matrix: matrix, decode: decode) }
        #expect(zip(converted(bitmap), expected).allSatisfy { largestDifference($0, $1) <= 1 })
        // Without the conversion the test must not pass.
        #expect(zip(Self.colors, expected).contains { largestDifference($0, $1) > 8 })
      }
    }

    @Test("is found in JPEG and WebP too")
    func isFoundEverywhere() throws {
      let image = DrawnImage.slopes(32, 32)
      let jpeg = Fixture.jpeg(image, .init(profile: Fixture.displayP3))
      let webp = Surgery.extendedWebP(
        flags: 0x20, width: 32, height: 32,
        Surgery.riffChunk("ICCP", Fixture.displayP3) + Surgery.webpChunks(Fixture.webp(image)))
      for data in [jpeg, webp] {
        let bitmap = try decode(data)
        let color = Array(bitmap.pixel(20, 10).prefix(3).reversed())
        let expected = Fixture.toSRGB(color, profile: Fixture.displayP3)
        #expect(largestDifference(color, expected) > 4)
        let pixel = Array(bitmap.shownBytes()[(10 * 32 + 20) * 4..<(10 * 32 + 20) * 4 + 4])
        #expect(largestDifference(Array(pixel.prefix(3).reversed()), expected) <= 1)
        #expect(pixel[3] == 255)
      }
    }

    /// A JPEG with pieces of profiles, each with its number of two; the last one comes first in the file.
    private func jpeg(_ pieces: [(number: Int, bytes: Data)], of count: UInt8 = 2) -> Data {
      pieces.reduce(Fixture.jpeg(.slopes(16, 16))) { jpeg, piece in
        let head = Data("ICC_PROFILE\0".utf8) + Data([UInt8(piece.number), count])
        return Surgery.adding(segment: 0xE2, head + piece.bytes, to: jpeg)
      }
    }

    @Test("in several pieces is put together in their order")
    func joinsPieces() throws {
      let profile = Fixture.displayP3
      let cut = profile.count / 3
      let file = jpeg([(1, profile.prefix(cut)), (2, profile.dropFirst(cut))])
      #expect(try decode(file).colorConversion != nil)
    }

    @Test("with a missing or doubled piece is ignored", arguments: [[2, 2], [1, 1], [1, 3]])
    func ignoresIncompletePieces(numbers: [Int]) throws {
      let file = jpeg(numbers.map { ($0, Fixture.displayP3) })
      #expect(try decode(file).colorConversion == nil)
    }

    @Test("of sRGB leaves nothing to do")
    func ignoresSRGB() throws {
      #expect(try decode(png(profile: Fixture.sRGB)).colorConversion == nil)
    }

    @Test("that is broken is ignored")
    func ignoresBrokenProfiles() throws {
      for broken in [Data(count: 200), Fixture.displayP3.prefix(300), Data("ICC".utf8)] {
        let bitmap = try decode(jpeg([(1, broken)], of: 1))
        #expect(bitmap.colorConversion == nil)
        #expect(largestDifference(bitmap.packedBytes, DrawnImage.slopes(16, 16).opaqueBGRX) <= 4)
      }
    }

    @Test("is read without its pipelines, which can name one stage thousands of times")
    func ignoresPipelines() throws {
      // Little CMS takes 16 µs for a pixel of these 16 kB.
      #expect(try LCMSConversion(profile: Fixture.pipeline(stageCount: 2000), kind: .cmyk) == nil)
      #expect(try LCMSConversion(profile: Fixture.pipeline(stageCount: 1), kind: .cmyk) == nil)
    }

    @Test("of a printer is read without the pipelines of the way back", arguments: [1, 2000])
    func ignoresPipelinesBack(stageCount: Int) throws {
      func colors(_ profile: Data) throws -> [UInt8] {
        let conversion = try #require(try LCMSConversion(profile: profile, kind: .cmyk))
        var pixels: [UInt8] = [
          255, 255, 255, 0, 255, 255, 255, 127, 0, 255, 255, 255, 155, 205, 230, 204,
        ]
        pixels.withUnsafeMutableBufferPointer { pixels in
          guard let start = pixels.baseAddress else { return }
          conversion.convert(start, pixelCount: 4, to: .sRGB)
        }
        return pixels
      }
      // Its gray would be the black point, below which all inks become black.
      let wayBack = Fixture.printer(stageCount: stageCount)
      #expect(try colors(wayBack) == colors(Fixture.printer(stageCount: nil)))
    }

    @Test("of another kind of colour than the image's is ignored")
    func ignoresForeignProfiles() throws {
      let image = DrawnImage.slopes(16, 16)
      let jpeg = Fixture.jpeg(image, .init(profile: Fixture.linearGray))
      #expect(try decode(jpeg).colorConversion == nil)
    }

    @Test("for gray converts gray pixels, with alpha and without")
    func convertsGray() throws {
      let grays: [UInt8] = [0, 1, 10, 50, 100, 128, 200, 255]
      var options = Fixture.PNGOptions(colorType: 0, profile: Fixture.linearGray)
      let plain = try decode(Fixture.png(size, grays, options))
      #expect(plain.layout.format == .gray8)
      let expected = grays.map { (value: UInt8) -> UInt8 in
        let linear = Double(value) / 255
        let curved = linear <= 0.0031308 ? linear * 12.92 : 1.055 * pow(linear, 1 / 2.4) - 0.055
        return UInt8((curved * 255).rounded())
      }
      #expect(largestDifference(plain.shownBytes(), expected) <= 1)
      options.colorType = 4
      let glass = try decode(Fixture.png(size, grays.flatMap { [$0, 255] }, options))
      #expect(glass.layout.format == .bgra32)
      #expect(converted(glass) == plain.shownBytes().map { [$0, $0, $0] })
    }

    @Test("of sRGB's gray leaves nothing to do, where there is alpha neither", arguments: [0, 4])
    func ignoresGraySRGB(colorType: Int32) throws {
      let grays: [UInt8] = [0, 1, 10, 50, 100, 128, 200, 255]
      let rows = colorType == 0 ? grays : grays.flatMap { [$0, 255] }
      #expect(
        try decode(
          Fixture.png(size, rows, .init(colorType: colorType, profile: Fixture.grayOfSRGB))
        ).colorConversion == nil)
    }

    @Test("for inks is applied while decoding", arguments: [false, true])
    func convertsInk(hasAdobeSegment: Bool) throws {
      let inks: [[UInt8]] = [
        [0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [100, 50, 25, 51],
        [0, 0, 0, 255],
      ]
      // More pixels in a row than are converted at once.
      let size = PixelSize(width: 64 * inks.count, height: 16)
      let pixels = (0..<16 * size.width).flatMap { (index: Int) -> [UInt8] in
        inks[index % size.width / 64].map { 255 - $0 }
      }
      let bitmap = try decode(
        Fixture.jpeg(size, pixels, .init(hasAdobeSegment: hasAdobeSegment, profile: Fixture.cmyk)))
      #expect(bitmap.colorConversion == nil)
      for (index, ink) in inks.enumerated() {
        let expected = Fixture.toSRGB(ink, profile: Fixture.cmyk)
        let pixel = bitmap.pixel(index * 64 + 32, 8)
        #expect(largestDifference(Array(pixel.prefix(3).reversed()), expected) <= 4)
        #expect(pixel[3] == 255)
      }
      // In this profile yellow takes no light away, unlike in the rule for files without one.
      #expect(bitmap.pixel(3 * 64 + 32, 8)[0] > 240)
    }

    @Test("leaves alpha as it is")
    func keepsAlpha() throws {
      let conversion = try #require(try LCMSConversion(profile: Fixture.displayP3, kind: .rgb))
      var pixels: [UInt8] = [10, 200, 30, 0, 10, 200, 30, 77, 10, 200, 30, 255]
      pixels.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        conversion.convert(start, pixelCount: 3, format: .bgra32, to: .sRGB)
      }
      #expect([pixels[3], pixels[7], pixels[11]] == [0, 77, 255])
    }

    @Test("is shared by images that are decoded at the same time")
    func isShared() async throws {
      let data = png(profile: Fixture.displayP3)
      let expected = converted(try decode(data))
      try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
        for _ in 0..<8 { group.addTask { converted(try decode(data)) } }
        for try await colors in group { #expect(colors == expected) }
      }
    }

    /// Asked of a value of its own: what the process keeps, other tests fill meanwhile.
    @Test("is built once")
    func isBuiltOnce() throws {
      let conversion = try #require(try LCMSConversion(profile: Fixture.adobeRGB, kind: .rgb))
      var known = KnownConversions()
      known.add(Fixture.adobeRGB, .rgb, conversion)
      let found = known.find(Data(Array(Fixture.adobeRGB)), .rgb)
      #expect(found?.conversion === conversion)
      #expect(try LCMSConversion.shared(profile: Fixture.adobeRGB, kind: .rgb) != nil)
    }
  }

  @Suite("The known conversions", .timeLimit(.minutes(10)))
  struct KnownConversionsTests {
    @Test("forget the one unused for longest")
    func forgetOldest() {
      var known = KnownConversions()
      for number in 0..<KnownConversions.countLimit {
        known.add(Data([UInt8(number)]), .rgb, nil)
      }
      #expect(known.find(Data([0]), .rgb) != nil)
      known.add(Data([200]), .rgb, nil)
      #expect(known.entries.count == KnownConversions.countLimit)
      #expect(known.find(Data([0]), .rgb) != nil)
      #expect(known.find(Data([1]), .rgb) == nil)
    }

    @Test("stay below their bytes")
    func staySmall() {
      var known = KnownConversions()
      for number in 0..<5 {
        known.add(Data(repeating: UInt8(number), count: 3 << 20), .rgb, nil)
      }
      #expect(known.entries.count == 2)
    }
  }
#endif
