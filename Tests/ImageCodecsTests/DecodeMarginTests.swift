#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The margin of a decode", .timeLimit(.minutes(10)))
  struct DecodeMarginTests {
    @Test(
      "is 1.85 times the size drawn where pixels are averages, and 2.3 times where they lack frequencies",
      arguments: [
        // 375 rows are 1.875 times 200.
        (PixelSize(width: 4000, height: 3000), PixelSize(width: 267, height: 200), 1),
        // 370 rows are 1.85 times 200, and 369 are less.
        (PixelSize(width: 2960, height: 2960), PixelSize(width: 200, height: 200), 1),
        (PixelSize(width: 2952, height: 2952), PixelSize(width: 200, height: 200), 2),
        // Other scales have no averages: 460 rows are 2.3 times 200.
        (PixelSize(width: 1840, height: 1840), PixelSize(width: 200, height: 200), 2),
        (PixelSize(width: 1836, height: 1836), PixelSize(width: 200, height: 200), 4),
        (PixelSize(width: 920, height: 920), PixelSize(width: 200, height: 200), 4),
        (PixelSize(width: 918, height: 918), PixelSize(width: 200, height: 200), 8),
      ])
    func choosesScale(size: PixelSize, drawn: PixelSize, eighths: Int) {
      let minimum = DecodeMargin.balanced.minimumSize(for: drawn, of: size)
      #expect(JPEGDecoder.eighths(of: size, for: minimum, hasMargin: true) == eighths)
    }

    @Test(
      "is half as large again where the finest decode is asked for",
      arguments: [
        // 555 rows are 2.775 times 200, 690 are 3.45 times.
        (4440, 1), (4432, 2), (2760, 2), (2752, 4), (1380, 4), (1376, 8),
      ])
    func choosesFinestScale(side: Int, eighths: Int) {
      let (size, drawn) = (
        PixelSize(width: side, height: side), PixelSize(width: 200, height: 200)
      )
      let minimum = DecodeMargin.best.minimumSize(for: drawn, of: size)
      #expect(JPEGDecoder.eighths(of: size, for: minimum, hasMargin: true) == eighths)
    }

    @Test("is at least twice the size at 1/4 and 1/2 where memory is short")
    func choosesLeastScale() {
      let drawn = PixelSize(width: 200, height: 200)
      for (side, eighths) in [(1616, 2), (1600, 4), (808, 4), (800, 8)] {
        let size = PixelSize(width: side, height: side)
        let minimum = DecodeMargin.least.minimumSize(for: drawn, of: size)
        #expect(JPEGDecoder.eighths(of: size, for: minimum, hasMargin: true) == eighths)
      }
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
