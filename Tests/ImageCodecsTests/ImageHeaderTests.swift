#if !canImport(ImageIO)
  import Foundation
  import Pixels
  import Testing

  @testable import ImageCodecs

  @Suite("The header of a file", .timeLimit(.minutes(10)))
  struct ImageHeaderTests {
    private static let corpora = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Corpora")

    private func file(_ path: String) throws -> Data {
      try Data(contentsOf: Self.corpora.appendingPathComponent(path))
    }

    @Test("tells the kind and the upright size")
    func tellsKind() throws {
      let image = DrawnImage.slopes(48, 32)
      let jpeg = try ImageHeader(
        of: Surgery.adding(
          exif: Surgery.exif(orientation: 6), toJPEG: Fixture.jpeg(image)))
      #expect(jpeg.type == .jpeg && jpeg.size == PixelSize(width: 32, height: 48))
      let png = try ImageHeader(of: Fixture.png(image))
      #expect(png.type == .png && png.size == image.size && png.hasAlpha && !png.isGray)
      #expect(try ImageHeader(of: Fixture.webp(image)).type == .webp)
    }

    @Test("counts the scans of progressive and interlaced files")
    func countsScans() throws {
      let image = DrawnImage.slopes(64, 64)
      let plain = Fixture.jpeg(image)
      #expect(try ImageHeader(of: plain).scanCount == 1)
      let progressive = Fixture.jpeg(image, .init(isProgressive: true))
      // libjpeg's own list of scans for three components.
      #expect(try ImageHeader(of: progressive).scanCount == 10)
      #expect(try 2..<10 ~= ImageHeader(of: progressive.prefix(progressive.count / 2)).scanCount)
      let interlaced = Fixture.png(image, .init(isInterlaced: true))
      #expect(try ImageHeader(of: interlaced).scanCount == 7)
      #expect(try ImageHeader(of: Fixture.png(image)).scanCount == 1)
    }

    @Test("counts the frames of an animation", arguments: ["png", "webp"])
    func countsFrames(kind: String) throws {
      // Behind the number of plays stand the milliseconds of each frame.
      let numbers = try String(decoding: file("animations/0.\(kind).txt"), as: UTF8.self)
      let frameCount = numbers.split(whereSeparator: \.isWhitespace).count - 1
      let whole = try file("animations/0.\(kind)")
      #expect(try ImageHeader(of: whole).frameCount == frameCount)
      let part = try ImageHeader(of: whole.dropLast(whole.count / 10))
      #expect(1..<frameCount ~= part.frameCount)
      #expect(try ImageHeader(of: whole.prefix(kind == "png" ? 60 : 180)).frameCount == 1)
    }

    @Test("names the library's colour spaces, and no other")
    func namesColors() throws {
      let image = DrawnImage.slopes(16, 16)
      func space(_ data: Data) throws -> ColorSpace? { try ImageHeader(of: data).colorSpace }
      func jpeg(_ profile: Data?) -> Data {
        Fixture.jpeg(image, .init(profile: profile))
      }
      #expect(try space(jpeg(nil)) == .sRGB)
      #expect(try space(jpeg(Fixture.sRGB)) == .sRGB)
      #expect(try space(jpeg(Fixture.displayP3)) == .displayP3)
      #expect(try space(jpeg(Fixture.adobeRGB)) == nil)
      #expect(try space(file("colors/inks.jpg")) == nil)
      #expect(try space(file("colors/p3.png")) == .displayP3)
      #expect(try space(file("colors/adobe.png")) == nil)
      #expect(try space(file("colors/untagged.png")) == .sRGB)
      #expect(try space(file("pictures/whole/png-cicp-display-p3.png")) == .displayP3)
      let webp = try encodedWebP(of: .displayP3)
      #expect(try space(webp) == .displayP3)
      #expect(try space(Fixture.webp(image)) == .sRGB)
    }

    private func encodedWebP(of space: ColorSpace) throws -> Data {
      let image = DrawnImage.slopes(16, 16)
      let layout = try #require(
        PixelLayout(size: image.size, format: .bgrx32, rowBytes: 16 * 4))
      return try image.opaqueBGRX.withUnsafeBytes {
        try WebPEncoder().encode($0.bytes, layout: layout, colorSpace: space)
      }
    }

    @Test("needs the beginning of a file only")
    func readsBeginnings() throws {
      let image = DrawnImage.slopes(400, 300)
      let jpeg = Fixture.jpeg(image, .init(isProgressive: true, profile: Fixture.displayP3))
      let header = try ImageHeader(of: jpeg.prefix(4096))
      #expect(header.size == image.size && header.colorSpace == .displayP3)
      let png = Fixture.png(image, .init(profile: Fixture.displayP3))
      #expect(try ImageHeader(of: png.prefix(33)).size == image.size)
      // The colours stand behind these bytes.
      #expect(try ImageHeader(of: png.prefix(33)).colorSpace == nil)
      #expect(try ImageHeader(of: Fixture.webp(image).prefix(64)).size == image.size)
    }

    @Test("is an error where there is none")
    func refuses() throws {
      let refused: [(Data, ImageDecodingError)] = [
        (Data(), .truncated), (Data("no image".utf8), .unknownType),
        (Fixture.jpeg(.slopes(16, 16)).prefix(20), .truncated),
        (Fixture.png(.slopes(16, 16)).prefix(32), .truncated),
      ]
      for (data, error) in refused {
        #expect(throws: error) { try ImageHeader(of: data) }
      }
    }
  }
#endif
