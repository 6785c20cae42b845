#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A JPEG decoder", .timeLimit(.minutes(10)))
  struct JPEGDecoderTests {
    private let image = DrawnImage.slopes(83, 61)

    private func jpeg(_ options: Fixture.JPEGOptions = .init()) -> Data {
      Fixture.jpeg(image, options)
    }

    @Test("gives blue, green, red and 255, however colours are stored", arguments: [false, true])
    func decodesColor(isStoredAsRGB: Bool) throws {
      let bitmap = try decode(
        jpeg(.init(hasAdobeSegment: isStoredAsRGB, isStoredAsRGB: isStoredAsRGB)))
      #expect(bitmap.layout.format == .bgrx32)
      #expect(bitmap.size == image.size)
      #expect(largestDifference(bitmap.packedBytes, image.opaqueBGRX) <= 4)
    }

    @Test("reads every subsampling", arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)])
    func readsSubsampling(across: Int, down: Int) throws {
      let bitmap = try decode(jpeg(.init(sampling: (UInt32(across), UInt32(down)))))
      #expect(largestDifference(bitmap.packedBytes, image.opaqueBGRX) <= 16)
    }

    @Test("reads the same pixels of any order of scans, of restart markers, and before other bytes")
    func readsAlike() throws {
      let (baseline, progressive) = (jpeg(), jpeg(.init(isProgressive: true)))
      #expect(try header(of: progressive).wholeImageByteCount >= 83 * 61 * 6)
      #expect(try header(of: baseline).wholeImageByteCount == 0)
      let files = [
        progressive, jpeg(.init(hasScanPerComponent: true)), jpeg(.init(restartRows: 1)),
        baseline + Data("garbage".utf8) + baseline,
      ]
      for data in files {
        #expect(try decode(data).packedBytes == decode(baseline).packedBytes)
      }
    }

    /// Qualities whose first scan is enough, and one where a step of brightness is too coarse.
    @Test(
      "reads of a progressive file at an eighth of its size no more than is seen there",
      arguments: [100, 90, 75, 10] as [Int32])
    func stopsEarly(quality: Int32) throws {
      let size = PixelSize(width: 240, height: 184)
      let large = DrawnImage.slopes(240, 184)
      var options = Fixture.JPEGOptions(quality: quality)
      let baseline = Fixture.jpeg(size, large.rgb, options)
      options.isProgressive = true
      let progressive = Fixture.jpeg(size, large.rgb, options)
      let eighth = PixelSize(width: 30, height: 23)
      let (fast, full) = (
        try decode(progressive, atLeast: eighth), try decode(baseline, atLeast: eighth)
      )
      #expect(fast.size == eighth && full.size == eighth)
      // One level of brightness and one of a colour difference are at most 1 + 1.772 in blue.
      #expect(largestDifference(fast.packedBytes, full.packedBytes) <= 3)
      // The last scan can be nonsense when nobody looks at it, but it has to be there.
      let table = try #require(
        progressive.range(of: Data([0xff, 0xc4]), options: .backwards)?.lowerBound)
      var damaged = progressive
      for index in (table + 5)..<(table + 21) { damaged[index] = 0xff }
      #expect(try decode(damaged, atLeast: eighth).packedBytes == fast.packedBytes)
      #expect(throws: ImageDecodingError.self) { try decode(damaged) }
      for count in [progressive.count - 3, progressive.count - 4, table] {
        #expect(throws: ImageDecodingError.self) {
          try decode(progressive.prefix(count), atLeast: eighth)
        }
      }
    }

    /// Colours stored at half the resolution still have a value for each pixel of an eighth, which
    /// is not the mean of their blocks.
    @Test(
      "reads of a progressive file the colours of an eighth of its size",
      arguments: [(1, 1), (2, 1), (2, 2), (4, 2)] as [(UInt32, UInt32)], [95, 75] as [Int32])
    func stopsWithColors(sampling: (across: UInt32, down: UInt32), quality: Int32) throws {
      let large = DrawnImage(128, 96) { x, y in
        (x / 8 + y / 8) % 2 == 0 ? (150, 90, 90, 255) : (90, 90, 150, 255)
      }
      var options = Fixture.JPEGOptions(sampling: sampling, quality: quality)
      let baseline = Fixture.jpeg(large, options)
      options.isProgressive = true
      let progressive = Fixture.jpeg(large, options)
      let eighth = PixelSize(width: 16, height: 12)
      let difference = try largestDifference(
        decode(progressive, atLeast: eighth).packedBytes,
        decode(baseline, atLeast: eighth).packedBytes)
      #expect(difference <= 4)
    }

    @Test("gives gray pixels for a gray file")
    func decodesGray() throws {
      let data = Fixture.jpeg(image.size, image.red)
      let bitmap = try decode(data)
      #expect(try header(of: data).isGray)
      #expect(bitmap.layout.format == .gray8)
      #expect(largestDifference(bitmap.packedBytes, image.red) <= 2)
    }

    @Test(
      "takes the smallest eighth that is not below the size wanted",
      arguments: [
        (11, 8, 11, 8), (12, 8, 21, 16), (11, 9, 21, 16), (21, 16, 21, 16), (22, 1, 42, 31),
        (42, 31, 42, 31), (43, 1, 83, 61), (1, 32, 83, 61), (1, 1, 11, 8), (500, 500, 83, 61),
      ])
    func choosesScale(width: Int, height: Int, resultWidth: Int, resultHeight: Int) throws {
      let bitmap = try decode(jpeg(), atLeast: PixelSize(width: width, height: height))
      #expect(bitmap.size == PixelSize(width: resultWidth, height: resultHeight))
    }

    @Test("keeps the colours when it shrinks", arguments: [false, true])
    func shrinksFaithfully(isProgressive: Bool) throws {
      let large = DrawnImage.slopes(256, 128)
      let data = Fixture.jpeg(large, .init(isProgressive: isProgressive))
      for (eighths, size) in [
        (1, PixelSize(width: 32, height: 16)), (2, PixelSize(width: 64, height: 32)),
        (4, PixelSize(width: 128, height: 64)),
      ] {
        let bitmap = try decode(data, atLeast: size)
        #expect(bitmap.size == size)
        // The middle of an averaged square lies half a square from its first pixel.
        let factor = 8 / eighths
        let expected = DrawnImage(size.width, size.height) { x, y in
          large[x * factor + factor / 2, y * factor + factor / 2]
        }
        #expect(largestDifference(bitmap.packedBytes, expected.opaqueBGRX) <= 4)
      }
    }

    /// A row of squares of colour in the stored resolution, and odd sides, where rows and columns are
    /// left over.
    @Test(
      "repeats colours that are stored coarsely only where its result is going to be halved",
      arguments: [(2, 1), (2, 2)])
    func repeatsColors(across: UInt32, down: UInt32) throws {
      let image = DrawnImage(83, 61) { x, _ in x < 40 ? (200, 40, 40, 255) : (40, 40, 200, 255) }
      let data = Fixture.jpeg(image, .init(sampling: (across, down)))
      let whole = try decode(data)
      let reduced = try decode(data, atLeast: PixelSize(width: 82, height: 60))
      #expect(reduced.size == image.size)
      #expect(try decode(data, atLeast: image.size).packedBytes == whole.packedBytes)
      for y in [0, 31, 59, 60] {
        #expect(largestDifference(whole.pixel(38, y), whole.pixel(39, y)) > 16)
        #expect(largestDifference(reduced.pixel(38, y), reduced.pixel(39, y)) <= 2)
        #expect(reduced.pixel(82, y)[3] == 255)
      }
    }

    @Test(
      "gives the same to whoever halves its result, whatever the colours' resolution",
      arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)], [1, 61])
    func halvesAlike(sampling: (Int, Int), height: Int) throws {
      let image = DrawnImage.slopes(83, height)
      let data = Fixture.jpeg(image, .init(sampling: (UInt32(sampling.0), UInt32(sampling.1))))
      let whole = try decode(data)
      let reduced = try decode(
        data, atLeast: PixelSize(width: 82, height: max(1, height - 1)))
      func halved(_ bitmap: Bitmap) -> [UInt8] {
        let bytes = bitmap.packedBytes
        return (0..<(height / 2) * 41 * 4).map { index in
          let (row, column) = (index / 164 * 2, index % 164 / 4 * 2)
          let first = (row * 83 + column) * 4 + index % 4
          let sum = [0, 4, 332, 336].reduce(0) { $0 + Int(bytes[first + $1]) }
          return UInt8((sum + 2) / 4)
        }
      }
      #expect(largestDifference(halved(reduced), halved(whole)) <= 4)
      let fourth = stride(from: 3, to: 83 * height * 4, by: 4)
      let bytes = reduced.packedBytes
      #expect(fourth.allSatisfy { bytes[$0] == 255 })
    }

    // Without Adobe's segment nobody can tell YCCK from CMYK, so there is no fourth case.
    @Test("turns four inks into light", arguments: [(false, false), (false, true), (true, true)])
    func decodesInk(isYCCK: Bool, hasAdobeSegment: Bool) throws {
      // Cyan, magenta, yellow and black as shares of 255.
      let inks: [[UInt8]] = [
        [0, 0, 0, 0], [255, 0, 0, 0], [0, 255, 0, 0], [0, 0, 255, 0], [0, 0, 0, 255],
        [100, 50, 25, 51],
      ]
      // Squares of 16 pixels, so that no transform mixes them.
      let size = PixelSize(width: 16 * inks.count, height: 16)
      let pixels = (0..<16 * size.width).flatMap { index in
        inks[index % size.width / 16].map { 255 - $0 }
      }
      let bitmap = try decode(
        Fixture.jpeg(size, pixels, .init(isYCCK: isYCCK, hasAdobeSegment: hasAdobeSegment)))
      #expect(bitmap.layout.format == .bgrx32)
      #expect(bitmap.colorConversion == nil)
      for (index, ink) in inks.enumerated() {
        let light = (0..<3).map { (255 - Int(ink[$0])) * (255 - Int(ink[3])) / 255 }
        let expected = [light[2], light[1], light[0], 255].map { UInt8($0) }
        #expect(largestDifference(bitmap.pixel(index * 16 + 8, 8), expected) <= 3)
      }
    }

    @Test("refuses damage that libjpeg merely warns about")
    func refusesDamage() throws {
      var data = jpeg(.init(restartRows: 1))
      // The first restart marker becomes the fourth: a row of blocks is missing.
      let marker = try #require(data.range(of: Data([0xFF, 0xD0])))
      data[marker.lowerBound + 1] = 0xD3
      #expect(throws: ImageDecodingError.self) { try decode(data) }
    }

    @Test("names the kind that it does not decode")
    func namesUnsupportedKinds() throws {
      var data = jpeg()
      let frame = try #require(data.range(of: Data([0xFF, 0xC0])))
      data[frame.lowerBound + 1] = 0xC3
      #expect {
        try decode(data)
      } throws: { error in
        guard case ImageDecodingError.unsupported(let text) = error else { return false }
        return text.contains("0xc3")
      }
    }
  }
#endif
