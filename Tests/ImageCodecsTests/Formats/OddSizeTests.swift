#if !canImport(ImageIO)
  import Foundation
  import ImageDrawing
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  /// Decoders round the sides of what they scale, each in its way. Waves of five drawn pixels show a
  /// shift of a twentieth of a pixel; the reference is made of the image itself.
  @Suite("An image whose sides the decoder's scale does not divide", .timeLimit(.minutes(10)))
  struct OddSizeTests {
    private static let size = PixelSize(width: 105, height: 73)

    /// The sizes to draw at for which a JPEG is decoded at 1/8, 2/8, 4/8 and 8/8.
    static let outputs = [
      PixelSize(width: 6, height: 4), PixelSize(width: 12, height: 8),
      PixelSize(width: 24, height: 16), PixelSize(width: 40, height: 27),
    ]

    /// One way to draw, and the part of the upright image that it shows.
    private struct Example {
      let drawing: Drawing
      let output: PixelSize
      let columns: Range<Double>
      let rows: Range<Double>
    }

    /// The whole, a part, and each end and the middle of the longer side.
    private func examples(_ size: PixelSize, _ output: PixelSize) -> [Example] {
      let (width, height) = (Double(size.width), Double(size.height))
      let crop = Canvas.Rect(x: 0.1, y: 0.25, width: 0.85, height: 0.6)
      let side = min(output.width, output.height)
      let squares = [0, 0.5, 1].map { share in
        let (left, top) = (max(0, width - height) * share, max(0, height - width) * share)
        return Example(
          drawing: .aspectFill(alignment: .init(x: share, y: share)),
          output: PixelSize(width: side, height: side),
          columns: left..<left + min(width, height), rows: top..<top + min(width, height))
      }
      return squares + [
        Example(drawing: .stretch, output: output, columns: 0..<width, rows: 0..<height),
        Example(
          drawing: .stretch(crop: crop), output: output,
          columns: crop.x * width..<crop.maxX * width, rows: crop.y * height..<crop.maxY * height),
      ]
    }

    private func waves(_ output: PixelSize) -> DrawnImage {
      DrawnImage(Self.size.width, Self.size.height) { x, y in
        func wave(_ place: Int, _ length: Int, _ drawn: Int) -> Double {
          sin((Double(place) + 0.5) / Double(length) * Double(drawn) / 5 * 2 * .pi)
        }
        let across = wave(x, Self.size.width, output.width)
        let down = wave(y, Self.size.height, output.height)
        return (
          Int(128 + 100 * across), Int(128 + 100 * down), Int(128 + 50 * (across + down)), 255
        )
      }
    }

    /// The mean difference of a file's colours to the image's own, for the worst of the examples.
    private func difference(
      _ data: Data, _ upright: DrawnImage, _ examples: [(Example, exact: [Double])]
    ) throws -> Double {
      try examples.map { example, exact in
        let minimum = example.drawing.minimumSourceSize(
          source: upright.size, slot: example.output, upTo: false)
        let doubled = PixelSize(
          width: min(minimum.width * 2, upright.size.width),
          height: min(minimum.height * 2, upright.size.height))
        let drawn = try draw(decode(data, atLeast: doubled), example)
        let sum = zip(drawn, exact).reduce(0) { $0 + abs(Double($1.0) - $1.1) }
        return sum / Double(exact.count) * 4 / 3
      }.max() ?? .infinity
    }

    private func withExactColors(
      _ upright: DrawnImage, _ examples: [Example]
    ) -> [(Example, exact: [Double])] {
      examples.map { example in
        let exact = ReferenceResampler.bytes(
          of: upright.opaqueBGRX, size: upright.size, channels: 4, columns: example.columns,
          rows: example.rows, output: example.output)
        return (example, exact)
      }
    }

    private func draw(_ bitmap: Bitmap, _ example: Example) throws -> [UInt8] {
      let layout = try #require(PixelLayout(size: example.output, format: .bgrx32))
      return try Bitmap(layout: layout) {
        try example.drawing.draw(
          bitmap, into: $0, layout: layout, scale: 1, upTo: false, isCancelled: { false })
      }.packedBytes
    }

    private func jpeg(_ image: DrawnImage, orientation: Int) -> Data {
      Surgery.adding(
        exif: Surgery.exif(orientation: orientation),
        toJPEG: Fixture.jpeg(image))
    }

    private func png(_ image: DrawnImage, orientation: Int) -> Data {
      Surgery.adding(
        chunk: "eXIf", Surgery.exif(orientation: orientation),
        toPNG: Fixture.png(image))
    }

    private func webp(_ image: DrawnImage, orientation: Int) -> Data {
      let exif = Surgery.exif(orientation: orientation, isLittleEndian: true)
      return Surgery.extendedWebP(
        flags: 0x08, width: image.size.width, height: image.size.height,
        Surgery.webpChunks(Fixture.webp(image)) + Surgery.riffChunk("EXIF", exif))
    }

    /// All kinds of file in one test, because the exact colours take the most time.
    @Test("is drawn where it belongs from a JPEG, a PNG and a WebP", arguments: 1...8, outputs)
    func drawsFiles(orientation: Int, output: PixelSize) throws {
      let image = waves(output)
      let upright = image.turned(orientation)
      let output = orientation < 5 ? output : output.transposed
      let exact = withExactColors(upright, examples(upright.size, output))
      for (kind, encode) in [("JPEG", jpeg), ("PNG", png), ("WebP", webp)] {
        #expect(try difference(encode(image, orientation), upright, exact) < 2.5, "\(kind)")
      }
    }

    @Test("shows next to nothing of what its file hides beside it", arguments: 1...8, outputs)
    func hidesPadding(orientation: Int, output: PixelSize) throws {
      // Cropping without loss leaves the rest of the outermost blocks in the file.
      let image = DrawnImage(112, 80) { x, y in
        x < Self.size.width && y < Self.size.height ? (50, 50, 50, 255) : (255, 255, 255, 255)
      }
      let data = Surgery.cropping(jpeg: jpeg(image, orientation: orientation), to: Self.size)
      let upright = orientation < 5 ? Self.size : Self.size.transposed
      let output = orientation < 5 ? output : output.transposed
      for example in examples(upright, output) {
        let minimum = PixelSize(width: output.width * 2, height: output.height * 2)
        let drawn = try draw(decode(data, atLeast: minimum), example)
        let colors = drawn.indices.filter { $0 % 4 < 3 }.map { drawn[$0] }
        #expect(colors.allSatisfy { (47...82).contains($0) }, "\(colors.max() ?? 0)")
      }
    }

    #if Cairo
      @Test("is drawn where it belongs by a closure", arguments: 1...8, outputs)
      func drawsByClosure(orientation: Int, output: PixelSize) throws {
        let image = waves(output)
        let data = jpeg(image, orientation: orientation)
        let upright = image.turned(orientation)
        let output = orientation < 5 ? output : output.transposed
        let fill = Drawing.custom { source, canvas in
          try canvas.draw(source, in: canvas.bounds, scaling: .aspectFill, alignment: .bottomRight)
        }
        let square = examples(upright.size, output)[2]
        let example = Example(
          drawing: fill, output: square.output, columns: square.columns, rows: square.rows)
        #expect(try difference(data, upright, withExactColors(upright, [example])) < 2.5)
      }
    #endif
  }
#endif
