#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  /// Kinds of files whose rows and columns libjpeg passes over in different ways.
  enum RegionFixture: String, CaseIterable, Sendable {
    case fullColors, halvedAcross, halvedDown, halved, gray, inks, progressive, restarts, apart

    func data(_ image: DrawnImage) -> Data {
      var options = Fixture.JPEGOptions(quality: 80)
      var pixels = image.rgb
      switch self {
      case .fullColors: break
      case .halvedAcross: options.sampling = (2, 1)
      case .halvedDown: options.sampling = (1, 2)
      case .halved: options.sampling = (2, 2)
      case .gray: pixels = (0..<image.size.width * image.size.height).map { pixels[$0 * 3] }
      case .inks: pixels = image.rgba
      case .progressive: (options.isProgressive, options.sampling) = (true, (2, 2))
      case .restarts: (options.restartRows, options.sampling) = (1, (2, 2))
      case .apart: (options.hasScanPerComponent, options.sampling) = (true, (2, 2))
      }
      return Fixture.jpeg(image.size, pixels, options)
    }
  }

  @Suite("A JPEG image of which a part is drawn", .timeLimit(.minutes(10)))
  struct JPEGRegionTests {
    private static let image = DrawnImage(197, 141) { x, y in
      ((x * 3 + y) % 256, (x * x / 40 + y * 5) % 256, (x * y / 7) % 256, 255)
    }

    /// Parts at each edge and in the middle, in shares of the sides.
    private static let parts = [
      (0.0, 0.5, 0.0, 0.4), (0.6, 1.0, 0.7, 1.0), (0.25, 0.75, 0.3, 0.6), (0.0, 1.0, 0.4, 0.5),
      (0.4, 0.5, 0.0, 1.0), (0.49, 0.5, 0.49, 0.5), (0.0, 1.0, 0.0, 1.0),
    ]

    private func region(
      _ part: (Double, Double, Double, Double), of size: PixelSize
    ) -> ImageRegion {
      func range(_ start: Double, _ end: Double, _ count: Int) -> Range<Int> {
        let first = Int(start * Double(count))
        return first..<max(first + 1, Int(end * Double(count)))
      }
      return ImageRegion(
        columns: range(part.0, part.1, size.width), rows: range(part.2, part.3, size.height))
    }

    private func decode(
      _ data: Data, atLeast minimum: PixelSize?, _ region: ImageRegion? = nil
    ) throws -> Bitmap {
      var request = DecodeRequest(minimumSize: minimum)
      request.region = region
      return try JPEGDecoder().decode(data, request)
    }

    /// The bytes of a region, found by the edges that the bitmap says.
    private func bytes(_ bitmap: Bitmap, _ region: ImageRegion) -> [UInt8] {
      let edges = bitmap.edges
      let across = edges.width / Double(edges.fullSize.width)
      let down = edges.height / Double(edges.fullSize.height)
      func range(_ range: Range<Int>, _ start: Double, _ scale: Double) -> Range<Int> {
        let first = start + Double(range.lowerBound) * scale
        let end = start + Double(range.upperBound) * scale
        return Int((first + 1e-6).rounded(.down))..<Int((end - 1e-6).rounded(.up))
      }
      let columns = range(region.columns, edges.x, across)
      let depth = bitmap.layout.format.bytesPerPixel
      return bitmap.withUnsafeBytes { pixels in
        range(region.rows, edges.y, down).flatMap { row in
          let start = row * bitmap.layout.rowBytes
          return pixels[start + columns.lowerBound * depth..<start + columns.upperBound * depth]
        }
      }
    }

    @Test(
      "has the bytes of the whole image there", arguments: RegionFixture.allCases, [1, 2, 4, 8])
    func isTheWholesPart(kind: RegionFixture, eighths: Int) throws {
      let data = kind.data(Self.image)
      for orientation in [1, 2, 3, 4, 5, 6, 7, 8] {
        let turned = Surgery.adding(exif: Surgery.exif(orientation: orientation), toJPEG: data)
        let size = try JPEGDecoder().header(of: turned).size
        // Below the whole size, colours are repeated; at the whole size, interpolated.
        let minimum = PixelSize(
          width: size.width * eighths / 8, height: size.height * eighths / 8)
        for minimum in eighths == 8 ? [nil, PixelSize(width: 150, height: 100)] : [minimum] {
          let whole = try decode(turned, atLeast: minimum)
          for part in Self.parts {
            let region = region(part, of: size)
            let cropped = try decode(turned, atLeast: minimum, region)
            #expect(cropped.shows(region, of: size))
            #expect(
              bytes(cropped, region) == bytes(whole, region),
              "\(kind), orientation \(orientation), \(region)")
          }
        }
      }
    }

    /// Brightness has so many rows for one of the colours, and the height is of whole rows of blocks.
    @Test(
      "has the rows of the whole image, wherever they begin and end",
      arguments: [(1, 1024), (2, 1024), (2, 1200), (3, 1200), (4, 1216)], [1, 2, 4, 8])
    func hasRows(kind: (sampling: Int, height: Int), eighths: Int) throws {
      let image = DrawnImage(24, kind.height) { x, y in (y % 256, y / 256 * 60, x * 9, 255) }
      var options = Fixture.JPEGOptions(
        sampling: (kind.sampling == 1 ? 1 : 2, UInt32(kind.sampling)))
      if kind.sampling == 3 { options.sampling = (1, 3) }
      let data = Fixture.jpeg(image, options)
      let minimum = PixelSize(width: 24 * eighths / 8 - 1, height: kind.height * eighths / 8 - 1)
      for minimum in eighths == 8 ? [nil, minimum] : [minimum] {
        let whole = try decode(data, atLeast: minimum)
        for first in [0, 1, 3, 171, 505, 515, 521, 1001] {
          for count in [1, 2, 3, 8, 20] {
            let region = ImageRegion(columns: 0..<24, rows: first..<first + count)
            let part = try decode(data, atLeast: minimum, region)
            #expect(bytes(part, region) == bytes(whole, region), "\(region), \(minimum == nil)")
          }
        }
      }
    }

    /// With an odd number of rows before the last ones, which are passed over.
    @Test("is refused where the last row of blocks is cut", arguments: [0, 1])
    func noticesCuts(first: Int) throws {
      let image = DrawnImage(40, 64) { x, y in (x * 6, y * 4, x * y % 256, 255) }
      let data = RegionFixture.halved.data(image)
      let region = ImageRegion(columns: 0..<40, rows: first..<first + 31)
      let minimum = PixelSize(width: 39, height: 63)
      _ = try decode(data, atLeast: minimum, region)
      for count in 3...60 {
        #expect(throws: ImageDecodingError.truncated, "\(count) bytes less") {
          try decode(data.dropLast(count), atLeast: minimum, region)
        }
      }
    }

    /// So many rows are passed over in several steps, of which each begins within a row of blocks.
    @Test(
      "is refused where a row of blocks is cut far behind it",
      arguments: [RegionFixture.fullColors, .halvedDown, .halved, .gray], [1, 2, 4, 8])
    func noticesFarCuts(kind: RegionFixture, eighths: Int) throws {
      let height = 2400 * 8 / eighths
      let image = DrawnImage(16, height) { x, y in (x * 6, y % 256, x * y % 256, 255) }
      let data = kind.data(image)
      let minimum = PixelSize(width: 2 * eighths - 1, height: height * eighths / 8 - 1)
      for first in [0, 1, 5] {
        let region = ImageRegion(columns: 0..<16, rows: first..<first + 8 / eighths)
        _ = try decode(data, atLeast: minimum, region)
        for count in 3...8 {
          #expect(throws: ImageDecodingError.truncated, "\(first), \(count) bytes less") {
            try decode(data.dropLast(count), atLeast: minimum, region)
          }
        }
      }
    }

    @Test("is decoded without what lies beside it")
    func leavesOut() throws {
      let data = RegionFixture.fullColors.data(Self.image)
      let region = ImageRegion(columns: 80..<96, rows: 40..<50)
      let cropped = try decode(data, atLeast: nil, region)
      // Interpolation needs two pixels more on each side, and columns come in blocks of eight.
      #expect(cropped.size == PixelSize(width: 26, height: 14))
      #expect(cropped.shows(region, of: Self.image.size))
      for (columns, rows) in [
        (60..<96, 40..<50), (80..<110, 40..<50), (80..<96, 30..<50), (80..<96, 40..<60),
      ] {
        let larger = ImageRegion(columns: columns, rows: rows)
        #expect(!cropped.shows(larger, of: Self.image.size), "\(larger)")
      }
      #expect(cropped.edges.fullSize == Self.image.size)
      #expect((cropped.edges.x, cropped.edges.y) == (-72, -38))
    }

    @Test("is refused where the file is cut or damaged below it", arguments: [true, false])
    func noticesDamage(isCut: Bool) throws {
      var data = RegionFixture.halved.data(Self.image)
      let region = ImageRegion(columns: 0..<20, rows: 0..<10)
      _ = try decode(data, atLeast: nil, region)
      if isCut {
        data = data.prefix(data.count - 40)
      } else {
        // A marker where none may be.
        data.replaceSubrange(data.count - 60..<data.count - 58, with: [0xFF, 0xD3])
      }
      #expect(throws: ImageDecodingError.self) { try decode(data, atLeast: nil, region) }
    }

    @Test("asks for cancellation while it passes over rows")
    func isCancelled() throws {
      let tall = DrawnImage(16, 2100) { x, y in (x, y % 256, 0, 255) }
      let data = RegionFixture.fullColors.data(tall)
      let asked = Counter()
      var request = DecodeRequest(isCancelled: { asked.increment() > 2 })
      request.region = ImageRegion(columns: 0..<16, rows: 2090..<2100)
      #expect(throws: ImageDecodingError.cancelled) { try JPEGDecoder().decode(data, request) }
    }
  }
#endif
