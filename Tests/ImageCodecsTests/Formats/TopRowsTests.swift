#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("The top rows of a file that was cut", .timeLimit(.minutes(10)))
  struct TopRowsTests {
    private static let image = DrawnImage.slopes(21, 45)

    private static func jpeg(_ options: Fixture.JPEGOptions = .init()) -> Data {
      Fixture.jpeg(image, options)
    }

    private static func png(_ rows: [UInt8], _ colorType: Int32) -> Data {
      return Fixture.png(image.size, rows, .init(colorType: colorType))
    }

    private static let files: [(String, Data)] = [
      ("JPEG", jpeg()),
      ("JPEG with coarse colours", jpeg(.init(sampling: (2, 2)))),
      ("JPEG with restarts", jpeg(.init(restartRows: 1))),
      ("JPEG of inks", Fixture.jpeg(image.size, DrawnImage.confetti(21, 45).rgba)),
      ("PNG", png(PNGPassTests.noise(21, 45, isOpaque: true).rgb, 2)),
      ("PNG with alpha", png(DrawnImage.confetti(21, 45).rgba, 6)),
    ]

    private func rows(
      _ data: Data, _ byteCount: Int, atLeast size: PixelSize? = nil
    ) throws -> DecodedPreview {
      let decoder = try #require(
        try ImageDecoders.standard.decoder(for: data) as? any ProgressiveImageDecoder)
      return try decoder.decodePreview(
        Data(data.prefix(byteCount)), at: PreviewStage(.rows, byteCount: byteCount),
        DecodeRequest(minimumSize: size))
    }

    /// The rows, or `nil` where not even one is there.
    private func rowsThere(_ data: Data, _ byteCount: Int, atLeast size: PixelSize?) throws
      -> DecodedPreview?
    {
      do {
        return try rows(data, byteCount, atLeast: size)
      } catch let error as ImageDecodingError where error == .truncated {
        return nil
      }
    }

    @Test(
      "are the image's own, wherever the bytes end, and nothing is below them",
      arguments: files, [nil, PixelSize(width: 5, height: 11)])
    func cuts(_ file: (name: String, data: Data), size: PixelSize?) throws {
      let whole = try decode(file.data, atLeast: size)
      let (bytes, rowBytes) = (whole.packedBytes, 4 * whole.size.width)
      var last = 0
      for byteCount in stride(from: 0, to: file.data.count, by: Sanitizer.sweepStep) {
        guard let preview = try rowsThere(file.data, byteCount, atLeast: size) else {
          #expect(last == 0, "\(file.name) at \(byteCount)")
          continue
        }
        let count = Int(((preview.part ?? 0) * Double(whole.size.height)).rounded())
        let expected = bytes.prefix(count * rowBytes)
        let rest = [UInt8](repeating: 0, count: bytes.count - expected.count)
        #expect(preview.bitmap.layout.format == .bgra32)
        #expect(preview.bitmap.edges == whole.edges)
        #expect(preview.bitmap.packedBytes == expected + rest, "\(file.name) at \(byteCount)")
        #expect(count >= last)
        last = count
      }
      #expect(last > whole.size.height / 2)
    }

    @Test("lie where the turned image has them", arguments: 1...8)
    func upright(orientation: Int) throws {
      let exif = Surgery.exif(orientation: orientation)
      for data in [
        Surgery.adding(exif: exif, toJPEG: Self.jpeg()),
        Surgery.adding(chunk: "eXIf", exif, toPNG: Self.png(DrawnImage.confetti(21, 45).rgba, 6)),
      ] {
        let (whole, preview) = (try decode(data), try rows(data, data.count * 3 / 4))
        let part = try #require(preview.part)
        #expect(part > 0.3 && part < 1)
        let count = Int((part * 45).rounded())
        let isThere = DrawnImage(21, 45) { _, y in (y < count ? 255 : 0, 0, 0, 0) }.turned(
          orientation)
        let expected = zip(whole.packedBytes, isThere.red.flatMap { [$0, $0, $0, $0] }).map {
          $0 & $1
        }
        #expect(preview.bitmap.packedBytes == expected)
      }
    }

    @Test("are no preview of gray files, nor of files that are stored otherwise")
    func refused() throws {
      let image = Self.image
      let files = [
        Fixture.jpeg(image.size, image.red), Self.jpeg(.init(isProgressive: true)),
        Self.jpeg(.init(hasScanPerComponent: true)), Self.png(image.red, 0),
        Fixture.png(image, .init(isInterlaced: true)),
      ]
      for data in files {
        #expect {
          try rows(data, data.count - 20)
        } throws: {
          if case .unsupported? = $0 as? ImageDecodingError { true } else { false }
        }
      }
    }

    @Test("are no preview of a damaged file")
    func damaged() throws {
      var jpeg = Self.jpeg(.init(restartRows: 1))
      let restart = try #require(jpeg.range(of: Data([0xFF, 0xD1])))
      jpeg[restart.lowerBound + 1] = 0xD5
      #expect(throws: ImageDecodingError.self) { try rows(jpeg, jpeg.count - 20) }
      var png = Self.png(DrawnImage.confetti(21, 45).rgba, 6)
      let image = try #require(png.range(of: Data("IDAT".utf8))).upperBound
      for index in image..<image + 40 { png[index] = 0xFF }
      expectDamaged { try rows(png, png.count - 20) }
    }

    @Test("are looked for at a quarter, a half and three quarters of a PNG file's image")
    func marks() throws {
      let data = Self.png(DrawnImage.confetti(21, 45).rgba, 6)
      let start = try #require(data.range(of: Data("IDAT".utf8))).upperBound
      var watch = PNGWatch(of: data.count)
      let stages = data.flatMap { watch.receive(Data([$0])) }
      #expect(
        stages
          == [0.25, 0.5, 0.75].map {
            PreviewStage(.rows, byteCount: start + Int(Double(data.count - start) * $0))
          })
    }
  }
#endif
