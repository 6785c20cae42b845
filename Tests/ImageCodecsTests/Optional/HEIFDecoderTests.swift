#if HEIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A HEIF decoder", .timeLimit(.minutes(10)))
  struct HEIFDecoderTests {
    // Coded in units of eight pixels, of which the odd ones are cropped.
    private let confetti = DrawnImage.confetti(72, 64)
    private let slopes = DrawnImage.slopes(130, 94)

    /// Rounding to luma and colour differences and back, which is all that this encoder loses.
    private let rounding = 2

    @Test("reads pixels that were stored without loss, with alpha and without")
    func readsExactly() throws {
      for hasAlpha in [false, true] {
        let data = Fixture.heif(confetti, .init(hasAlpha: hasAlpha))
        let bitmap = try decode(data)
        #expect(try header(of: data).size == confetti.size)
        #expect(try header(of: data).hasAlpha == hasAlpha)
        #expect(bitmap.layout.format == (hasAlpha ? .bgra32 : .bgrx32))
        let expected = hasAlpha ? confetti.premultipliedBGRA : confetti.opaqueBGRX
        #expect(largestDifference(bitmap.packedBytes, expected) <= rounding)
      }
    }

    @Test("reads coarse colours of a size that is no multiple of the codec's")
    func readsCoarseColors() throws {
      let data = Fixture.heif(slopes, .init(isExact: false))
      let bitmap = try decode(data)
      #expect(bitmap.size == slopes.size)
      #expect(largestDifference(bitmap.packedBytes, slopes.opaqueBGRX) <= 8)
    }

    @Test("reads more than eight bits a colour", arguments: [10, 12] as [UInt32], [false, true])
    func readsDeepColors(depth: UInt32, hasAlpha: Bool) throws {
      let data = Fixture.heif(slopes, .init(depth: depth, hasAlpha: hasAlpha))
      let bitmap = try decode(data)
      #expect(bitmap.size == slopes.size)
      #expect(largestDifference(bitmap.packedBytes, slopes.opaqueBGRX) <= rounding)
      #expect(
        try header(of: data).wholeImageByteCount
          == slopes.size.width * slopes.size.height * (hasAlpha ? 8 : 6))
    }

    @Test("is refused with samples of more bits, or finer colours, than its container says")
    func refusesOtherSamples() throws {
      let refusal = ImageDecodingError.damaged(
        "HEIF: an image inside has other samples than the file announces.")
      for options in [
        Fixture.HEIFOptions(isExact: false, depth: 10), Fixture.HEIFOptions(isExact: true),
      ] {
        var data = Fixture.heif(slopes, options)
        let start = try #require(data.range(of: Data("hvcC".utf8))).upperBound
        data.replaceSubrange(start + 16..<start + 19, with: [0xFD, 0xF8, 0xF8])
        #expect(throws: refusal) { try decode(data) }
      }
    }

    @Test("turns the image upright, once", arguments: 1...8)
    func turnsUpright(orientation: Int) throws {
      let data = Fixture.heif(confetti, .init(orientation: UInt32(orientation)))
      let expected = confetti.turned(orientation)
      #expect(try header(of: data).size == expected.size)
      let bitmap = try decode(data)
      #expect(largestDifference(bitmap.packedBytes, expected.opaqueBGRX) <= rounding)
    }

    @Test("leaves sRGB as it is, and converts by a profile or by numbers")
    func convertsColors() throws {
      let image = DrawnImage(64, 64) { _, _ in (200, 120, 60, 255) }
      let expected = Fixture.toSRGB([200, 120, 60], profile: Fixture.displayP3)
      func color(_ options: Fixture.HEIFOptions = .init()) throws -> [UInt8] {
        let start = (5 * 64 + 5) * 4
        let bitmap = try decode(Fixture.heif(image, options))
        return bitmap.shownBytes()[start..<start + 3].reversed()
      }
      #expect(try largestDifference(color(), [200, 120, 60]) <= rounding)
      #expect(try largestDifference(color(.init(profile: Fixture.displayP3)), expected) <= 4)
      #expect(try largestDifference(color(.init(primaries: 12)), expected) <= 4)
      #expect(largestDifference(expected, [200, 120, 60]) > 8)
    }

    @Test("asks whether to go on before the decode and between strips of rows")
    func asks() {
      let data = Fixture.heif(slopes)
      for answer in 1...4 {
        let asked = Counter()
        #expect(throws: ImageDecodingError.cancelled) {
          try decode(data) { asked.increment() >= answer }
        }
        #expect(asked.value == answer)
      }
    }
  }

  @Suite("A HEIF file that lies", .timeLimit(.minutes(10)))
  struct HEIFLieTests {
    private func announce(_ data: Data, _ width: Int, _ height: Int) throws -> Data {
      var data = data
      let extents = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
      data.replaceSubrange(
        extents..<extents + 8,
        with: Surgery.bigEndian(width, bytes: 4) + Surgery.bigEndian(height, bytes: 4))
      return data
    }

    @Test("is refused by the size that it announces")
    func keepsLimits() throws {
      let data = try announce(Fixture.heif(DrawnImage.slopes(64, 64)), 16_000, 16_385)
      expectTooLarge(naming: "16000x16385", "268435456") { try decode(data) }
    }

    /// The container announces little, the codec would take memory for all.
    @Test("is refused by the size of the image inside, before that is decoded")
    func readsParameterSets() throws {
      let data = try announce(
        Fixture.heif(DrawnImage.slopes(1000, 900), .init(isExact: false)), 64, 64)
      #expect(
        throws: ImageDecodingError.damaged(
          "HEIF: an image inside has more pixels than the file announces.")
      ) { try decode(data) }
    }

    @Test("is refused by a parameter set among the image's own units")
    func readsUnits() throws {
      let options = Fixture.HEIFOptions(isExact: false)
      let large = Fixture.heif(DrawnImage.slopes(1000, 900), options)
      let small = Fixture.heif(DrawnImage.slopes(64, 64), options)
      // In the large file's configuration: how many units, then each with its length.
      let array = try #require(
        large.range(of: Data([0xA1, 0, 1, 0])) ?? large.range(of: Data([0x21, 0, 1, 0])))
      let length = Int(large[array.upperBound])
      let set = large[array.upperBound + 1..<array.upperBound + 1 + length]
      #expect(set.first == 0x42)
      let unit = Surgery.bigEndian(set.count, bytes: 4) + set
      let forged = try replacingImage(of: small, by: unit)
      #expect(
        throws: ImageDecodingError.damaged(
          "HEIF: an image inside has more pixels than the file announces.")
      ) { try decode(forged) }
    }

    /// The file with other bytes in place of its image's first ones.
    private func replacingImage(of data: Data, by unit: Data) throws -> Data {
      var data = data
      let start = try #require(data.range(of: Data("mdat".utf8))).upperBound
      let count = data.count - start
      // What is left is one unit of a kind that nobody knows.
      var rest = Surgery.bigEndian(count - unit.count - 4, bytes: 4)
      rest += Data([0x60, 1]) + Data(count: count - unit.count - 6)
      data.replaceSubrange(start..., with: unit + rest)
      return data
    }

    @Test("is refused with a box twice that belongs there once")
    func refusesDoubles() throws {
      let data = Fixture.heif(DrawnImage.slopes(64, 64))
      let meta = try #require(data.range(of: Data("meta".utf8))).lowerBound - 4
      let length = data[meta..<meta + 4].reduce(0) { $0 << 8 | Int($1) }
      #expect(throws: ImageDecodingError.self) {
        try decode(data + data[meta..<meta + length])
      }
    }

    @Test("is refused with an image that libheif would decode by another library")
    func refusesOtherCodecs() throws {
      var data = Fixture.heif(DrawnImage.slopes(64, 64), .init(isAV1: true))
      let brand = try #require(data.range(of: Data("ftypavif".utf8)))
      data.replaceSubrange(brand, with: Data("ftypheic".utf8))
      #expect { try decode(data) } throws: { error in
        if case .unsupported = error as? ImageDecodingError { true } else { false }
      }
    }
  }
#endif
