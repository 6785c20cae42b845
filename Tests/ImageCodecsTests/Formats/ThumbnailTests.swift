#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import TestSupport
  import Testing

  @testable import ImageCodecs

  @Suite("A camera's thumbnail", .timeLimit(.minutes(10)))
  struct ThumbnailTests {
    private func jpeg(_ image: DrawnImage) -> Data { Fixture.jpeg(image) }

    /// The head of a file with a thumbnail, up to the image's scan.
    private func head(
      _ size: (Int, Int), _ thumbnail: Data, orientation: Int = 1
    ) throws -> Data {
      let exif = Surgery.exif(orientation: orientation, thumbnail: thumbnail)
      let data = Surgery.adding(exif: exif, toJPEG: jpeg(.slopes(size.0, size.1)))
      var watch = JPEGScanWatch(settles: true)
      let stage = try #require(watch.receive(data).first { $0.kind == .embedded })
      return Data(data.prefix(stage.byteCount))
    }

    private func preview(
      _ head: Data, atLeast size: PixelSize? = PixelSize(width: 1, height: 1)
    ) throws(ImageDecodingError) -> Bitmap {
      try JPEGDecoder().decodePreview(
        head, at: PreviewStage(.embedded, byteCount: head.count), DecodeRequest(minimumSize: size)
      ).bitmap
    }

    private func expectNone(_ head: Data, _ comment: Comment? = nil) {
      #expect(throws: ImageDecodingError.self, comment) { try preview(head) }
    }

    @Test("stands upright, as its image will", arguments: 1...8)
    func upright(orientation: Int) throws {
      let thumbnail = jpeg(.slopes(80, 60))
      let turned = Surgery.adding(
        exif: Surgery.exif(orientation: orientation), toJPEG: thumbnail)
      let bitmap = try preview(head((240, 180), thumbnail, orientation: orientation))
      let full = PixelSize(width: 240, height: 180)
      #expect(bitmap.packedBytes == (try decode(turned).packedBytes))
      #expect(
        bitmap.edges
          == ImageEdges(filling: bitmap.size, fullSize: orientation < 5 ? full : full.transposed))
    }

    @Test("is found in both byte orders, within the metadata only", arguments: [false, true])
    func found(isLittleEndian: Bool) {
      let file = jpeg(.slopes(8, 8))
      func place(_ exif: Data) -> Range<Int>? {
        exif.withUnsafeBytes {
          ExifBlock($0.bytes, in: 0..<exif.count)?.thumbnail($0.bytes)
        }
      }
      func exif(
        _ second: Int? = nil, _ offset: Int? = nil, _ byteCount: Int? = nil, type: Int = 4,
        _ thumbnail: Data? = nil
      ) -> Data {
        Surgery.exif(
          orientation: 6, thumbnail: thumbnail ?? file, isLittleEndian: isLittleEndian,
          second: second, offset: offset, byteCount: byteCount, type: type)
      }
      #expect(place(exif()) == 56..<56 + file.count)
      #expect(place(Data("Exif\0\0".utf8) + exif()) == 62..<62 + file.count)
      let refused = [
        exif(0), exif(8), exif(0xFFFF_FFFF), exif(nil, 0), exif(nil, 57), exif(nil, 0xFFFF_FFFF),
        exif(nil, nil, file.count + 1), exif(nil, nil, 0xFFFF_FFFF), exif(nil, nil, 3),
        exif(nil, nil, 0), exif(type: 3), exif(nil, nil, nil, Data("no image".utf8)),
        exif(nil, nil, nil, Data([0xFF, 0xD8, 0x00, 0x00])),
      ]
      for (index, exif) in refused.enumerated() { #expect(place(exif) == nil, "\(index)") }
      for count in 0..<56 { #expect(place(exif().prefix(count)) == nil) }
      // The orientation is read as ever.
      #expect(exif().withUnsafeBytes { Orientation(exif: $0.bytes, in: 0..<$0.count) } == .right)
    }

    /// A thumbnail of 160 x 120 pixels with bars of a gray.
    private func barred(across: Int, down: Int, gray: Int = 0) -> Data {
      jpeg(
        DrawnImage(160, 120) { x, y in
          let isBar = x < across || x >= 160 - across || y < down || y >= 120 - down
          return isBar ? (gray, gray, gray, 255) : (x + 60, y + 60, 150, 255)
        })
    }

    @Test("loses its black bars")
    func bars() throws {
      // Of 3:2, where 106.67 rows are the image's.
      // The image is so large that its own decode takes more memory than the thumbnail's.
      let wide = try preview(head((480, 320), barred(across: 0, down: 7)))
      #expect(
        wide.edges
          == ImageEdges(
            x: 0, y: 7, width: 160, height: 106, fullSize: PixelSize(width: 480, height: 320)))
      let high = try preview(head((360, 480), barred(across: 35, down: 0)))
      #expect(
        high.edges
          == ImageEdges(
            x: 35, y: 0, width: 90, height: 120, fullSize: PixelSize(width: 360, height: 480)))
      // Turned, the bars lie at the other sides.
      let turned = try preview(head((480, 320), barred(across: 0, down: 7), orientation: 6))
      #expect(turned.edges.x == 7 && turned.edges.y == 0 && turned.edges.width == 106)
    }

    @Test("is left out where it has other proportions and no black bars")
    func otherImage() throws {
      expectNone(try head((480, 320), barred(across: 0, down: 7, gray: 60)))
      expectNone(try head((480, 320), barred(across: 0, down: 4)))
      expectNone(try head((360, 480), barred(across: 20, down: 0)))
      expectNone(try head((160, 160), jpeg(.slopes(80, 60))))
      // A bar at one side only.
      let oneSided = DrawnImage(160, 120) { x, y in y < 14 ? (0, 0, 0, 255) : (x, y, 150, 255) }
      expectNone(try head((480, 320), jpeg(oneSided)))
      // Two parts in a hundred are rounding.
      #expect(throws: Never.self) { try preview(head((240, 183), jpeg(.slopes(80, 60)))) }
      expectNone(try head((240, 187), jpeg(.slopes(80, 60))))
      #expect(throws: Never.self) { try preview(head((244, 180), jpeg(.slopes(80, 60)))) }
      expectNone(try head((248, 180), jpeg(.slopes(80, 60))))
    }

    @Test("has bars as black as JPEG leaves them, but for the two lines beside the image")
    func darkness() throws {
      let layout = try #require(
        PixelLayout(size: PixelSize(width: 160, height: 120), format: .bgrx32, rowBytes: 640))
      // For an image of 3:2, whose bars are seven rows.
      for (gray, rowCount, isTaken) in [(16, 7, true), (17, 7, false), (0, 5, true), (0, 4, false)]
      {
        let thumbnail = DrawnImage(160, 120) { _, y in
          let level = min(y, 119 - y) < rowCount ? gray : 90
          return (level, level, level, 255)
        }
        let checked = EmbeddedThumbnail.check(
          try Bitmap(copying: thumbnail.opaqueBGRX, layout: layout),
          of: PixelSize(width: 480, height: 320), wanted: PixelSize(width: 1, height: 1))
        #expect((checked != nil) == isTaken, "\(rowCount) rows of \(gray)")
      }
    }

    @Test("is left out where it is much smaller than what is wanted")
    func small() throws {
      let head = try head((1000, 750), jpeg(.slopes(80, 60)))
      #expect(throws: Never.self) {
        try preview(head, atLeast: PixelSize(width: 640, height: 480))
      }
      for size in [PixelSize(width: 641, height: 480), PixelSize(width: 640, height: 481), nil] {
        #expect(throws: ImageDecodingError.self) { try preview(head, atLeast: size) }
      }
    }

    @Test("takes no more memory than its image, whatever its own header says")
    func large() throws {
      let head = try head(
        (16, 12),
        Surgery.cropping(jpeg: jpeg(.slopes(80, 60)), to: PixelSize(width: 1600, height: 1200)))
      expectTooLarge { try preview(head) }
    }

    @Test("is nothing where it is damaged, missing or cut")
    func damaged() throws {
      let thumbnail = jpeg(.slopes(80, 60))
      expectNone(try head((240, 180), thumbnail.dropLast(40)))
      expectNone(try head((240, 180), Data([0xFF, 0xD8, 0xFF, 0xD9, 0, 0])))
      let plain = Surgery.adding(exif: Surgery.exif(orientation: 1), toJPEG: jpeg(.slopes(24, 18)))
      expectNone(plain)
      let whole = try head((240, 180), thumbnail)
      for count in 0..<whole.count { expectNone(whole.prefix(count), "cut at \(count)") }
    }

    @Test("survives random damage")
    func survivesDamage() throws {
      let whole = try head((480, 320), barred(across: 0, down: 7))
      var random = SplitMix64(state: 17)
      for _ in 0..<1000 {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...8, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
            in: 0...255, using: &random)
        }
        _ = try? preview(bytes)
      }
    }
  }
#endif
