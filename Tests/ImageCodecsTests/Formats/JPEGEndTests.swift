#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  /// Ways in which a file can be complete without ending as the standard says.
  enum OddEnd: String, CaseIterable, Sendable {
    case noMarker, halfMarker, zeros, fill, zerosForMarker, textForMarker, restart

    func replacingMarker(of jpeg: Data) -> Data {
      let (image, marker) = (jpeg.dropLast(2), jpeg.suffix(2))
      return switch self {
      case .noMarker: image
      case .halfMarker: image + marker.prefix(1)
      case .zeros: image + Data(count: 5000) + marker
      case .fill: image + Data(repeating: 0xFF, count: 300) + marker
      case .zerosForMarker: image + Data(count: 5000)
      case .textForMarker: image + Data("SEFH, and no marker from here on".utf8)
      case .restart: image + Data([0xFF, 0xD3]) + marker
      }
    }
  }

  /// ITU-T T.81 asks for an end marker. Browsers ask only for blocks.
  @Suite("A JPEG file with an odd end", .timeLimit(.minutes(10)))
  struct JPEGEndTests {
    private static let image = DrawnImage.slopes(83, 61)
    private static let eighth = PixelSize(width: 10, height: 7)
    private static let kinds: [RegionFixture] = [
      .fullColors, .halved, .gray, .inks, .progressive, .restarts, .apart,
    ]

    private func restarts(isProgressive: Bool) -> Data {
      return Fixture.jpeg(
        Self.image,
        .init(isProgressive: isProgressive, sampling: (2, 2), restartRows: 1, quality: 80))
    }

    @Test("is whole if it has every block", arguments: kinds, OddEnd.allCases)
    func isWhole(kind: RegionFixture, end: OddEnd) throws {
      let data = kind.data(Self.image)
      let odd = end.replacingMarker(of: data)
      #expect(try decode(odd).packedBytes == decode(data).packedBytes)
      // Of a progressive file with its end marker, scans are left out that bring little at an eighth.
      let (small, expected) = try (
        decode(odd, atLeast: Self.eighth), decode(data, atLeast: Self.eighth)
      )
      #expect(largestDifference(small.packedBytes, expected.packedBytes) <= 8)
      let region = ImageRegion(columns: 0..<20, rows: 3..<10)
      var request = DecodeRequest()
      request.region = region
      #expect(try JPEGDecoder().decode(odd, request).shows(region, of: Self.image.size))
    }

    @Test("is whole if rows of blocks follow that the header does not count")
    func hasMoreBlocks() throws {
      let data = restarts(isProgressive: false)
      let size = PixelSize(width: 83, height: 32)
      let cropped = Surgery.cropping(jpeg: data, to: size)
      let rows = try decode(data).packedBytes.prefix(4 * 83 * 31)
      #expect(try decode(cropped).packedBytes.prefix(rows.count) == rows)
    }

    @Test(
      "is whole if its restart markers are padded", arguments: [false, true],
      [
        Data(count: 8), Data(count: 400), Data(repeating: 0xA5, count: 50),
        Data(repeating: 0xFF, count: 40),
      ])
    func isPadded(isProgressive: Bool, padding: Data) throws {
      let data = restarts(isProgressive: isProgressive)
      let padded = try paddingRestarts(of: data, with: padding)
      #expect(padded.count > data.count + 2 * padding.count)
      #expect(try decode(padded).packedBytes == decode(data).packedBytes)
    }

    @Test("is damaged if other bytes than padding are left over", arguments: [false, true])
    func hasBytesLeft(isProgressive: Bool) throws {
      let data = restarts(isProgressive: isProgressive)
      let padded = try paddingRestarts(of: data, with: Data(10..<60))
      expectDamaged { try decode(padded) }
    }

    /// As long as a page of a disk or more: so many zeros are fewer blocks than this image has in as many bytes.
    private static let rich = DrawnImage(160, 120) { x, y in
      let (red, green) = (x * y * 7 + x * x * 3, x * 37 + y * y * 11)
      return (red % 256, green % 256, (x * 91 + y * 53) % 256, 255)
    }

    @Test(
      "is damaged if its blocks were made of other bytes and leave over some of their own",
      arguments: [RegionFixture.fullColors, .halved, .gray, .inks])
    func leavesBytesOver(kind: RegionFixture) throws {
      let data = kind.data(Self.rich)
      let scan = try #require(data.range(of: Data([0xFF, 0xDA]))).upperBound + 20
      let middle = scan + (data.count - scan) / 2
      let (head, tail) = (Data(data[..<middle]), Data(data[middle...]))
      let damaged: [Data] = [
        head + data[scan..<scan + 100] + tail,
        head + Data(count: 4096) + tail.suffix(200),
        head + Data(count: tail.count),
        head + Data(count: 40_000) + tail.suffix(2),
      ]
      var request = DecodeRequest()
      request.region = ImageRegion(columns: 0..<160, rows: 0..<8)
      for (index, damaged) in damaged.enumerated() {
        for size in [nil, PixelSize(width: 20, height: 15)] {
          #expect(throws: ImageDecodingError.self, "\(index)") {
            try decode(damaged, atLeast: size)
          }
        }
        #expect(throws: ImageDecodingError.self) { try JPEGDecoder().decode(damaged, request) }
      }
    }

    @Test("is read no further at an eighth of its size if restart markers follow its scans")
    func hasRestartsBehindScans() throws {
      let data = RegionFixture.progressive.data(Self.image)
      var (odd, isInScan) = (Data(), false)
      for index in data.indices.dropLast() {
        let isMarker = data[index] == 0xFF && data[index + 1] >= 0xC0
        if isMarker, isInScan { odd += [0xFF, 0xD3] }
        if isMarker { isInScan = data[index + 1] == 0xDA }
        odd.append(data[index])
      }
      odd += data.suffix(1)
      #expect(odd.count > data.count + 4)
      let bytes = try decode(odd, atLeast: Self.eighth).packedBytes
      #expect(try bytes == decode(data, atLeast: Self.eighth).packedBytes)
      let unmarked = try decode(data.dropLast(2), atLeast: Self.eighth).packedBytes
      #expect(bytes != unmarked, "Nothing is left out of this file.")
    }

    @Test("is cut if a block lacks a bit", arguments: kinds)
    func isCut(kind: RegionFixture) throws {
      let data = kind.data(Self.image)
      for count in 3...40 {
        for size in [nil, Self.eighth] {
          #expect(throws: ImageDecodingError.truncated, "\(count) bytes less") {
            try decode(data.dropLast(count), atLeast: size)
          }
        }
      }
    }

    @Test("is cut if a scan is missing", arguments: [RegionFixture.progressive, .apart])
    func lacksScans(kind: RegionFixture) throws {
      let data = kind.data(Self.image)
      let scans = data.indices.dropLast().filter { data[$0] == 0xFF && data[$0 + 1] == 0xDA }
      try #require(scans.count >= 3)
      for scan in scans.dropFirst() {
        // Before the scan's segment, and behind it.
        for end in [scan, scan + 2 + Int(data[scan + 3])] {
          for size in [nil, Self.eighth] {
            #expect(throws: ImageDecodingError.truncated) {
              try decode(data.prefix(end), atLeast: size)
            }
          }
        }
      }
    }

    /// Their last zeros are not written, so that missing ones and missing bytes look the same.
    @Test("is cut if its codes are arithmetic and run out", arguments: [false, true])
    func isArithmetic(isProgressive: Bool) throws {
      let data = Fixture.jpeg(Self.image, .init(isProgressive: isProgressive, isArithmetic: true))
      let whole = try decode(data).packedBytes
      #expect(largestDifference(whole, Self.image.opaqueBGRX) < 8)
      for count in 3...40 {
        #expect(throws: ImageDecodingError.truncated) { try decode(data.dropLast(count)) }
      }
    }

    private func paddingRestarts(of data: Data, with padding: Data) throws -> Data {
      let scan = try #require(data.range(of: Data([0xFF, 0xDA]))).lowerBound
      var (padded, rest) = (Data(data[..<scan]), data[scan...])
      while let marker = rest.indices.dropLast().first(where: {
        rest[$0] == 0xFF && (0xD0...0xD7).contains(rest[$0 + 1])
      }) {
        padded += rest[..<marker] + padding + rest[marker..<marker + 2]
        rest = rest[(marker + 2)...]
      }
      return padded + rest
    }
  }
#endif
