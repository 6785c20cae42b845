#if !canImport(ImageIO)
  import CTestProbes
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A PNG decoder", .timeLimit(.minutes(10)))
  struct PNGDecoderTests {
    private let image = DrawnImage.confetti(37, 29)

    private func png(
      _ rows: [UInt8]? = nil, _ change: (inout Fixture.PNGOptions) -> Void = { _ in }
    ) -> Data {
      var options = Fixture.PNGOptions()
      change(&options)
      return Fixture.png(image.size, rows ?? image.rgba, options)
    }

    /// Gray values of fewer than eight bits, packed as in the file.
    private func packed(bits: Int, _ value: (_ index: Int) -> Int) -> [UInt8] {
      (0..<image.size.height).flatMap { (y: Int) -> [UInt8] in
        var row = [UInt8](repeating: 0, count: (image.size.width * bits + 7) / 8)
        for x in 0..<image.size.width {
          let shift = 8 - bits - x * bits % 8
          row[x * bits / 8] |= UInt8(value(y * image.size.width + x) << shift)
        }
        return row
      }
    }

    @Test("multiplies colours by alpha", arguments: [false, true])
    func premultiplies(isInterlaced: Bool) throws {
      let bitmap = try decode(png { $0.isInterlaced = isInterlaced })
      #expect(bitmap.layout.format == .bgra32)
      #expect(largestDifference(bitmap.packedBytes, image.premultipliedBGRA) == 0)
    }

    @Test("gives 255 where there is no alpha", arguments: [false, true])
    func fillsAlpha(isInterlaced: Bool) throws {
      let bitmap = try decode(
        png(image.rgb) {
          $0.colorType = 2
          $0.isInterlaced = isInterlaced
        })
      #expect(bitmap.layout.format == .bgrx32)
      #expect(largestDifference(bitmap.packedBytes, image.opaqueBGRX) == 0)
    }

    @Test("spreads gray values of any depth over 0 to 255", arguments: [1, 2, 4, 8])
    func expandsGray(bits: Int) throws {
      let largest = (1 << bits) - 1
      let data = png(packed(bits: bits) { $0 * 7 % (largest + 1) }) {
        $0.colorType = 0
        $0.bitDepth = Int32(bits)
      }
      let bitmap = try decode(data)
      #expect(try header(of: data).isGray)
      #expect(bitmap.layout.format == .gray8)
      let expected = (0..<37 * 29).map { UInt8($0 * 7 % (largest + 1) * 255 / largest) }
      #expect(largestDifference(bitmap.packedBytes, expected) == 0)
    }

    @Test("rounds sixteen bits to eight", arguments: [false, true])
    func roundsDeepColors(hasAlpha: Bool) throws {
      let values = (0..<37 * 29 * (hasAlpha ? 4 : 3)).map { (index: Int) -> Int in
        // Alpha is full, so that only the rounding shows.
        hasAlpha && index % 4 == 3 ? 65535 : index * 8191 % 65536
      }
      let rows = values.flatMap { (value: Int) -> [UInt8] in
        [UInt8(value >> 8), UInt8(value & 255)]
      }
      let bitmap = try decode(
        png(rows) {
          $0.colorType = hasAlpha ? 6 : 2
          $0.bitDepth = 16
        })
      let rounded = values.map { Int((Double($0) * 255 / 65535).rounded()) }
      let channels = hasAlpha ? 4 : 3
      let expected = (0..<37 * 29).flatMap { (pixel: Int) -> [UInt8] in
        [2, 1, 0].map { UInt8(rounded[pixel * channels + $0]) } + [255]
      }
      #expect(largestDifference(bitmap.packedBytes, expected) == 0)
    }

    @Test("looks colours up in the palette", arguments: [1, 2, 4, 8])
    func readsPalettes(bits: Int) throws {
      let count = 1 << bits
      let palette = (0..<count * 3).map { UInt8($0 * 89 % 256) }
      let bitmap = try decode(
        png(packed(bits: bits) { $0 * 5 % count }) {
          $0.colorType = 3
          $0.bitDepth = Int32(bits)
          $0.palette = palette
        })
      #expect(bitmap.layout.format == .bgrx32)
      let expected = (0..<37 * 29).flatMap { (index: Int) -> [UInt8] in
        let entry = index * 5 % count * 3
        return [palette[entry + 2], palette[entry + 1], palette[entry], 255]
      }
      #expect(largestDifference(bitmap.packedBytes, expected) == 0)
    }

    @Test("takes a palette's alpha")
    func readsTransparentPalettes() throws {
      let data = png(packed(bits: 2) { $0 % 4 }) {
        $0.colorType = 3
        $0.bitDepth = 2
        $0.palette = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255]
        $0.transparency = [0, 128]
      }
      let bitmap = try decode(data)
      #expect(try header(of: data).hasAlpha)
      #expect(bitmap.layout.format == .bgra32)
      #expect(
        Array(bitmap.packedBytes.prefix(16))
          == [0, 0, 0, 0, 0, 128, 0, 128, 255, 0, 0, 255, 255, 255, 255, 255])
    }

    @Test("makes one gray value transparent where the file says so")
    func readsTransparentGray() throws {
      let bitmap = try decode(
        png(packed(bits: 8) { $0 % 256 }) {
          $0.colorType = 0
          $0.transparentColor = [1]
        })
      #expect(bitmap.layout.format == .bgra32)
      #expect(
        Array(bitmap.packedBytes.prefix(12)) == [0, 0, 0, 255, 0, 0, 0, 0, 2, 2, 2, 255])
    }

    @Test("gives gray with alpha as colour")
    func readsGrayAlpha() throws {
      let rows = (0..<37 * 29).flatMap { (index: Int) -> [UInt8] in
        [UInt8(index % 256), UInt8(index * 3 % 256)]
      }
      let bitmap = try decode(png(rows) { $0.colorType = 4 })
      let expected = DrawnImage(37, 29) { x, y in
        let index = y * 37 + x
        return (index % 256, index % 256, index % 256, index * 3 % 256)
      }
      #expect(bitmap.layout.format == .bgra32)
      #expect(largestDifference(bitmap.packedBytes, expected.premultipliedBGRA) == 0)
    }

    @Test(
      "averages whole squares while it stays at or above the size wanted",
      arguments: [
        (37, 29, 1), (19, 15, 1), (18, 14, 2), (12, 9, 3), (9, 7, 4), (5, 9, 3), (1, 1, 29),
      ]
    )
    func reduces(width: Int, height: Int, factor: Int) throws {
      let bitmap = try decode(png(), atLeast: PixelSize(width: width, height: height))
      #expect(
        bitmap.size
          == PixelSize(
            width: 37.dividedRoundingUp(by: factor), height: 29.dividedRoundingUp(by: factor)))
      let source = image.premultipliedBGRA
      var expected: [UInt8] = []
      for y in 0..<bitmap.size.height {
        for x in 0..<bitmap.size.width {
          for channel in 0..<4 {
            let rows = y * factor..<min((y + 1) * factor, 29)
            let columns = x * factor..<min((x + 1) * factor, 37)
            let values = rows.flatMap { (row: Int) -> [Int] in
              columns.map { Int(source[(row * 37 + $0) * 4 + channel]) }
            }
            let sum = values.reduce(0, +)
            expected.append(UInt8((sum + values.count / 2) / values.count))
          }
        }
      }
      #expect(largestDifference(bitmap.packedBytes, expected) == 0)
    }

    @Test("averages gray pixels as gray")
    func reducesGray() throws {
      let bitmap = try decode(
        png(packed(bits: 8) { $0 % 37 * 6 }) { $0.colorType = 0 },
        atLeast: PixelSize(width: 18, height: 14))
      #expect(bitmap.layout.format == .gray8)
      #expect(Array(bitmap.packedBytes.prefix(4)) == [3, 15, 27, 39])
    }

    @Test("leaves an interlaced image whole")
    func keepsInterlacedWhole() throws {
      let data = png { $0.isInterlaced = true }
      #expect(try header(of: data).wholeImageByteCount >= 37 * 29 * 4)
      #expect(try decode(data, atLeast: PixelSize(width: 4, height: 4)).size == image.size)
    }

    @Test("skips text and a profile that would unpack to a thousand times their size")
    func skipsBombs() throws {
      // A profile's first four bytes announce its size, 512 MB. The rest of its header is sound, since
      // libpng looks at that before it takes memory for the whole.
      let head = [0x20, 0, 0, 0] + Fixture.displayP3.prefix(132).dropFirst(4)
      let bombs = [
        // Less than a chunk may take, so that nothing but ignoring it keeps it from being unpacked.
        ("zTXt", Data("Comment\0\0".utf8) + Fixture.deflated(zeros: 6 << 20)),
        ("iCCP", Data("profile\0\0".utf8) + Fixture.deflated(head: head, zeros: 16 << 20)),
      ]
      for (name, bomb) in bombs {
        let data = Surgery.adding(chunk: name, bomb, toPNG: png())
        _ = probe_largest_allocation()
        let bitmap = try decode(data)
        #expect(probe_largest_allocation() < 1 << 20)
        #expect(bitmap.colorConversion == nil)
        #expect(largestDifference(bitmap.packedBytes, image.premultipliedBGRA) == 0)
      }
    }

    @Test("ignores a little surplus data, and unpacks no more")
    func refusesSurplusData() throws {
      func png(zeros: Int) -> Data {
        Surgery.pngSignature
          + Surgery.pngHeader(width: 1, height: 1, bitDepth: 8, colorType: 0)
          + Surgery.pngChunk("IDAT", Fixture.deflated(zeros: zeros))
          + Surgery.pngChunk("IEND", Data())
      }
      #expect(try decode(png(zeros: 2000)).packedBytes == [0])
      #expect(throws: ImageDecodingError.self) { try decode(png(zeros: 96 << 20)) }
    }

    @Test("reads data that comes in pieces of one byte, and data in pieces larger than its rows")
    func readsOddPieces() throws {
      var random = SplitMix64(state: 3)
      func noise(_ width: Int, _ height: Int) -> DrawnImage {
        // Incompressible: thirteen bytes of the file for each byte of a row.
        DrawnImage(width, height) { _, _ in
          let bits = random.next()
          return (
            Int(bits & 255), Int(bits >> 8 & 255), Int(bits >> 16 & 255), Int(bits >> 24 & 255)
          )
        }
      }
      let (broad, narrow) = (noise(500, 40), noise(1, 16_000))
      let crumbs = Surgery.crumbling(png: Fixture.png(broad))
      #expect(crumbs.count > 13 * 4 * 500 * 40)
      #expect(try largestDifference(decode(crumbs).packedBytes, broad.premultipliedBGRA) == 0)
      let pieces = Fixture.png(narrow)
      #expect(try largestDifference(decode(pieces).packedBytes, narrow.premultipliedBGRA) == 0)
    }

    @Test("refuses pixel data that is missing or ends too early")
    func refusesShortPixelData() throws {
      for pixels in [Data(), Surgery.pngChunk("IDAT", Fixture.deflated(zeros: 25 * 7))] {
        let data =
          Surgery.pngSignature
          + Surgery.pngHeader(width: 8, height: 8, bitDepth: 8, colorType: 2) + pixels
          + Surgery.pngChunk("IEND", Data())
        #expect(throws: ImageDecodingError.self) { try decode(data) }
      }
    }
  }
#endif
