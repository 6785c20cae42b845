#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The margin of a decode", .timeLimit(.minutes(10)))
  struct DecodeMarginTests {
    @Test(
      "is twice the size drawn, and 1.85 times where pixels are averages",
      arguments: [
        // 375 rows are 1.875 times 200.
        (PixelSize(width: 4000, height: 3000), PixelSize(width: 267, height: 200), 1),
        // 370 rows are 1.85 times 200, and 369 are less.
        (PixelSize(width: 2960, height: 2960), PixelSize(width: 200, height: 200), 1),
        (PixelSize(width: 2952, height: 2952), PixelSize(width: 200, height: 200), 2),
        // Other scales have no averages.
        (PixelSize(width: 1600, height: 1600), PixelSize(width: 200, height: 200), 2),
        (PixelSize(width: 1592, height: 1592), PixelSize(width: 200, height: 200), 4),
        (PixelSize(width: 800, height: 800), PixelSize(width: 200, height: 200), 4),
        (PixelSize(width: 792, height: 792), PixelSize(width: 200, height: 200), 8),
      ])
    func choosesScale(size: PixelSize, drawn: PixelSize, eighths: Int) {
      let minimum = DecodeMargin.minimumSize(for: drawn, of: size)
      let averaged = DecodeMargin.averagedSize(for: minimum, of: size)
      #expect(JPEGDecoder.eighths(of: size, for: minimum, averaged: averaged) == eighths)
    }

    @Test("ends at the picture's own size")
    func endsAtFullSize() {
      let size = PixelSize(width: 300, height: 200)
      let minimum = DecodeMargin.minimumSize(for: PixelSize(width: 200, height: 99), of: size)
      #expect(minimum == PixelSize(width: 300, height: 198))
      #expect(DecodeMargin.averagedSize(for: minimum, of: size) == nil)
    }

    @Test("is kept by a decoder that nobody allows averages")
    func isKept() {
      let size = PixelSize(width: 4000, height: 3000)
      let minimum = PixelSize(width: 534, height: 400)
      #expect(JPEGDecoder.eighths(of: size, for: minimum) == 2)
    }
  }
#endif
