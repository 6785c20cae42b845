#if GIF && !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("A GIF decoder", .timeLimit(.minutes(10)))
  struct GIFDecoderTests {
    /// 256 colours, all different.
    private static let palette = (0..<256).flatMap { (n: Int) -> [UInt8] in
      [UInt8(n), UInt8(n * 7 & 255), UInt8(255 - n)]
    }

    /// Indices that repeat in places, so that codes of all lengths come.
    private static func indices(_ size: PixelSize, below count: Int = 256) -> [UInt8] {
      (0..<size.width * size.height).map { UInt8(($0 % 7 == 0 ? $0 / 3 : $0 * $0 / 11) % count) }
    }

    /// A file of one frame with the palette of all colours.
    private static func file(
      _ width: Int = 8, _ height: Int = 8, below count: Int = 256
    ) -> GIFFile {
      let size = PixelSize(width: width, height: height)
      return GIFFile(size, indices(size, below: count), palette: palette)
    }

    /// The pixels that a decoder has to make of indices.
    private static func pixels(
      _ indices: [UInt8], _ palette: [UInt8] = palette, transparent: UInt8? = nil
    ) -> [UInt8] {
      indices.flatMap { (index: UInt8) -> [UInt8] in
        guard index != transparent else { return [0, 0, 0, 0] }
        let color = Int(index) * 3
        guard color < palette.count else { return [0, 0, 0, 255] }
        return [palette[color + 2], palette[color + 1], palette[color], 255]
      }
    }

    @Test(
      "reads every pixel exactly",
      arguments: [(1, 1), (37, 29), (3, 5), (2, 9), (300, 200)], [false, true])
    func readsPixels(side: (Int, Int), isInterlaced: Bool) throws {
      var file = Self.file(side.0, side.1)
      file.frames[0].isInterlaced = isInterlaced
      let bitmap = try decode(file.data)
      #expect(bitmap.size == PixelSize(width: side.0, height: side.1))
      #expect(bitmap.layout.format == .bgrx32)
      #expect(bitmap.packedBytes == Self.pixels(file.frames[0].indices))
    }

    @Test("reads palettes of each size", arguments: [2, 4, 8, 16, 32, 64, 128, 256])
    func readsSmallPalettes(count: Int) throws {
      let size = PixelSize(width: 41, height: 23)
      let palette = Array(Self.palette.prefix(3 * count))
      let indices = Self.indices(size, below: count)
      let bitmap = try decode(GIFFile(size, indices, palette: palette).data)
      #expect(bitmap.packedBytes == Self.pixels(indices, palette))
    }

    @Test("reads codes of fewer and of more bits than an index has", arguments: 1...11)
    func readsLongCodes(codeSize: Int) throws {
      // So many pixels that the table is full, and begins anew.
      var file = Self.file(157, 121, below: 1 << min(codeSize, 8))
      file.frames[0].codeSize = codeSize
      #expect(try decode(file.data).packedBytes == Self.pixels(file.frames[0].indices))
    }

    @Test("names codes that are too long", arguments: [12, 13, 200, 255])
    func refusesLongCodes(codeSize: Int) throws {
      var data = Self.file(5, 4).data
      let place = try #require(data.range(of: Data([0x2C, 0, 0, 0, 0, 5, 0, 4, 0, 0, 8])))
      data[place.upperBound - 1] = UInt8(codeSize)
      #expect(throws: ImageDecodingError.damaged("GIF: codes of \(codeSize + 1) bits")) {
        try decode(data)
      }
    }

    @Test("refuses a code that nothing has defined")
    func refusesUndefinedCodes() {
      let size = PixelSize(width: 1, height: 1)
      let data = GIFFile(size, [0], palette: Array(Self.palette.prefix(12))).data
      // Of three bits each: the one that clears, and the first one that could be defined.
      let codes: [UInt8] = [2, 0b00_110_100, 0, 0, 0x3B]
      expectDamaged { try decode(data.dropLast(codes.count) + codes) }
    }

    @Test("takes a file that ends in its frame's header for cut")
    func refusesCutHeaders() throws {
      var file = Self.file(12, 9)
      file.palette = nil
      file.frames[0].palette = [UInt8](repeating: 99, count: 768)
      let header = try #require(file.data.range(of: Data([0x2C, 0, 0, 0, 0, 12, 0, 9, 0])))
      for count in header.lowerBound + 2...header.upperBound + 1 + 768 {
        #expect(throws: ImageDecodingError.truncated, "\(count) bytes") {
          try decode(file.data.prefix(count))
        }
      }
    }

    @Test("takes the frame's own palette before the file's", arguments: [false, true])
    func readsLocalPalette(hasGlobal: Bool) throws {
      let size = PixelSize(width: 12, height: 9)
      let indices = Self.indices(size, below: 64)
      var file = GIFFile(size, indices, palette: hasGlobal ? Self.palette : nil)
      let local = (0..<192).map { UInt8($0) }
      file.frames[0].palette = local
      #expect(try decode(file.data).packedBytes == Self.pixels(indices, local))
    }

    @Test("leaves the transparent colour out, which the last control before the frame names")
    func readsTransparency() throws {
      var file = Self.file(19, 17, below: 4)
      file.frames[0].transparent = 2
      func expectTransparency() throws {
        #expect(try header(of: file.data).hasAlpha)
        let bitmap = try decode(file.data)
        #expect(bitmap.layout.format == .bgra32)
        #expect(bitmap.packedBytes == Self.pixels(file.frames[0].indices, transparent: 2))
      }
      try expectTransparency()
      file.frames[0].isInterlaced = true
      try expectTransparency()
      file.frames[0].extensions = GIFFile.block(0xF9, [Data([1, 0, 0, 1])])
      try expectTransparency()
    }

    @Test("places a small frame on a transparent screen", arguments: [false, true])
    func placesFrame(isInterlaced: Bool) throws {
      var file = Self.file(10, 12)
      file.screen = PixelSize(width: 31, height: 27)
      file.frames[0].x = 5
      file.frames[0].y = 8
      file.frames[0].isInterlaced = isInterlaced
      let bitmap = try decode(file.data, atLeast: PixelSize(width: 3, height: 3))
      #expect(bitmap.size == file.screen)
      #expect(bitmap.layout.format == .bgra32)
      let inside = Self.pixels(file.frames[0].indices)
      let expected = (0..<27 * 31).flatMap { (n: Int) -> ArraySlice<UInt8> in
        let (x, y) = (n % 31 - 5, n / 31 - 8)
        guard (0..<10).contains(x), (0..<12).contains(y) else { return [0, 0, 0, 0] }
        return inside[(y * 10 + x) * 4..<(y * 10 + x) * 4 + 4]
      }
      #expect(bitmap.packedBytes == expected)
    }

    @Test("enlarges a screen that its frame does not fit into")
    func enlargesScreen() throws {
      var file = Self.file(10, 12)
      file.screen = PixelSize(width: 0, height: 0)
      #expect(try decode(file.data).packedBytes == Self.pixels(file.frames[0].indices))
      file.screen = PixelSize(width: 20, height: 4)
      file.frames[0].x = 15
      #expect(try header(of: file.data).size == PixelSize(width: 25, height: 12))
      #expect(try decode(file.data).size == PixelSize(width: 25, height: 12))
    }

    @Test("shows black for an index behind the palette's end")
    func survivesWildIndices() throws {
      let size = PixelSize(width: 16, height: 16)
      // Codes of three colours have room for a fourth.
      let indices = Self.indices(size, below: 4)
      var file = GIFFile(size, indices, palette: Array(Self.palette.prefix(6)))
      file.frames[0].transparent = 3
      #expect(
        try decode(file.data).packedBytes
          == Self.pixels(indices, Array(Self.palette.prefix(6)), transparent: 3))
    }

    @Test("gives the first frame of an animation, whatever follows")
    func readsFirstFrame() throws {
      var file = Self.file(14, 13)
      let first = Self.pixels(file.frames[0].indices)
      file.frames[0].extensions =
        GIFFile.block(0xFF, [Data("NETSCAPE2.0".utf8), Data([1, 0, 0])])
        + GIFFile.block(0xFE, [Data(count: 255), Data(count: 9)]) + GIFFile.block(0xFE, [])
      var other = GIFFile.Frame(size: file.screen, indices: [UInt8](repeating: 9, count: 14 * 13))
      other.transparent = 9
      file.frames += [other, other]
      let bitmap = try decode(file.data)
      #expect(bitmap.layout.format == .bgrx32)
      #expect(bitmap.packedBytes == first)
      #expect(try decode(file.data.dropLast(3)).packedBytes == first)
    }

    @Test("refuses a file without a palette, a frame or a pixel")
    func refusesIncomplete() {
      var file = Self.file()
      file.palette = nil
      expectDamaged { try decode(file.data) }
      file.palette = Self.palette
      file.frames[0].size = PixelSize(width: 0, height: 8)
      expectDamaged { try decode(file.data) }
      file.frames = []
      expectDamaged { try decode(file.data) }
    }

    @Test("refuses a frame whose codes end before its rows do")
    func refusesShortFrames() {
      var file = Self.file()
      file.frames[0].indices.removeLast()
      #expect(throws: ImageDecodingError.truncated) { try decode(file.data) }
      file.frames[0].indices = []
      #expect(throws: ImageDecodingError.self) { try decode(file.data) }
    }

    @Test("refuses a file that begins with a hundred thousand empty extensions")
    func refusesExtensionBombs() throws {
      var file = Self.file()
      let one = GIFFile.block(0xFE, [Data(count: 1)])
      file.frames[0].extensions = Data((0..<100_000).flatMap { _ in one })
      expectDamaged { try decode(file.data) }
      file.frames[0].extensions = Data((0..<10_000).flatMap { _ in one })
      #expect(try decode(file.data).size == PixelSize(width: 8, height: 8))
    }

    @Test("refuses a screen beyond the limits before it takes memory")
    func refusesHugeScreens() throws {
      var file = Self.file(1, 1)
      file.screen = PixelSize(width: 65_535, height: 65_535)
      expectTooLarge(naming: "65535x65535", "268435456") { try decode(file.data) }
      file.screen = PixelSize(width: 400, height: 300)
      var limits = DecodingLimits()
      limits.workingByteCount = 400 * 300 * 4 - 1
      let small = PixelSize(width: 4, height: 3)
      #expect(throws: ImageDecodingError.self) {
        try decode(file.data, atLeast: small, limits: limits)
      }
      #expect(try header(of: file.data).wholeImageByteCount >= 400 * 300 * 4)
    }
  }
#endif
