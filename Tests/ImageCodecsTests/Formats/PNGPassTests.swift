#if !canImport(ImageIO)
  import CTestProbes
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("The passes of an interlaced PNG file", .timeLimit(.minutes(10)))
  struct PNGPassTests {
    /// An image that no compression makes smaller.
    static func noise(_ width: Int, _ height: Int, isOpaque: Bool = false) -> DrawnImage {
      var random = SplitMix64(state: 4)
      return DrawnImage(width, height) { _, _ in
        let bits = Int(truncatingIfNeeded: random.next() >> 32)
        return (bits & 255, bits >> 8 & 255, bits >> 16 & 255, isOpaque ? 255 : bits >> 24)
      }
    }

    private func png(
      _ image: DrawnImage = .confetti(37, 29), _ rows: [UInt8]? = nil,
      _ change: (inout Fixture.PNGOptions) -> Void = { _ in }
    ) -> Data {
      var options = Fixture.PNGOptions(isInterlaced: true)
      change(&options)
      return Fixture.png(image.size, rows ?? image.rgba, options)
    }

    private func preview(
      _ data: Data, _ byteCount: Int, atLeast size: PixelSize? = PixelSize(width: 1, height: 1)
    ) throws(ImageDecodingError) -> DecodedPreview {
      try PNGDecoder().decodePreview(
        Data(data.prefix(byteCount)), at: PreviewStage(.frame, byteCount: byteCount),
        DecodeRequest(minimumSize: size))
    }

    /// The pixels of a whole image that a grid has.
    private func grid(_ whole: Bitmap, across: Int, down: Int) -> [UInt8] {
      let (bytes, pixelBytes) = (whole.packedBytes, whole.layout.format.bytesPerPixel)
      return stride(from: 0, to: whole.size.height, by: down).flatMap { (y: Int) -> [UInt8] in
        stride(from: 0, to: whole.size.width, by: across).flatMap { (x: Int) -> [UInt8] in
          let offset = (y * whole.size.width + x) * pixelBytes
          return Array(bytes[offset..<offset + pixelBytes])
        }
      }
    }

    /// The distances of the pixels of all passes up to one.
    private static let distances: [(across: Int, down: Int)] = [
      (8, 8), (4, 8), (4, 4), (2, 4), (2, 2), (1, 2),
    ]

    /// The distances of a preview's pixels.
    private func distances(_ preview: DecodedPreview) throws -> (across: Int, down: Int) {
      let part = try #require(preview.part)
      return try #require(Self.distances.first { part * Double($0.across * $0.down) == 1 })
    }

    private func expectPixels(_ preview: DecodedPreview, of whole: Bitmap, _ comment: Comment)
      throws
    {
      let (across, down) = try distances(preview)
      #expect(
        preview.bitmap.packedBytes == grid(whole, across: across, down: down), comment)
      #expect(preview.bitmap.layout.format == whole.layout.format)
    }

    @Test("have the image's pixels and no others, wherever the bytes end")
    func cuts() throws {
      let image = Self.noise(61, 47)
      let data = png(image)
      let whole = try decode(data)
      var parts: [Double] = []
      // libpng is given 256 bytes at a time; fewer steps show no more.
      for byteCount in stride(from: 0, through: data.count, by: 5 * Sanitizer.sweepStep) {
        do {
          let preview = try preview(data, byteCount)
          try expectPixels(preview, of: whole, "cut at \(byteCount)")
          parts.append(preview.part ?? 0)
        } catch ImageDecodingError.truncated {
          #expect(parts.isEmpty, "cut at \(byteCount)")
        }
      }
      #expect(parts == parts.sorted())
      #expect(Set(parts).count == Self.distances.count)
    }

    @Test("are read of images of any small size, whose passes may be empty")
    func sizes() throws {
      for width in 1...9 {
        for height in 1...9 {
          let data = png(.confetti(width, height))
          try expectPixels(
            preview(data, data.count), of: decode(data), "\(width) times \(height)")
        }
      }
    }

    @Test("are read of images of any kind")
    func kinds() throws {
      let image = Self.noise(97, 89)
      let deep = image.rgb.flatMap { [$0, $0 ^ 85] }
      let files: [Data] = [
        png(image, image.red) { $0.colorType = 0 },
        png(image, image.rgb) { $0.colorType = 2 },
        png(image, image.rgb) { ($0.colorType, $0.profile) = (2, Fixture.displayP3) },
        png(image, deep) { ($0.colorType, $0.bitDepth) = (2, 16) },
        png(image, image.red.map { $0 % 4 }) {
          ($0.colorType, $0.palette) = (3, Array(image.rgb.prefix(12)))
          $0.transparency = [10, 200]
        },
        png(image, (0..<89 * 13).map { UInt8(truncatingIfNeeded: $0 * 89) }) {
          ($0.colorType, $0.bitDepth) = (0, 1)
        },
      ]
      for (index, data) in files.enumerated() {
        let (whole, cut) = (try decode(data), try preview(data, data.count / 2))
        try expectPixels(cut, of: whole, "\(index)")
        #expect((cut.bitmap.colorConversion == nil) == (whole.colorConversion == nil))
      }
    }

    @Test("stand upright, and know where the image's edges are", arguments: 1...8)
    func upright(orientation: Int) throws {
      let image = Self.noise(37, 29, isOpaque: true)
      let exif = Surgery.exif(orientation: orientation)
      let data = Surgery.adding(chunk: "eXIf", exif, toPNG: png(image))
      let preview = try preview(data, data.count * 3 / 4)
      let (across, down) = try distances(preview)
      let stored = try untouched(png(image), part: preview.part)
      let turned = DrawnImage(stored.size.width, stored.size.height) { x, y in
        let pixel = stored.pixel(x, y).map(Int.init)
        return (pixel[2], pixel[1], pixel[0], pixel[3])
      }.turned(orientation)
      #expect(preview.bitmap.packedBytes == turned.premultipliedBGRA)
      // The first stored pixel, which is the image's own first.
      let edges = preview.bitmap.edges
      let full = orientation < 5 ? image.size : image.size.transposed
      let step = orientation < 5 ? (Double(across), Double(down)) : (Double(down), Double(across))
      #expect(edges.fullSize == full)
      #expect(edges.width == Double(full.width) / step.0)
      #expect(edges.height == Double(full.height) / step.1)
      let (isRight, isDown) = (
        [2, 3, 6, 7].contains(orientation), [3, 4, 7, 8].contains(orientation)
      )
      let corner = (
        isRight ? Double(preview.bitmap.size.width) - 0.5 : 0.5,
        isDown ? Double(preview.bitmap.size.height) - 0.5 : 0.5
      )
      let fullCorner = (
        isRight ? Double(full.width) - 0.5 : 0.5, isDown ? Double(full.height) - 0.5 : 0.5
      )
      #expect(abs((corner.0 - edges.x) * step.0 - fullCorner.0) < 1e-9)
      #expect(abs((corner.1 - edges.y) * step.1 - fullCorner.1) < 1e-9)
    }

    /// The grid of a part of an image that is not turned.
    private func untouched(_ data: Data, part: Double?) throws -> Bitmap {
      for byteCount in stride(from: data.count, to: 0, by: -1) {
        let preview = try preview(data, byteCount)
        if preview.part == part { return preview.bitmap }
      }
      throw ImageDecodingError.truncated
    }

    @Test("are no preview where they have less than a quarter of the size that is wanted")
    func tooCoarse() throws {
      let data = png(Self.noise(64, 64))
      let end = try #require((0...data.count).first { (try? preview(data, $0)) != nil })
      // Eight times eight pixels.
      #expect(throws: Never.self) {
        try preview(data, end, atLeast: PixelSize(width: 32, height: 32))
      }
      for size in [(33, 32), (32, 33)] {
        #expect(throws: ImageDecodingError.truncated) {
          try preview(data, end, atLeast: PixelSize(width: size.0, height: size.1))
        }
      }
      #expect(throws: ImageDecodingError.truncated) { try preview(data, end, atLeast: nil) }
    }

    @Test("are no preview of a file without them, nor of a damaged one")
    func refused() throws {
      let plain = png { $0.isInterlaced = false }
      #expect(throws: ImageDecodingError.self) { try preview(plain, plain.count) }
      var data = png(Self.noise(61, 47))
      let image = try #require(data.range(of: Data("IDAT".utf8))).upperBound
      for index in image..<image + 40 { data[index] = 0xFF }
      expectDamaged { try preview(data, data.count) }
    }

    @Test("take no more memory than the image", arguments: 1...6)
    func memory(pass: Int) throws {
      let data = png(Self.noise(800, 600))
      let ends = (0..<64).map { data.count * $0 / 64 }
      let wanted = 1 / Double(1 << (7 - pass))
      let end = try #require(ends.first { (try? preview(data, $0).part) == wanted })
      let bytes = Data(data.prefix(end))
      _ = probe_largest_allocation()
      _ = try PNGDecoder().decodePreview(
        bytes, at: PreviewStage(.frame, byteCount: end),
        DecodeRequest(minimumSize: PixelSize(width: 1, height: 1)))
      #expect(probe_largest_allocation() <= 800 * 600 * 4 / 2 + 4096)
    }

    @Test("end when the decode is cancelled")
    func cancelled() throws {
      let data = png(Self.noise(61, 200))
      let asked = Counter()
      let request = DecodeRequest(minimumSize: PixelSize(width: 1, height: 1)) {
        asked.increment() == 3
      }
      #expect(throws: ImageDecodingError.cancelled) {
        try PNGDecoder().decodePreview(
          data, at: PreviewStage(.frame, byteCount: data.count), request)
      }
      #expect(asked.value == 3)
    }

    // MARK: The watch

    /// The stages' ends when the bytes come in pieces.
    private func stages(_ data: Data, _ pieceByteCount: Int = 1, of byteCount: Int?? = nil) -> [Int]
    {
      var watch = PNGWatch(of: byteCount ?? data.count)
      var stages: [Int] = []
      for start in stride(from: 0, to: data.count, by: pieceByteCount) {
        let piece = data[start..<min(start + pieceByteCount, data.count)]
        stages += watch.receive(piece).filter { $0.kind == .frame }.map(\.byteCount)
      }
      return stages
    }

    @Test("are looked for at an eighth, three eighths and three quarters of the image's bytes")
    func marks() throws {
      let text = Surgery.adding(chunk: "tEXt", Data(count: 5000), toPNG: png())
      for data in [png(), text] {
        let start = try #require(data.range(of: Data("IDAT".utf8))).upperBound
        let marks = [0.125, 0.375, 0.75].map { start + Int(Double(data.count - start) * $0) }
        #expect(stages(data) == marks)
        // A stage has all bytes that are there, and none is behind the file.
        let pieces = Set(marks.map { ($0 + 999) / 1000 * 1000 }).filter { $0 < data.count }
        #expect(stages(data, 1000) == pieces.sorted())
        #expect(stages(data, data.count).isEmpty)
      }
    }

    @Test("are looked for once for each part, wherever the bytes are cut")
    func anyCut() {
      let data = png(.confetti(17, 13))
      let all = stages(data)
      for cut in 1..<data.count {
        var watch = PNGWatch(of: data.count)
        let first = watch.receive(data[..<cut]).first?.byteCount
        #expect((first == cut) == (all.contains { $0 <= cut }))
        var rest: [Int] = []
        for index in cut..<data.count {
          rest += watch.receive(data[index...index]).map(\.byteCount)
        }
        #expect(rest == all.filter { $0 > cut })
      }
    }

    @Test(
      "are not looked for in other files, nor where the number of bytes is unknown or too small")
    func noStages() throws {
      let data = png()
      #expect(stages(png { $0.isInterlaced = false }).isEmpty)
      #expect(stages(data, of: .some(nil)).isEmpty)
      #expect(stages(data, of: 40).isEmpty)
      #expect(stages(Data([0]) + data).isEmpty)
      for index in [0, 11, 12, 28] {
        var other = data
        other[index] ^= 2
        #expect(stages(other).isEmpty)
      }
      // A file that is longer than announced.
      #expect(stages(data, of: data.count / 2).allSatisfy { $0 < data.count / 2 })
    }

    @Test("survive random damage")
    func survivesDamage() {
      let data = png(Self.noise(61, 47))
      var random = SplitMix64(state: 16)
      for _ in 0..<1000 {
        var bytes = data
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        for stage in stages(bytes, .random(in: 1...3000, using: &random)) {
          #expect(stage < bytes.count)
          _ = try? preview(bytes, stage)
        }
      }
    }
  }
#endif
