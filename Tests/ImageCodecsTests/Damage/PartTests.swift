#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A file of which a part is shown", .timeLimit(.minutes(10)))
  struct PartTests {
    /// Those whose rows come one after the other.
    static let inRows = {
      var samples: [Sample] = [
        .baselineJPEG, .grayJPEG, .png, .palettePNG, .lossyWebP, .losslessWebP,
      ]
      #if GIF
        samples.append(.gif)
      #endif
      return samples
    }()

    /// Larger images than the samples, whose heads are a small part of the file.
    private static let image = DrawnImage(160, 120) { x, y in
      ((x * y + x * 3) % 211, y * 2, (x * y) % 97 + 60, 255)
    }

    /// An image whose neighbours are alike, so that a coarser one is near to it.
    private static let smooth = DrawnImage.slopes(160, 120)

    private static func data(_ sample: Sample) -> Data {
      var (jpeg, png) = (Fixture.JPEGOptions(), Fixture.PNGOptions())
      jpeg.isProgressive = sample == .progressiveJPEG
      png.isInterlaced = sample == .interlacedPNG
      switch sample {
      case .baselineJPEG: return Fixture.jpeg(image.size, image.rgb, jpeg)
      case .progressiveJPEG: return Fixture.jpeg(smooth.size, smooth.rgb, jpeg)
      case .turnedJPEG:
        return Surgery.adding(
          exif: Surgery.exif(orientation: 6), toJPEG: Fixture.jpeg(image.size, image.rgb, jpeg))
      case .grayJPEG: return Fixture.jpeg(image.size, image.red, jpeg)
      case .png: return Fixture.png(image.size, image.rgba, png)
      case .interlacedPNG: return Fixture.png(smooth.size, smooth.rgba, png)
      case .palettePNG:
        (png.colorType, png.palette) = (3, (0..<768).map { UInt8($0 % 251) })
        return Fixture.png(image.size, image.red, png)
      case .lossyWebP: return Fixture.webp(image, isLossless: false)
      case .losslessWebP: return Fixture.webp(image)
      #if GIF
        case .gif:
          return GIFFile(image.size, image.red, palette: (0..<768).map { UInt8($0 % 251) }).data
      #endif
      default: return sample.data
      }
    }

    private func part(
      of data: Data, atLeast minimumSize: PixelSize? = nil
    ) throws(ImageDecodingError) -> Bitmap {
      var request = DecodeRequest(minimumSize: minimumSize)
      request.damagedImages = .showPart
      return try ImageDecoders.standard.decoder(for: data).decode(data, request)
    }

    /// Decodes both ways: bytes that are refused give an error or a part with a mark, and others the same image.
    private func expectMark(
      of data: Data, _ comment: Comment, atLeast minimumSize: PixelSize? = nil
    ) {
      let whole = Result { () throws(ImageDecodingError) in
        try decode(data, atLeast: minimumSize)
      }
      let shown = Result { () throws(ImageDecodingError) in
        try part(of: data, atLeast: minimumSize)
      }
      switch (whole, shown) {
      case (.success(let whole), .success(let shown)):
        #expect(!shown.isDamaged && shown.packedBytes == whole.packedBytes, comment)
      case (.success, .failure(let error)):
        Issue.record("\(error) \(comment)")
      case (.failure, .success(let shown)):
        #expect(shown.isDamaged, comment)
      case (.failure, .failure): break
      }
    }

    @Test("has a mark wherever it is cut, unless it is whole", arguments: Sample.allCases)
    func cutShort(sample: Sample) {
      let data = sample.data
      for count in 0...data.count {
        let cut = Data(Array(data.prefix(count)))
        expectMark(of: cut, "after \(count) of \(data.count) bytes")
        guard count % 3 == 0 else { continue }
        expectMark(
          of: cut, "after \(count) of \(data.count) bytes, reduced",
          atLeast: PixelSize(width: 9, height: 7))
      }
    }

    @Test("has a mark whatever bytes are wrong, unless it is whole", arguments: Sample.allCases)
    func wrongBytes(sample: Sample) {
      var random = SplitMix64(state: 43)
      for round in 0..<150 {
        var damaged = sample.data
        for _ in 0...round % 3 {
          // Heads are refused in any case.
          let place = damaged.count / 3 + Int(random.next() % UInt64(damaged.count * 2 / 3))
          damaged[place] = UInt8(truncatingIfNeeded: random.next())
        }
        expectMark(
          of: damaged, "round \(round)",
          atLeast: round % 2 == 0 ? nil : PixelSize(width: 9, height: 7))
      }
    }

    @Test("shows the rows that came, and blanks below", arguments: inRows)
    func showsRows(sample: Sample) throws {
      let data = Self.data(sample)
      let whole = try decode(data)
      let shown = try part(of: data.prefix(data.count * 3 / 4))
      #expect(shown.isDamaged && shown.layout == whole.layout)
      let rowBytes = whole.size.width * whole.layout.format.bytesPerPixel
      let (first, second) = (whole.packedBytes, shown.packedBytes)
      #expect(first.prefix(50 * rowBytes) == second.prefix(50 * rowBytes))
      let blank: [UInt8] =
        switch shown.layout.format {
        case .gray8: [128]
        case .bgra32: [0, 0, 0, 0]
        default: [128, 128, 128, 255]
        }
      #expect(Array(second.suffix(blank.count)) == blank)
    }

    @Test(
      "shows the whole image, coarser, where the file has it in several scans or passes",
      arguments: [Sample.progressiveJPEG, .interlacedPNG])
    func showsScans(sample: Sample) throws {
      let data = Self.data(sample)
      let whole = try decode(data)
      for quarters in [2, 3] {
        let shown = try part(of: data.prefix(data.count * quarters / 4))
        #expect(shown.isDamaged && shown.layout == whole.layout)
        #expect(largestDifference(shown.packedBytes, whole.packedBytes) < 64)
      }
    }

    @Test("shows a turned image upright")
    func turns() throws {
      let data = Self.data(.turnedJPEG)
      let whole = try decode(data)
      let shown = try part(of: data.prefix(data.count * 3 / 4))
      #expect(shown.isDamaged && shown.size == whole.size)
      // The first rows of the file are the right columns.
      for y in 0..<whole.size.height {
        #expect(shown.pixel(whole.size.width - 1, y) == whole.pixel(whole.size.width - 1, y))
      }
      #expect(shown.pixel(0, whole.size.height - 1) == [128, 128, 128, 255])
    }

    @Test("goes on behind damage within, as libjpeg does")
    func goesOn() throws {
      var options = Fixture.JPEGOptions()
      options.restartRows = 1
      let data = Fixture.jpeg(Self.image.size, Self.image.rgb, options)
      let whole = try decode(data)
      let marker = try #require(data.range(of: Data([0xFF, 0xD2])))
      // Of the fourth row of blocks, some bytes are missing.
      let damaged = data[..<(marker.upperBound + 20)] + data[(marker.upperBound + 40)...]
      #expect(throws: ImageDecodingError.self) { try decode(damaged) }
      let shown = try part(of: damaged)
      #expect(shown.isDamaged)
      for y in [0, 23, 32, 119] { #expect(shown.pixel(5, y) == whole.pixel(5, y), "row \(y)") }
    }

    @Test("shows the scans before one that makes no sense")
    func showsFormerScans() throws {
      var options = Fixture.JPEGOptions()
      options.isProgressive = true
      let image = DrawnImage.slopes(64, 64)
      var data = Fixture.jpeg(image.size, image.rgb, options)
      let whole = try decode(data)
      let last = try #require(data.range(of: Data([0xFF, 0xC4]), options: .backwards))
      // A Huffman table of more codes than there can be.
      for place in last.upperBound + 3..<last.upperBound + 19 { data[place] = 0xFF }
      #expect(throws: ImageDecodingError.self) { try decode(data) }
      let shown = try part(of: data)
      #expect(shown.isDamaged)
      #expect(largestDifference(shown.packedBytes, whole.packedBytes) < 32)
    }
  }
#endif
