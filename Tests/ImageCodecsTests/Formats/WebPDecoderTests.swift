#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A WebP decoder", .timeLimit(.minutes(10)))
  struct WebPDecoderTests {
    private let confetti = DrawnImage.confetti(38, 30)
    private let slopes = DrawnImage.slopes(128, 96)

    @Test(
      "reads pixels with alpha, which multiplies them, and without, exactly where nothing is lost")
    func readsPixels() throws {
      let glass = DrawnImage(64, 64) { x, y in (200, 100, 40, x * 4) }
      let cases: [(DrawnImage, isLossless: Bool, hasAlpha: Bool, tolerance: Int)] = [
        (confetti, true, true, 1), (slopes, true, false, 0), (slopes, false, false, 12),
        (glass, false, true, 12),
      ]
      for (image, isLossless, hasAlpha, tolerance) in cases {
        let data = Fixture.webp(image, isLossless: isLossless, quality: 100)
        let bitmap = try decode(data)
        #expect(try header(of: data).hasAlpha == hasAlpha)
        #expect(bitmap.layout.format == (hasAlpha ? .bgra32 : .bgrx32))
        #expect(largestDifference(bitmap.packedBytes, image.premultipliedBGRA) <= tolerance)
      }
      #expect(try header(of: Fixture.webp(confetti)).wholeImageByteCount == 38 * 30 * 5)
      #expect(try header(of: Fixture.webp(slopes, isLossless: false)).wholeImageByteCount == 0)
    }

    @Test(
      "scales to just above the size wanted from half the size on",
      arguments: [
        (64, 48, 64, 48), (65, 48, 128, 96), (64, 49, 128, 96), (32, 10, 32, 24),
        (10, 24, 32, 24), (11, 1, 11, 9), (1, 7, 10, 7),
      ], [true, false])
    func scales(_ sizes: (Int, Int, Int, Int), isLossless: Bool) throws {
      let (width, height, resultWidth, resultHeight) = sizes
      let data = Fixture.webp(slopes, isLossless: isLossless, quality: 100)
      let bitmap = try decode(data, atLeast: PixelSize(width: width, height: height))
      #expect(bitmap.size == PixelSize(width: resultWidth, height: resultHeight))
      // Slopes keep their values in the middle whatever the scale.
      let middle = bitmap.pixel(resultWidth / 2, resultHeight / 2).map(Int.init)
      let expected = slopes.opaqueBGRX
      let offset = (96 / 2 * 128 + 128 / 2) * 4
      for channel in 0..<4 {
        let tolerance = 8 + 220 / min(resultWidth, resultHeight)
        #expect(abs(middle[channel] - Int(expected[offset + channel])) <= tolerance)
      }
    }

    @Test("multiplies by alpha before it scales")
    func scalesPremultiplied() throws {
      // White that shows beside red that does not: no red may bleed.
      let image = DrawnImage(64, 64) { x, _ in x % 2 == 0 ? (255, 255, 255, 255) : (255, 0, 0, 0) }
      let bitmap = try decode(Fixture.webp(image), atLeast: PixelSize(width: 32, height: 32))
      let pixel = bitmap.pixel(16, 16).map(Int.init)
      #expect(pixel.allSatisfy { abs($0 - 128) <= 2 })
    }

    @Test("leaves scaling to others where alpha stands beside lossy colours")
    func keepsLossyAlphaWhole() throws {
      let glass = DrawnImage(64, 64) { x, y in (x * 4, y * 4, 9, x < 32 ? 0 : 255) }
      let (lossy, half) = (Fixture.webp(glass, isLossless: false), PixelSize(width: 32, height: 32))
      #expect(try decode(lossy, atLeast: half).size == PixelSize(width: 64, height: 64))
      #expect(try decode(Fixture.webp(glass), atLeast: half).size == half)
      let header = try header(of: lossy)
      #expect(header.wholeImageByteCount == 64 * 64 * 5)
      #expect(
        WebPDecoder().workingByteCount(for: header, minimumSize: half)
          == WebPDecoder().workingByteCount(for: header, minimumSize: nil))
    }

    @Test("reads an image that lacks the byte after its odd number of bytes")
    func readsUnpadded() throws {
      let files = (1..<20).map { Fixture.webp(DrawnImage.slopes(3 * $0, 20)) }
      let odd = files.filter { $0[16] & 1 == 1 && $0[12..<15].elementsEqual("VP8".utf8) }
      #expect(!odd.isEmpty)
      for data in odd {
        let unpadded = Data(data.dropLast())
        #expect(try decode(unpadded).packedBytes == decode(data).packedBytes)
        #expect(throws: ImageDecodingError.truncated) { try decode(data.dropLast(2)) }
      }
    }

    @Test("turns an image whose metadata are longer than a JPEG could have")
    func readsLongMetadata() throws {
      let exif = Surgery.exif(orientation: 6) + Data(count: 100 << 10)
      let data = Surgery.extendedWebP(
        flags: 0x08, width: 128, height: 96,
        Surgery.webpChunks(Fixture.webp(slopes)) + Surgery.riffChunk("EXIF", exif))
      #expect(try decode(data).packedBytes == slopes.turned(6).opaqueBGRX)
    }

    @Test("is opaque, with its colours as they are, where it says that it has no alpha")
    func believesItsHeader() throws {
      let glass = DrawnImage(16, 8) { x, y in (x * 16, y * 32, 99, 16 * x) }
      var data = Fixture.webp(glass)
      let bits = try #require(data.range(of: Data("VP8L".utf8))).upperBound + 4 + 4
      #expect(data[bits] & 0x10 != 0)
      data[bits] &= ~0x10
      let bitmap = try decode(data)
      #expect(bitmap.layout.format == .bgrx32)
      for x in 1..<16 { #expect(bitmap.pixel(x, 4) == [99, 128, UInt8(x * 16), 255]) }
    }

    @Test("gives the first frame of an animation on its transparent canvas")
    func readsFirstFrame() throws {
      let opaque = DrawnImage(38, 30) { x, y in (x * 6, y * 8, 99, 255) }
      let other = Fixture.webp(DrawnImage(38, 30) { _, _ in (1, 2, 3, 255) })
      let frames =
        Surgery.riffChunk("ANIM", Data([9, 9, 9, 255, 0, 0]))
        + Surgery.webpFrame(Fixture.webp(opaque), x: 4, y: 6, width: 38, height: 30)
        + Surgery.webpFrame(other, x: 0, y: 0, width: 38, height: 30)
      let data = Surgery.extendedWebP(flags: 0x02, width: 50, height: 40, frames)
      let bitmap = try decode(data, atLeast: PixelSize(width: 10, height: 10))
      #expect(bitmap.size == PixelSize(width: 50, height: 40))
      #expect(bitmap.layout.format == .bgra32)
      let expected = DrawnImage(50, 40) { x, y in
        let isInside = (4..<42).contains(x) && (6..<36).contains(y)
        return isInside ? ((x - 4) * 6, (y - 6) * 8, 99, 255) : (0, 0, 0, 0)
      }
      #expect(largestDifference(bitmap.packedBytes, expected.premultipliedBGRA) == 0)
    }

    @Test("declares the whole canvas of a frame that does not cover it, and keeps the limit by it")
    func declaresCanvas() throws {
      let small = Fixture.webp(DrawnImage(2, 2) { _, _ in (1, 2, 3, 255) }, isLossless: false)
      let frames =
        Surgery.riffChunk("ANIM", Data(count: 6))
        + Surgery.webpFrame(small, x: 0, y: 0, width: 2, height: 2)
      let data = Surgery.extendedWebP(flags: 0x02, width: 400, height: 300, frames)
      #expect(try header(of: data).wholeImageByteCount >= 400 * 300 * 4)
      var limits = DecodingLimits()
      limits.workingByteCount = 400 * 300 * 4 - 1
      expectTooLarge {
        try decode(data, atLeast: PixelSize(width: 4, height: 3), limits: limits)
      }
    }

    @Test("refuses pixels that end before their container does", arguments: [true, false])
    func refusesShortPixelData(isLossless: Bool) throws {
      let webp = Fixture.webp(slopes, isLossless: isLossless)
      let name = Data((isLossless ? "VP8L" : "VP8 ").utf8)
      let start = try #require(webp.range(of: name)).upperBound + 4
      for share in [2, 5, 9] {
        let pixels = Data(webp[start..<start + (webp.count - start) * share / 10])
        let body =
          Data("WEBP".utf8) + Surgery.riffChunk(String(decoding: name, as: UTF8.self), pixels)
        let short = Data("RIFF".utf8) + Surgery.littleEndian(body.count, bytes: 4) + body
        #expect(throws: ImageDecodingError.self) { try decode(short) }
      }
    }

    @Test("refuses a frame that reaches over its canvas, or whose size contradicts its pixels")
    func refusesFrames() throws {
      for (image, x) in [(confetti, 20), (slopes, 0)] {
        let frames =
          Surgery.riffChunk("ANIM", Data(count: 6))
          + Surgery.webpFrame(Fixture.webp(image), x: x, y: 0, width: 38, height: 30)
        let data = Surgery.extendedWebP(flags: 0x02, width: 50, height: 40, frames)
        #expect(throws: ImageDecodingError.self) { try decode(data) }
      }
    }
  }
#endif
