import Foundation
import Pixels
import Testing

@testable import ImageCodecs

func tooLarge(_ error: any Error, naming numbers: String...) -> Bool {
  guard case ImageDecodingError.tooLarge(let text) = error else { return false }
  return numbers.allSatisfy(text.contains)
}

/// The error is ``ImageDecodingError/tooLarge(_:)``, with these numbers in its text.
func expectTooLarge<Result>(
  naming numbers: String..., sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) {
  #expect(sourceLocation: sourceLocation) {
    try body()
  } throws: { error in
    guard case ImageDecodingError.tooLarge(let text) = error else { return false }
    return numbers.allSatisfy(text.contains)
  }
}

func expectDamaged<Result>(
  _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Result
) {
  #expect(comment, sourceLocation: sourceLocation) {
    try body()
  } throws: {
    if case ImageDecodingError.damaged = $0 { true } else { false }
  }
}

@Suite("Decoding limits", .timeLimit(.minutes(10)))
struct LimitsTests {
  private let header = ImageHeader(size: PixelSize(width: 300, height: 200))

  @Test("refuse by each of their four numbers, naming both sides")
  func refuse() {
    var limits = DecodingLimits()
    limits.encodedByteCount = 1000
    limits.sideLength = 300
    limits.pixelCount = 60_000
    limits.workingByteCount = 5000
    #expect(throws: Never.self) {
      try limits.check(header, encodedByteCount: 1000, workingByteCount: 5000)
    }
    expectTooLarge(naming: "1001", "1000") {
      try limits.check(header, encodedByteCount: 1001, workingByteCount: 0)
    }
    expectTooLarge(naming: "300x200", "5001", "5000") {
      try limits.check(header, encodedByteCount: 0, workingByteCount: 5001)
    }
    var progressive = header
    progressive.wholeImageByteCount = 4000
    expectTooLarge(naming: "5001", "4000 at whatever size", "1001 for the result", "5000") {
      try limits.check(progressive, encodedByteCount: 0, workingByteCount: 5001)
    }
    limits.pixelCount = 59_999
    expectTooLarge(naming: "300x200", "60000", "59999") {
      try limits.check(header, encodedByteCount: 0, workingByteCount: 0)
    }
    limits.sideLength = 299
    expectTooLarge(naming: "300x200", "299") {
      try limits.check(header, encodedByteCount: 0, workingByteCount: 0)
    }
  }

  @Test("refuse sizes that cannot be counted")
  func refuseOverflow() {
    var limits = DecodingLimits()
    limits.sideLength = .max
    limits.pixelCount = .max
    let huge = ImageHeader(size: PixelSize(width: .max, height: .max))
    expectTooLarge { try limits.check(huge, encodedByteCount: 0, workingByteCount: 0) }
  }
}

#if !canImport(ImageIO)
  @Suite("A hostile header", .timeLimit(.minutes(10)))
  struct HostileHeaderTests {
    /// A baseline JPEG that announces a size and has no more than its tables.
    private func jpeg(width: Int, height: Int, components: Int) -> Data {
      var jpeg = Fixture.jpeg(
        PixelSize(width: 8, height: 8), [UInt8](repeating: 9, count: 64 * components))
      if let frame = jpeg.range(of: Data([0xFF, 0xC0])) {
        let size = Surgery.bigEndian(height, bytes: 2) + Surgery.bigEndian(width, bytes: 2)
        jpeg.replaceSubrange(frame.upperBound + 3..<frame.upperBound + 7, with: size)
      }
      return jpeg
    }

    @Test("of a JPEG with 65535 pixels a side is refused")
    func refusesHugeJPEG() {
      expectTooLarge { try decode(jpeg(width: 65_535, height: 65_535, components: 1)) }
      expectTooLarge(naming: "65000x65000", "4225000000", "268435456") {
        try decode(jpeg(width: 65_000, height: 65_000, components: 3))
      }
    }

    @Test("of a PNG with 30000 pixels a side is refused", arguments: [false, true])
    func refusesHugePNG(isInterlaced: Bool) {
      let data =
        Surgery.pngSignature
        + Surgery.pngHeader(
          width: 30_000, height: 30_000, bitDepth: 1, colorType: 0, isInterlaced: isInterlaced)
        + Surgery.pngChunk("IDAT", Fixture.deflated(zeros: 3751 * 3000))
        + Surgery.pngChunk("IEND", Data())
      expectTooLarge(naming: "30000x30000", "900000000") { try decode(data) }
    }

    @Test("of an interlaced PNG is refused where a streamed one of that size is not")
    func refusesInterlaced() throws {
      let small = PixelSize(width: 50, height: 50)
      var limits = DecodingLimits()
      limits.workingByteCount = 2 << 20
      for isInterlaced in [false, true] {
        let data =
          Surgery.pngSignature
          + Surgery.pngHeader(
            width: 1000, height: 1000, bitDepth: 8, colorType: 2, isInterlaced: isInterlaced)
          + Surgery.pngChunk("IDAT", Fixture.deflated(zeros: 3001 * 1000))
          + Surgery.pngChunk("IEND", Data())
        if isInterlaced {
          expectTooLarge(naming: "1000x1000", "2097152") {
            try decode(data, atLeast: small, limits: limits)
          }
        } else {
          #expect(try decode(data, atLeast: small, limits: limits).size == small)
        }
      }
    }

    @Test("of a progressive JPEG is refused by the memory that its coefficients take")
    func refusesProgressive() throws {
      let image = DrawnImage.slopes(320, 240)
      var options = Fixture.JPEGOptions(isProgressive: true)
      let data = Fixture.jpeg(image, options)
      options.isProgressive = false
      let baseline = Fixture.jpeg(image, options)
      var limits = DecodingLimits()
      limits.workingByteCount = 500_000
      let small = PixelSize(width: 40, height: 30)
      #expect(try decode(baseline, atLeast: small, limits: limits).size.width == 40)
      expectTooLarge(naming: "320x240", "500000") {
        try decode(data, atLeast: small, limits: limits)
      }
    }

    @Test("of a WebP with 16383 pixels a side is refused")
    func refusesHugeWebP() {
      // RFC 9649, section 3.4: signature, 14 bits of width - 1, 14 bits of height - 1.
      let bits = 16_382 | 16_382 << 14
      let data = Data([0x2F]) + Surgery.littleEndian(bits, bytes: 4) + Data(count: 40)
      let body = Data("WEBP".utf8) + Surgery.riffChunk("VP8L", data)
      let webp = Data("RIFF".utf8) + Surgery.littleEndian(body.count, bytes: 4) + body
      expectTooLarge(naming: "16383x16383") { try decode(webp) }
    }

    @Test("that is followed by 200 000 scans is given up after a few", arguments: [false, true])
    func refusesScanBombs(isProgressive: Bool) throws {
      let size = PixelSize(width: 64, height: 64)
      let jpeg = Fixture.jpeg(
        size, [UInt8](repeating: 99, count: 64 * 64 * 3),
        .init(isProgressive: isProgressive, hasScanPerComponent: !isProgressive))
      // The last scan, again and again: it changes nothing more, yet each must be gone through.
      let last = try #require(jpeg.range(of: Data([0xFF, 0xDA]), options: .backwards))
      let scan = jpeg[last.lowerBound..<jpeg.count - 2]
      var scans = Data(scan)
      while scans.count < scan.count * 200_000 { scans += scans }
      let bomb = jpeg[..<last.lowerBound] + scans + Data([0xFF, 0xD9])
      #expect { try decode(bomb) } throws: { error in
        // In a progressive file a scan that refines nothing is an error by itself.
        isProgressive
          ? error as? ImageDecodingError != .cancelled : tooLarge(error, naming: "200 scans")
      }
    }
  }

  @Suite("Every decoder", .timeLimit(.minutes(10)))
  struct LimitedDecoderTests {
    @Test("keeps each limit", arguments: Sample.allCases)
    func keepsLimits(sample: Sample) {
      for limit in [
        \DecodingLimits.encodedByteCount, \.sideLength, \.pixelCount, \.workingByteCount,
      ] {
        var limits = DecodingLimits()
        limits[keyPath: limit] = 16
        expectTooLarge(naming: "16") { try decode(sample.data, limits: limits) }
      }
    }
  }

  @Suite("Working memory", .timeLimit(.minutes(10)))
  struct WorkingMemoryTests {
    private func jpeg(_ change: (inout Fixture.JPEGOptions) -> Void) throws -> ImageHeader {
      let image = DrawnImage.slopes(160, 160)
      var options = Fixture.JPEGOptions()
      change(&options)
      return try header(of: Fixture.jpeg(image, options))
    }

    @Test("of a progressive JPEG is two bytes a sample, by its sampling")
    func countsCoefficients() throws {
      let full = try jpeg { $0.isProgressive = true }
      let halved = try jpeg {
        $0.isProgressive = true
        $0.sampling = (2, 2)
      }
      #expect(full.wholeImageByteCount == 160 * 160 * 3 * 2)
      // The luma's two rows and columns of blocks are rounded up to a whole unit at most.
      #expect(halved.wholeImageByteCount >= 160 * 160 * 3)
      #expect(halved.wholeImageByteCount < 160 * 160 * 4)
    }

    @Test("of a thumbnail of 200 megapixels is within the limits, if rows come one after the other")
    func suffices() throws {
      let size = PixelSize(width: 16_320, height: 12_240)
      let thumbnail = PixelSize(width: 533, height: 400)
      for decoder in [JPEGDecoder(), PNGDecoder()] as [any ImageDecoder] {
        var header = ImageHeader(size: size)
        let working = decoder.workingByteCount(for: header, minimumSize: thumbnail)
        #expect(working < 20 << 20)
        try DecodingLimits().check(header, encodedByteCount: 80 << 20, workingByteCount: working)
        // As a progressive JPEG has it.
        header.wholeImageByteCount = size.width * size.height * 3
        expectTooLarge(naming: "599270400 at whatever size") {
          try DecodingLimits().check(
            header, encodedByteCount: 80 << 20,
            workingByteCount: decoder.workingByteCount(for: header, minimumSize: thumbnail))
        }
      }
    }

    @Test("falls with the size wanted")
    func fallsWithSize() throws {
      let header = ImageHeader(size: PixelSize(width: 8000, height: 6000))
      let small = PixelSize(width: 800, height: 600)
      // The decoders behind traits decode every pixel.
      let decoders: [any ImageDecoder] = [JPEGDecoder(), PNGDecoder(), WebPDecoder()]
      for decoder in decoders {
        let whole = decoder.workingByteCount(for: header, minimumSize: nil)
        #expect(whole >= 8000 * 6000 * 4)
        #expect(decoder.workingByteCount(for: header, minimumSize: small) < whole / 8)
      }
    }

    @Test("of sizes that cannot be counted is the largest number")
    func survivesOverflow() {
      let header = ImageHeader(size: PixelSize(width: .max / 16, height: .max / 16))
      for decoder in ImageDecoders.standard {
        #expect(decoder.workingByteCount(for: header, minimumSize: nil) == .max)
      }
    }
  }
#endif
