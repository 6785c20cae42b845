#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("An encoder of some colours", .timeLimit(.minutes(10)))
  struct EncodedColorsTests {
    private let photo = DrawnImage.confetti(21, 13)

    private func encode(
      _ encoder: some ImageEncoder, _ bytes: [UInt8], _ size: PixelSize, _ format: PixelFormat,
      _ colorSpace: ColorSpace = .sRGB
    ) throws -> Data {
      let layout = try #require(
        PixelLayout(size: size, format: format, rowBytes: bytes.count / size.height))
      return try Bitmap(copying: bytes, layout: layout).withPixels { pixels in
        try encoder.encode(pixels, layout: layout, colorSpace: colorSpace)
      }
    }

    /// PNG, third edition, table 8; and the components of a JPEG's frame.
    private func colorType(_ png: Data) -> UInt8 { png[25] }

    private func componentCount(_ jpeg: Data) throws -> UInt8 {
      let frame = try #require(jpeg.range(of: Data([0xFF, 0xC0])))
      return jpeg[frame.upperBound + 7]
    }

    /// The image over a ground, in blue, green, red, 255.
    private func flattened(_ ground: [Double]) -> [UInt8] {
      let pixels = photo.premultipliedBGRA
      return pixels.indices.map { index in
        let missing = 255 - Double(pixels[index | 3])
        let sum = Double(pixels[index]) + (missing * (ground + [1])[index % 4]).rounded()
        return UInt8(min(sum, 255))
      }
    }

    @Test("lays what is transparent on the ground")
    func isOpaque() throws {
      let white = try encode(
        PNGEncoder(colors: .opaque), photo.premultipliedBGRA, photo.size, .bgra32)
      #expect(colorType(white) == 2)
      #expect(try decode(white).packedBytes == flattened([1, 1, 1]))
      let orange = EncodedColors.opaque(on: .init(red: 1, green: 0.5, blue: -3))
      let data = try encode(
        PNGEncoder(colors: orange), photo.premultipliedBGRA, photo.size, .bgra32)
      #expect(try largestDifference(decode(data).packedBytes, flattened([0, 0.5, 1])) <= 1)
      let webp = try encode(
        WebPEncoder(colors: .opaque), photo.premultipliedBGRA, photo.size, .bgra32)
      #expect(try !header(of: webp).hasAlpha)
      let wide = [
        EncodedColors.Ground(red: 2, green: .nan, blue: -3), .init(red: 1, green: 0, blue: 0),
      ]
      let encoded = try wide.map { ground in
        try encode(
          PNGEncoder(colors: .opaque(on: ground)), photo.premultipliedBGRA, photo.size,
          .bgra32, .displayP3)
      }
      #expect(encoded[0] == encoded[1])
      // JPEG is on white by itself.
      let all = try encode(JPEGEncoder(), photo.premultipliedBGRA, photo.size, .bgra32)
      let opaque = try encode(
        JPEGEncoder(colors: .opaque), photo.premultipliedBGRA, photo.size, .bgra32)
      #expect(all == opaque)
    }

    @Test("writes one gray value a pixel")
    func isGray() throws {
      let colors = flattened([1, 1, 1])
      let weights = [0.114, 0.587, 0.299]
      let expected: [Double] = stride(from: 0, to: colors.count, by: 4).map { start in
        zip(weights, colors[start...]).reduce(0) { sum, next in sum + next.0 * Double(next.1) }
      }
      let png = try encode(
        PNGEncoder(colors: .gray), photo.premultipliedBGRA, photo.size, .bgra32)
      #expect(colorType(png) == 0)
      let bitmap = try decode(png)
      #expect(bitmap.layout.format == .gray8)
      #expect(zip(bitmap.packedBytes, expected).allSatisfy { abs(Double($0) - $1) <= 1 })

      let slopes = DrawnImage.slopes(64, 48)
      let jpeg = try encode(
        JPEGEncoder(quality: 0.95, colors: .gray), slopes.opaqueBGRX, slopes.size, .bgrx32,
        .displayP3)
      #expect(try componentCount(jpeg) == 1)
      let color = try encode(JPEGEncoder(), slopes.opaqueBGRX, slopes.size, .bgrx32)
      #expect(try componentCount(color) == 3)
    }

    @Test(
      "keeps each of few colours exactly, with its alpha", arguments: [1, 2, 4, 16, 17, 256])
    func listsColors(count: Int) throws {
      let few = DrawnImage(32, 24) { x, y in
        let n = (x + 32 * y) % count
        return (n * 37 % 256, n, 255 - n, n % 3 == 0 ? 255 : n / 2 + 90)
      }
      for colors in [EncodedColors.palette, .palette(count: count)] {
        let data = try encode(
          PNGEncoder(colors: colors), few.premultipliedBGRA, few.size, .bgra32)
        #expect(colorType(data) == 3)
        let depth: [Int: UInt8] = [1: 1, 2: 1, 4: 2, 16: 4]
        #expect(data[24] == depth[count] ?? 8)
        let bitmap = try decode(data)
        if bitmap.layout.format == .bgra32 {
          #expect(bitmap.packedBytes == few.premultipliedBGRA)
        } else {
          #expect(bitmap.packedBytes == few.opaqueBGRX && count < 2)
        }
      }
      let wide = try encode(
        PNGEncoder(colors: .palette), few.opaqueBGRX, few.size, .bgrx32, .displayP3)
      #expect(try ImageHeader(of: wide).colorSpace == .displayP3)
    }

    @Test("divides colours that are near to one another", arguments: [(256, 200), (64, 60)])
    func dividesNearColors(levels: Int, count: Int) throws {
      let photo = DrawnImage(levels, 1) { x, _ in
        levels == 256 ? (x, x, x, 255) : (x % 8, x / 8, 0, 255)
      }
      let data = try encode(
        PNGEncoder(colors: .palette(count: count)), photo.opaqueBGRX, photo.size, .bgrx32)
      let pixels = try decode(data).packedBytes
      #expect(largestDifference(pixels, photo.opaqueBGRX) <= 2)
      let colors = Set(stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 4]) })
      #expect(colors.count <= count && colors.count > count - 10)
    }

    @Test(
      "chooses colours near to those of an image that has more", arguments: [(256, 24), (16, 60)])
    func choosesColors(count: Int, tolerance: Int) throws {
      let slopes = DrawnImage.slopes(200, 150)
      let data = try encode(
        PNGEncoder(colors: .palette(count: count)), slopes.opaqueBGRX, slopes.size, .bgrx32)
      #expect(colorType(data) == 3)
      let pixels = try decode(data).packedBytes
      #expect(largestDifference(pixels, slopes.opaqueBGRX) <= tolerance)
      let colors = Set(stride(from: 0, to: pixels.count, by: 4).map { Array(pixels[$0..<$0 + 4]) })
      #expect(colors.count <= count && colors.count > count / 2)
      var lossless = WebPEncoder.losslessWebP
      lossless.colors = .palette(count: count)
      let webp = try encode(lossless, slopes.opaqueBGRX, slopes.size, .bgrx32)
      #expect(try decode(webp).packedBytes == pixels)
    }
  }
#endif
