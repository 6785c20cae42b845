#if !canImport(ImageIO)
  import FastImageCache
  import Foundation
  import ImageCodecs
  import Pixels
  import TestSupport
  import Testing

  /// What decoders leave out, the loader must not let be seen: images are drawn from a file and from
  /// all of its pixels. The bounds stand between 2.3 times the size drawn, which is the rule, and 1.5
  /// times, with which rings appear that the image does not have.
  @Suite("An image that is drawn from a smaller decode", .timeLimit(.minutes(10)))
  struct DecodeSizeTests {
    private static let size = PixelSize(width: 800, height: 600)

    private struct Shown: ImageEntity {
      let imageID: ImageID
      let content: ImageSourceResponse

      func versionID(for format: ImageFormat) -> ImageID { imageID }
      func sourceURL(for format: ImageFormat) -> URL? { nil }
      func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? { content }
      func prerendersFamily(_ family: String) -> Bool { false }
    }

    /// Rings that become finer outwards, until two pixels are a period.
    private func rings() throws -> Bitmap {
      try image { x, y in
        let squared = Double((x - 400) * (x - 400) + (y - 300) * (y - 300))
        return 127.5 + 127.5 * cos(.pi * squared / 800)
      }
    }

    private func image(_ gray: (Int, Int) -> Double) throws -> Bitmap {
      let layout = try #require(PixelLayout(size: Self.size, format: .bgrx32))
      return try Bitmap(layout: layout) { bytes in
        for y in 0..<Self.size.height {
          for x in 0..<Self.size.width {
            let value = UInt8(gray(x, y))
            for channel in 0..<3 { bytes[y * layout.rowBytes + x * 4 + channel] = value }
          }
        }
      }
    }

    /// The first is decoded at 2.3 times its size. The second is decoded whole, with coarse
    /// colours, which are no matter of brightness.
    @Test(
      "differs little from one that is drawn from all pixels",
      arguments: [(172, 129, 3.0), (266, 200, 0.01)])
    func differsLittle(width: Int, height: Int, bound: Double) async throws {
      let data = try rings().jpegData(quality: 0.92)
      let decoder = try #require(ImageDecoders.standard.first { $0.recognizes(data.prefix(64)) })
      let format = ImageFormat(
        name: "drawn", size: .exact(PixelSize(width: width, height: height)), pixelFormat: .bgrx32,
        capacity: .count(2))
      let fixture = try await Fixture([format])
      let small = try await fixture.cache.image(
        for: Shown(imageID: "file", content: .encoded(data)), format: format
      ).makeBitmap()
      let exact = try await fixture.cache.image(
        for: Shown(imageID: "pixels", content: .bitmap(decoder.decode(data, DecodeRequest()))),
        format: format
      ).makeBitmap()
      let sum = small.withPixels { small in
        exact.withPixels { exact in
          (0..<small.byteCount).reduce(0) { sum, index in
            let one = small.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            let other = exact.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            return sum + abs(Int(one) - Int(other))
          }
        }
      }
      // Of four bytes three are colours.
      #expect(Double(sum) / Double(width * height * 3) <= bound)
    }
  }
#endif
