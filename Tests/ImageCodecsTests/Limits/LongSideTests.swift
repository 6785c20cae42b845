#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("An image with a long side", .timeLimit(.minutes(10)))
  struct LongSideTests {
    /// As long as each format allows; libjpeg's own limit is 65 500.
    private static let sizes: [(EncodedImageType, PixelSize)] = [
      (.png, PixelSize(width: 1, height: 65_535)), (.png, PixelSize(width: 70_000, height: 3)),
      (.jpeg, PixelSize(width: 65_500, height: 8)), (.jpeg, PixelSize(width: 1, height: 65_500)),
      (.webp, PixelSize(width: 16_383, height: 4)),
    ]

    private func file(_ type: EncodedImageType, _ size: PixelSize) -> Data {
      let image = DrawnImage.slopes(size.width, size.height)
      switch type {
      case .jpeg: return Fixture.jpeg(size, image.rgb)
      case .webp: return Fixture.webp(image)
      default: return Fixture.png(size, image.rgba)
      }
    }

    @Test("is decoded to its size, and to a small one", arguments: sizes)
    func isDecoded(type: EncodedImageType, size: PixelSize) throws {
      let data = file(type, size)
      let bitmap = try decode(data)
      #expect(bitmap.size == size)
      let expected = DrawnImage.slopes(size.width, size.height).opaqueBGRX
      #expect(largestDifference(bitmap.packedBytes, expected) <= 6)

      let minimum = PixelSize(
        width: max(1, size.width / 500), height: max(1, size.height / 500))
      let small = try decode(data, atLeast: minimum)
      #expect(small.size.width >= minimum.width && small.size.height >= minimum.height)
      #expect(small.edges.fullSize == size)
      // At the end, which is the last to be reached.
      let last = small.pixel(small.size.width - 1, small.size.height - 1)
      #expect(abs(Int(last[2]) - Int(expected[expected.count - 2])) <= 12)
    }

    @Test("gives a part of itself at its far end, at each scale", arguments: [nil, 200, 50, 10])
    func givesPart(height: Int?) throws {
      let size = PixelSize(width: 40_000, height: 400)
      // All rows are alike: a closure for each of 16 million pixels takes half a minute in a debug build.
      let row = DrawnImage(size.width, 1) { x, _ in (x / 200, 99, 255 - x / 200, 255) }.rgb
      let data = Fixture.jpeg(size, (0..<size.height).reduce(into: []) { rows, _ in rows += row })
      var request = DecodeRequest(
        minimumSize: height.map { PixelSize(width: $0 * 100, height: $0) })
      request.region = ImageRegion(columns: 39_600..<40_000, rows: 0..<400)
      let part = try JPEGDecoder().decode(data, request)
      let whole = try decode(data, atLeast: request.minimumSize)
      #expect(part.size.width < whole.size.width / 20 && part.size.height == whole.size.height)
      #expect(
        part.pixel(part.size.width - 1, part.size.height / 2)
          == whole.pixel(whole.size.width - 1, whole.size.height / 2))
    }

    @Test("is refused where its rows take too much memory")
    func countsRows() {
      // A row of a hundred million pixels, of which the file has none.
      let data =
        Surgery.pngSignature
        + Surgery.pngHeader(width: 100_000_000, height: 1, bitDepth: 1, colorType: 0)
        + Surgery.pngChunk("IDAT", Data()) + Surgery.pngChunk("IEND", Data())
      expectTooLarge(naming: "100000000x1", "268435456") {
        try decode(data, atLeast: PixelSize(width: 1, height: 1))
      }
    }
  }
#endif
