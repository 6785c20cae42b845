#if Pixbuf && !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("The decoder of BMP, ICO and TIFF", .timeLimit(.minutes(10)))
  struct PixbufDecoderTests {
    private static func long(_ number: Int) -> [UInt8] {
      (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func short(_ number: Int) -> [UInt8] { Array(long(number).prefix(2)) }

    /// A bitmap's header, and its rows from the bottom to the top.
    private static func bitmap(
      _ size: PixelSize, _ depth: Int, rows: [[UInt8]], headerHeight: Int? = nil,
      masks: [Int] = []
    ) -> [UInt8] {
      let headerBytes = masks.isEmpty ? 40 : 56
      let start: [UInt8] =
        long(headerBytes) + long(size.width) + long(headerHeight ?? size.height) + short(1)
        + short(depth) + long(masks.isEmpty ? 0 : 3)
      let rest = [UInt8](repeating: 0, count: 40 - start.count) + masks.flatMap(long)
      return start + rest
        + rows.reversed().flatMap { row in
          row + [UInt8](repeating: 0, count: -row.count & 3)
        }
    }

    private static func bmp(_ bitmap: [UInt8], headerBytes: Int) -> Data {
      Data(
        Array("BM".utf8) + long(14 + bitmap.count) + long(0) + long(14 + headerBytes) + bitmap)
    }

    /// An image of one strip; more entries stand behind the known ones.
    private static func tiff(
      _ size: PixelSize, _ pixels: [UInt8], samples: Int, orientation: Int = 1, extra: Int? = nil,
      planes: Int = 1, profile: [UInt8] = []
    ) -> Data {
      var entries = [
        (256, 3, 1, size.width), (257, 3, 1, size.height), (258, 3, 1, 8), (259, 3, 1, 1),
        (262, 3, 1, samples < 3 ? 1 : 2), (273, 4, 1, 8), (274, 3, 1, orientation),
        (277, 3, 1, samples), (278, 3, 1, size.height), (279, 4, 1, pixels.count),
        (284, 3, 1, planes),
      ]
      if let extra { entries.append((338, 3, 1, extra)) }
      if !profile.isEmpty { entries.append((34675, 7, profile.count, 8 + pixels.count)) }
      let directory = entries.flatMap { entry in
        short(entry.0) + short(entry.1) + long(entry.2) + long(entry.3)
      }
      let body = pixels + profile
      return Data(
        Array("II*\0".utf8) + long(8 + body.count) + body + short(entries.count) + directory
          + long(0))
    }

    private static func bytes(_ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + $0 / 5) }
    }

    @Test("reads every pixel of a BMP exactly", arguments: [(1, 1), (37, 29), (3, 200)])
    func readsBMP(side: (Int, Int)) throws {
      let size = PixelSize(width: side.0, height: side.1)
      let values = Self.bytes(3 * size.width * size.height)
      let rows = (0..<size.height).map {
        Array(values[($0 * 3 * size.width)...].prefix(3 * size.width))
      }
      let expected = (0..<size.width * size.height).flatMap {
        values[(3 * $0)...].prefix(3) + [255]
      }
      let image = try decode(Self.bmp(Self.bitmap(size, 24, rows: rows), headerBytes: 40))
      #expect(image.layout.format == .bgrx32)
      #expect(image.packedBytes == expected)
    }

    @Test("multiplies the alpha of a BMP, and not that of a TIFF which is multiplied")
    func readsAlpha() throws {
      let size = PixelSize(width: 1, height: 1)
      let masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
      let bmp = Self.bitmap(size, 32, rows: [[10, 100, 200, 51]], masks: masks)
      #expect(try decode(Self.bmp(bmp, headerBytes: 56)).packedBytes == [2, 20, 40, 51])
      for (pixel, extra): ([UInt8], Int) in [([200, 100, 10, 51], 2), ([40, 20, 2, 51], 1)] {
        let tiff = Self.tiff(size, pixel, samples: 4, extra: extra)
        #expect(try header(of: tiff).hasAlpha)
        #expect(try decode(tiff).packedBytes == [2, 20, 40, 51])
      }
      for (pixel, extra): ([UInt8], Int) in [([200, 51], 2), ([40, 51], 1)] {
        let gray = Self.tiff(size, pixel, samples: 2, extra: extra)
        #expect(try decode(gray).packedBytes == [40, 40, 40, 51])
      }
    }

    @Test("turns a TIFF upright", arguments: Orientation.allCases)
    func turns(orientation: Orientation) throws {
      let stored = PixelSize(width: 3, height: 2)
      let tiff = Self.tiff(
        stored, [1, 2, 3, 4, 5, 6], samples: 1, orientation: Int(orientation.rawValue))
      // EXIF 2.32, tag 0x0112.
      let upright: [UInt8] =
        switch orientation {
        case .up: [1, 2, 3, 4, 5, 6]
        case .upMirrored: [3, 2, 1, 6, 5, 4]
        case .down: [6, 5, 4, 3, 2, 1]
        case .downMirrored: [4, 5, 6, 1, 2, 3]
        case .leftMirrored: [1, 4, 2, 5, 3, 6]
        case .right: [4, 1, 5, 2, 6, 3]
        case .rightMirrored: [6, 3, 5, 2, 4, 1]
        case .left: [3, 6, 2, 5, 1, 4]
        }
      let image = try decode(tiff)
      #expect(image.size == orientation.turning(stored))
      #expect(image.packedBytes == upright.flatMap { [$0, $0, $0, 255] })
    }

    @Test("takes the largest image of an ICO, with its mask")
    func readsICO() throws {
      let (small, large) = (PixelSize(width: 1, height: 1), PixelSize(width: 2, height: 1))
      // Rows of the mask stand behind those of the colours, which are listed from the top.
      let bitmaps = [
        Self.bitmap(small, 24, rows: [[128], [9, 9, 9]], headerHeight: 2),
        Self.bitmap(large, 24, rows: [[64], [1, 2, 3, 7, 8, 9]], headerHeight: 2),
      ]
      var offset = 6 + 2 * 16
      var file: [UInt8] = [0, 0, 1, 0, 2, 0]
      for (index, bitmap) in bitmaps.enumerated() {
        file += [UInt8(index + 1), 1, 0, 0, 1, 0, 24, 0] + Self.long(bitmap.count)
        file += Self.long(offset)
        offset += bitmap.count
      }
      let image = try decode(Data(file + bitmaps.flatMap { $0 }))
      #expect(image.packedBytes == [1, 2, 3, 255, 0, 0, 0, 0])
    }

    @Test("takes the mask of an ICO of 32 bits that has no alpha, and no mask for opaque")
    func readsOldICO() throws {
      let size = PixelSize(width: 2, height: 1)
      for mask: [UInt8] in [[], [64]] {
        let rows: [[UInt8]] = [mask, [1, 2, 3, 0, 7, 8, 9, 0]]
        let bitmap = Self.bitmap(size, 32, rows: rows, headerHeight: 2)
        let entry: [UInt8] = [2, 1, 0, 0, 1, 0, 32, 0] + Self.long(bitmap.count) + Self.long(22)
        let image = try decode(Data([0, 0, 1, 0, 1, 0] + entry + bitmap))
        #expect(
          image.packedBytes == [1, 2, 3, 255] + (mask.isEmpty ? [7, 8, 9, 255] : [0, 0, 0, 0]))
      }
    }

    @Test("knows the profile of a TIFF, and of a PNG in an ICO")
    func readsProfiles() throws {
      let size = PixelSize(width: 1, height: 1)
      let profile = try ColorSpace.displayP3.withProfile(for: .bgrx32) { Array($0) }
      let tiff = Self.tiff(size, [200, 100, 10], samples: 3, profile: profile)
      #expect(try ImageHeader(of: tiff).colorSpace == .displayP3)
      #expect(try ImageHeader(of: tiff).type == .tiff)
      let png = Fixture.png(size, [200, 100, 10], .init(colorType: 2, profile: Data(profile)))
      let entry: [UInt8] = [1, 1, 0, 0, 1, 0, 32, 0] + Self.long(png.count) + Self.long(22)
      #expect(try ImageHeader(of: Data([0, 0, 1, 0, 1, 0] + entry) + png).colorSpace == .displayP3)
    }

    @Test("throws for each beginning of a file")
    func refusesCutFiles() throws {
      let size = PixelSize(width: 5, height: 4)
      let rows = (0..<4).map { _ in Self.bytes(15) }
      for file in [
        Self.bmp(Self.bitmap(size, 24, rows: rows), headerBytes: 40),
        Self.tiff(size, Self.bytes(60), samples: 3),
      ] {
        #expect(try decode(file).size == size)
        for count in 15..<file.count {
          #expect(throws: ImageDecodingError.self, "\(count) bytes") {
            try decode(file.prefix(count))
          }
        }
      }
    }

    @Test("holds to the limits before it takes memory, and can be cancelled")
    func isLimited() throws {
      let size = PixelSize(width: 100, height: 80)
      let file = Self.tiff(size, Self.bytes(8000), samples: 1)
      let whole = try header(of: file).wholeImageByteCount
      #expect(whole >= 4 * 8000)
      let planar = Self.tiff(size, Self.bytes(8000), samples: 1, planes: 2)
      #expect(try header(of: planar).wholeImageByteCount >= whole + 3 * 8000)
      var limits = DecodingLimits()
      limits.workingByteCount = whole
      let small = PixelSize(width: 10, height: 8)
      #expect(throws: ImageDecodingError.self) { try decode(file, atLeast: small, limits: limits) }
      limits.workingByteCount = 4 << 20
      #expect(try decode(file, atLeast: small, limits: limits).size == small)
      // At each of the questions: before the parts of the file, before the decode and before rows.
      for answer in 0..<5 {
        let asked = Counter()
        #expect(throws: ImageDecodingError.cancelled) {
          try decode(file) { asked.increment() == answer + 1 }
        }
      }
    }
  }
#endif
