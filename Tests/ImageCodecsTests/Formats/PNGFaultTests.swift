#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A PNG file with a fault that browsers forgive", .timeLimit(.minutes(10)))
  struct PNGFaultTests {
    private static let image = DrawnImage.confetti(37, 29)

    private func png(
      _ image: DrawnImage = image, _ change: (inout Fixture.PNGOptions) -> Void = { _ in }
    ) -> Data {
      var options = Fixture.PNGOptions()
      change(&options)
      let rows =
        switch options.colorType {
        case 0: image.red
        case 2: image.rgb
        case 3: image.red.map { $0 % 16 }
        default: image.rgba
        }
      return Fixture.png(image.size, rows, options)
    }

    private func expectImage(_ data: Data, _ comment: Comment? = nil) throws {
      let bitmap = try decode(data)
      #expect(bitmap.packedBytes == Self.image.premultipliedBGRA, comment)
      #expect(bitmap.colorConversion == nil, comment)
    }

    // MARK: Checksums

    @Test("is shown without an optional chunk whose checksum is wrong", arguments: [false, true])
    func optionalChecksum(behindPixels: Bool) throws {
      let chunks: [(String, Data)] = [
        ("tEXt", Data("Title\0Confetti".utf8)), ("gAMA", Data([0, 1, 0x86, 0xA0])),
        ("cICP", Data([12, 13, 0, 1])), ("pHYs", Data(count: 9)), ("prVt", Data(count: 3)),
        ("iCCP", Fixture.deflated(profile: Fixture.displayP3)),
        ("eXIf", Surgery.exif(orientation: 6)),
      ]
      for (name, content) in chunks {
        let damaged = Surgery.damagedChunk(name, content)
        let data = Surgery.adding(damaged, behindPixels: behindPixels, toPNG: png())
        try expectImage(data, "\(name)")
        // The content is not to blame.
        if !behindPixels, ["gAMA", "cICP", "iCCP"].contains(name) {
          let whole = Surgery.adding(Surgery.pngChunk(name, content), toPNG: png())
          #expect(try decode(whole).colorConversion != nil, "\(name)")
        }
      }
    }

    @Test("is opaque where the checksum of its transparent colours is wrong")
    func transparencyChecksum() throws {
      let palette = (0..<48).map { UInt8($0 * 5) }
      let plain = png {
        $0.colorType = 3
        $0.palette = palette
      }
      func transparent(_ chunk: Data) throws -> Bool {
        let data = Surgery.adding(chunk, toPNG: plain)
        let isTransparent = try decode(data).layout.format.hasAlpha
        #expect(try header(of: data).hasAlpha == isTransparent)
        return isTransparent
      }
      #expect(try transparent(Surgery.pngChunk("tRNS", Data([0, 9]))))
      #expect(try !transparent(Surgery.damagedChunk("tRNS", Data([0, 9]))))
      // More than the palette has, or nothing: libpng ignores both.
      #expect(try !transparent(Surgery.pngChunk("tRNS", Data(count: 17))))
      #expect(try !transparent(Surgery.pngChunk("tRNS", Data())))
    }

    @Test("is refused where the checksum of a needed chunk is wrong", arguments: [false, true])
    func neededChecksum(isInterlaced: Bool) throws {
      let data = png {
        $0.isInterlaced = isInterlaced
        $0.colorType = 3
        $0.palette = (0..<48).map { UInt8($0 * 5) }
      }
      let halves = Surgery.repacking(png: data) {
        [$0.prefix($0.count / 2), $0.dropFirst($0.count / 2)]
      }
      for whole in [data, halves] {
        #expect(throws: Never.self) { try decode(whole) }
        for name in ["IHDR", "PLTE", "IDAT"] {
          var search = whole.startIndex..<whole.endIndex
          while let found = whole.range(of: Data(name.utf8), in: search) {
            let start = found.lowerBound - 4
            let length = whole[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            var damaged = whole
            damaged[start + 11 + length] ^= 1
            #expect(throws: ImageDecodingError.self, "\(name)") { try decode(damaged) }
            search = found.upperBound..<whole.endIndex
          }
        }
      }
    }

    @Test("is refused with an unknown chunk that it needs, unless the chunk is behind the pixels")
    func unknownChunk() throws {
      let chunk = Surgery.pngChunk("NeeD", Data(count: 3))
      #expect(throws: ImageDecodingError.self) { try decode(Surgery.adding(chunk, toPNG: png())) }
      try expectImage(Surgery.adding(chunk, behindPixels: true, toPNG: png()))
      // Readers differ in which of two palettes they take.
      let palette = Surgery.pngChunk("PLTE", Data(count: 3))
      let palettes = Surgery.adding(palette + palette, toPNG: png())
      #expect(throws: ImageDecodingError.self) { try decode(palettes) }
    }

    // MARK: What is behind the pixels

    private static let sizes = [(37, 29), (1, 1), (1, 9), (9, 1), (4, 4), (5, 2), (40, 64)]

    @Test("is shown wherever it is cut behind its pixels", arguments: [false, true], sizes)
    func cutBehindPixels(isInterlaced: Bool, size: (width: Int, height: Int)) throws {
      for type: Int32 in [0, 2, 3, 6] {
        let image = DrawnImage.confetti(size.width, size.height)
        var data = png(image) {
          ($0.colorType, $0.isInterlaced) = (type, isInterlaced)
          if type == 3 { $0.palette = (0..<48).map { UInt8($0 * 5) } }
        }
        data = Surgery.repacking(png: data) { [$0] }
        let whole = try decode(data)
        // Behind them are the sum of all bytes, the chunk's checksum, and the last chunk.
        for count in data.count - 3 - 4 - 12...data.count {
          let bitmap = try decode(Data(Array(data.prefix(count))))
          #expect(bitmap.packedBytes == whole.packedBytes, "\(count), type \(type)")
        }
        // Rows may be left of what libpng has read already.
        let open = try decode(Surgery.repacking(png: data) { [$0.dropLast(4)] })
        #expect(open.packedBytes == whole.packedBytes, "type \(type)")
        let small = PixelSize(width: 2, height: 2)
        #expect(
          try decode(data.dropLast(12), atLeast: small).packedBytes
            == decode(data, atLeast: small).packedBytes)
      }
    }

    @Test("is shown where the sum of all bytes is wrong, missing, or in a chunk of its own")
    func sum() throws {
      let changes: [(Data) -> [Data]] = [
        { [$0.dropLast(4) + Data("sum?".utf8)] }, { [$0.dropLast(4)] }, { [$0.dropLast(2)] },
        { [$0.dropLast(4), $0.suffix(4)] }, { [$0.dropLast(4), Data("sum?".utf8)] },
        { [$0, Data("more".utf8)] }, { [$0 + Data(count: 5000)] }, { [Data(), $0, Data()] },
      ]
      for (index, change) in changes.enumerated() {
        for isInterlaced in [false, true] {
          let data = Surgery.repacking(png: png { $0.isInterlaced = isInterlaced }, change)
          try expectImage(data, "\(index)")
        }
      }
    }

    @Test("is shown with anything in place of its last chunk")
    func end() throws {
      let open = png().dropLast(12)
      let ends = [
        Data(), Surgery.damagedChunk("IEND", Data()), Surgery.pngChunk("IEND", Data("odd".utf8)),
        Surgery.pngChunk("IEnD", Data()), Data(count: 50), Data(repeating: 0xFF, count: 50),
        Data([0x7F, 0xFF, 0xFF, 0xFF]) + Data("tEXt".utf8),
      ]
      for (index, end) in ends.enumerated() { try expectImage(open + end, "\(index)") }
    }

    @Test("is refused where a pixel is missing", arguments: [false, true])
    func missingPixels(isInterlaced: Bool) throws {
      // Stored without compression, so that each byte of a row is one of the file.
      let image = PNGPassTests.noise(20, 17)
      let data = Surgery.repacking(png: png(image) { $0.isInterlaced = isInterlaced }) { [$0] }
      let pixels = try #require(data.range(of: Data("IDAT".utf8))).upperBound
      let end = data.count - 12 - 4 - 4
      for count in pixels...end - 20 {
        #expect(throws: ImageDecodingError.self) { try decode(data.prefix(count)) }
      }
      let short = Surgery.repacking(png: data) { [$0.dropLast(24)] }
      #expect(throws: ImageDecodingError.self) { try decode(short) }
      let gap = Surgery.repacking(png: data) { [$0.prefix(100) + $0.dropFirst(101)] }
      #expect(throws: ImageDecodingError.self) { try decode(gap) }
    }

    @Test("is refused where another chunk stands between its pixels")
    func dividedPixels() {
      let halves = Surgery.repacking(png: png()) { [$0.prefix(200), $0.dropFirst(200)] }
      let text = Surgery.pngChunk("tEXt", Data("Title\0Confetti".utf8))
      let start = halves.range(of: Data("IDAT".utf8)).map { $0.lowerBound - 4 + 12 + 200 } ?? 0
      let divided = halves[..<start] + text + halves[start...]
      #expect(throws: ImageDecodingError.damaged("PNG: the pixels end early")) {
        try decode(Data(divided))
      }
    }

    // MARK: The rest

    @Test("is shown where it looks back farther than announced", arguments: 0...6)
    func window(announced: Int) throws {
      // The rows repeat at distances of 16 KB, for which 32 KB have to be kept.
      let rows = PNGPassTests.noise(1024, 4, isOpaque: true)
      let image = DrawnImage(1024, 16) { x, y in rows[x, y % 4] }
      let data = Surgery.repacking(png: png(image) { $0.colorType = 2 }) { pixels in
        let first = UInt8(announced << 4 | 8)
        // RFC 1950, section 2.2: a multiple of 31.
        let second = UInt8((31 - Int(first) * 256 % 31) % 31)
        return [Data([first, second]) + pixels.dropFirst(2)]
      }
      #expect(data.count < image.rgb.count / 2)
      #expect(try decode(data).packedBytes == image.opaqueBGRX)
    }

    @Test("is transparent where that is said before its palette, unless it needs the palette")
    func transparencyBeforePalette() throws {
      let colors = DrawnImage(2, 1) { x, _ in (x * 255, 10, 20, 255) }
      let color = Surgery.pngChunk("tRNS", Data([0, 255, 0, 10, 0, 20]))
      let palette = Surgery.pngChunk("PLTE", Data([1, 2, 3, 4, 5, 6]))
      let data = Surgery.adding(color + palette, toPNG: png(colors) { $0.colorType = 2 })
      #expect(try header(of: data).hasAlpha)
      #expect(try decode(data).packedBytes == [20, 10, 0, 255, 0, 0, 0, 0])

      let indexed =
        Surgery.pngSignature + Surgery.pngHeader(width: 2, height: 1, bitDepth: 8, colorType: 3)
        + Surgery.pngChunk("tRNS", Data([0, 9])) + palette
        + Surgery.pngChunk("IDAT", Fixture.deflated(head: [0, 0, 1], zeros: 0))
      #expect(try !header(of: indexed).hasAlpha)
      #expect(try decode(indexed).packedBytes == [3, 2, 1, 255, 6, 5, 4, 255])
    }

    @Test("is turned where its metadata is large")
    func largeMetadata() throws {
      let exif = Surgery.exif(orientation: 6) + Data(count: 100_000)
      for behindPixels in [false, true] {
        let data = Surgery.adding(
          Surgery.pngChunk("eXIf", exif), behindPixels: behindPixels, toPNG: png())
        #expect(try decode(data).size == Self.image.size.transposed)
        #expect(try header(of: data).size == Self.image.size.transposed)
      }
    }
  }
#endif
