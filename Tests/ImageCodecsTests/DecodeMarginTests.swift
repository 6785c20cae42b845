#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The margin of a decode", .timeLimit(.minutes(10)))
  struct DecodeMarginTests {
    /// The side of an image that is drawn with 200 pixels, and the eighths at which it is decoded.
    private static let scales: [(margin: DecodeMargin, side: Int, eighths: Int)] = [
      // Pixels at 1/8 are averages: 370 rows are 1.85 times 200, and 369 are less.
      (.balanced, 2960, 1), (.balanced, 2952, 2),
      // Other scales lack frequencies: 460 rows are 2.3 times 200.
      (.balanced, 1840, 2), (.balanced, 1836, 4), (.balanced, 920, 4), (.balanced, 918, 8),
      // 555 rows are 2.775 times 200, 690 are 3.45 times.
      (.best, 4440, 1), (.best, 4432, 2), (.best, 2760, 2), (.best, 2752, 4), (.best, 1380, 4),
      (.best, 1376, 8),
      (.least, 1616, 2), (.least, 1600, 4), (.least, 808, 4), (.least, 800, 8),
    ]

    @Test(
      "is 1.85 or 2.3 times the size drawn, half as large again for the best decode, and 2 where memory is short",
      arguments: scales)
    func choosesScale(margin: DecodeMargin, side: Int, eighths: Int) {
      let size = PixelSize(width: side, height: side)
      let minimum = margin.minimumSize(for: PixelSize(width: 200, height: 200), of: size)
      #expect(JPEGDecoder.eighths(of: size, for: minimum, hasMargin: true) == eighths)
    }

    @Test("is part of the memory that a decode declares")
    func isDeclared() {
      let size = PixelSize(width: 1600, height: 1600)
      func byteCount(_ side: Int) -> Int {
        JPEGDecoder().workingByteCount(
          for: ImageHeader(size: size), minimumSize: PixelSize(width: side, height: side))
      }
      // At 1/4 for a caller with its own wishes, and at 1/2 for the cache.
      #expect(byteCount(400) == byteCount(500))
      #expect(byteCount(340) < byteCount(400) / 2)
    }

    @Test("ends at the image's own size")
    func endsAtFullSize() {
      let size = PixelSize(width: 300, height: 200)
      let drawn = PixelSize(width: 200, height: 99)
      let minimum = DecodeMargin.balanced.minimumSize(for: drawn, of: size)
      #expect(minimum == PixelSize(width: 300, height: 198))
      #expect(JPEGDecoder.eighths(of: size, for: minimum, hasMargin: true) == 8)
    }

    @Test("is the minimum alone for a caller with its own wishes")
    func isKept() {
      let size = PixelSize(width: 4000, height: 3000)
      let minimum = PixelSize(width: 534, height: 400)
      #expect(JPEGDecoder.eighths(of: size, for: minimum) == 2)
    }
  }
#endif
