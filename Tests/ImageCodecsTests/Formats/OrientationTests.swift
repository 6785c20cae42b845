import Foundation
import Pixels
import Testing

@testable import ImageCodecs

private func orientation(_ exif: Data) -> Orientation {
  exif.withUnsafeBytes { Orientation(exif: $0.bytes, in: 0..<exif.count) }
}

@Suite("An EXIF orientation", .timeLimit(.minutes(10)))
struct OrientationTests {
  @Test("is read in both byte orders", arguments: 1...8, [false, true])
  func isRead(value: Int, isLittleEndian: Bool) {
    let exif = Surgery.exif(orientation: value, isLittleEndian: isLittleEndian)
    #expect(orientation(exif).rawValue == UInt32(value))
    #expect(orientation(Data("Exif\0\0".utf8) + exif).rawValue == UInt32(value))
  }

  @Test(
    "is upright where the metadata is odd",
    arguments: [
      Surgery.exif(orientation: 0), Surgery.exif(orientation: 9),
      Surgery.exif(orientation: 6, type: 4), Surgery.exif(orientation: 6, count: 2),
      Surgery.exif(orientation: 6, count: 0xFFFF_FFFF),
      Surgery.exif(orientation: 6, directory: 0xFFFF_FFFF),
      Surgery.exif(orientation: 6, directory: 4), Surgery.exif(orientation: 6, entryCount: 0),
    ])
  func isUprightWhenOdd(exif: Data) {
    #expect(orientation(exif) == .up)
  }

  @Test("is read out of metadata of any length, though it announces more entries than there are")
  func survivesLength() {
    #expect(orientation(Surgery.exif(orientation: 6) + Data(count: 100 << 10)) == .right)
    #expect(orientation(Surgery.exif(orientation: 6, entryCount: 0xFFFF)) == .right)
  }

  @Test("is upright where the metadata is cut short")
  func survivesTruncation() {
    let exif = Surgery.exif(orientation: 6)
    for count in 0..<20 { #expect(orientation(exif.prefix(count)) == .up) }
  }
}

#if !canImport(ImageIO)
  @Suite("A turned image", .timeLimit(.minutes(10)))
  struct TurnedImageTests {
    @Test("has its padding where the stored rows and columns end", arguments: 1...8)
    func placesEdges(value: Int) throws {
      // At an eighth, 105 x 73 pixels are 13.125 x 9.125: the last row and column are mostly padding.
      let stored = DrawnImage(14, 10) { x, y in x == 13 || y == 9 ? (255, 0, 0, 0) : (0, 0, 0, 0) }
      let upright = stored.turned(value)
      func isPadding(_ x: Int, _ y: Int) -> Bool { upright.red[y * upright.size.width + x] == 255 }
      let fullSize = PixelSize(width: value < 5 ? 105 : 73, height: value < 5 ? 73 : 105)
      let edges = try #require(Orientation(rawValue: UInt32(value)))
        .edges(of: fullSize, reducedBy: 8, to: upright.size)
      #expect(edges.x == (isPadding(0, 5) ? 0.875 : 0))
      #expect(edges.y == (isPadding(5, 0) ? 0.875 : 0))
      #expect(edges.width == Double(fullSize.width) / 8)
      #expect(edges.height == Double(fullSize.height) / 8)
      #expect(edges.fullSize == fullSize)
    }

    @Test("stands upright from a PNG", arguments: 1...8)
    func turnsPNG(value: Int) throws {
      let image = DrawnImage.confetti(45, 71)
      let expected = image.turned(value)
      // Turning takes a second image where the first one has to be whole.
      let whole = PixelLayout.byteCount(size: image.size, format: .bgra32)
      for (isInterlaced, byteCount) in [(false, 0), (true, value == 1 ? whole : 2 * whole)] {
        let data = png(image, image.rgba, value, .init(isInterlaced: isInterlaced))
        #expect(try header(of: data).size == expected.size)
        #expect(try header(of: data).wholeImageByteCount == byteCount)
        #expect(try decode(data).packedBytes == expected.premultipliedBGRA)
      }
      let gray = png(image, image.red, value, .init(colorType: 0))
      #expect(try decode(gray).packedBytes == expected.red)
      // Squares, so that averaging changes no colour.
      let large = image.enlarged(by: 3)
      let reduced = try decode(png(large, large.rgba, value), atLeast: expected.size)
      #expect(reduced.size == expected.size)
      #expect(reduced.packedBytes == expected.premultipliedBGRA)
    }

    private func png(
      _ image: DrawnImage, _ rows: [UInt8], _ orientation: Int,
      _ options: Fixture.PNGOptions = .init()
    ) -> Data {
      Surgery.adding(
        chunk: "eXIf", Surgery.exif(orientation: orientation),
        toPNG: Fixture.png(image.size, rows, options))
    }

    @Test("stands upright from a JPEG, and from one at an eighth", arguments: 1...8, [1, 8])
    func turnsJPEG(value: Int, reduction: Int) throws {
      let jpeg = Fixture.jpeg(.slopes(40 * reduction, 71 * reduction))
      let data = Surgery.adding(exif: Surgery.exif(orientation: value), toJPEG: jpeg)
      let expected = DrawnImage.slopes(40, 71).turned(value)
      #expect(try header(of: data).size.width == expected.size.width * reduction)
      let bitmap = try decode(data, atLeast: expected.size)
      #expect(bitmap.size == expected.size)
      #expect(largestDifference(bitmap.packedBytes, expected.opaqueBGRX) <= 4)
    }

    @Test("stands upright from a WebP", arguments: 1...8, [false, true])
    func turnsWebP(value: Int, isScaled: Bool) throws {
      let image = isScaled ? DrawnImage.slopes(90, 142) : DrawnImage.confetti(45, 71)
      let chunks =
        Surgery.webpChunks(Fixture.webp(image))
        + Surgery.riffChunk("EXIF", Surgery.exif(orientation: value, isLittleEndian: true))
      let data = Surgery.extendedWebP(
        flags: 0x18, width: image.size.width, height: image.size.height, chunks)
      let small = isScaled ? DrawnImage.slopes(45, 71) : image
      let expected = small.turned(value)
      // Turning takes a second image.
      let pixelCount = image.size.width * image.size.height
      #expect(try header(of: data).wholeImageByteCount == pixelCount * (value == 1 ? 5 : 9))
      let bitmap = try decode(data, atLeast: expected.size)
      #expect(bitmap.size == expected.size)
      #expect(
        largestDifference(bitmap.packedBytes, expected.premultipliedBGRA) <= (isScaled ? 4 : 1))
    }
  }
#endif
