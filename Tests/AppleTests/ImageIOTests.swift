import CoreGraphics
import Foundation
import ImageIO
import Pixels
import Testing

@testable import ImageCodecs

@Suite("ImageIO's side of the codecs", .timeLimit(.minutes(10)))
struct ImageIOTests {
  private static func bitmap(_ bytes: [UInt8], _ size: PixelSize, _ format: PixelFormat) throws
    -> Bitmap
  {
    let layout = try #require(
      PixelLayout(size: size, format: format, rowBytes: bytes.count / size.height))
    return try Bitmap(copying: bytes, layout: layout)
  }

  private static func png(_ image: DrawnImage) throws -> Data {
    try PNGEncoder().encode(bitmap(image.premultipliedBGRA, image.size, .bgra32))
  }

  private static func jpeg(_ image: DrawnImage, quality: Double = 1) throws -> Data {
    try JPEGEncoder(quality: quality).encode(bitmap(image.opaqueBGRX, image.size, .bgrx32))
  }

  // MARK: Decoding

  @Test("decodes PNG exactly, with alpha and without")
  func decodesPNG() throws {
    let image = DrawnImage.confetti(21, 13)
    let glass = try decode(Self.png(image))
    #expect(glass.layout.format == .bgra32 && glass.size == image.size)
    #expect(largestDifference(glass.packedBytes, image.premultipliedBGRA) <= 1)

    let data = try PNGEncoder().encode(Self.bitmap(image.opaqueBGRX, image.size, .bgrx32))
    #expect(try decode(data).layout.format == .bgrx32)
    #expect(try decode(data).packedBytes == image.opaqueBGRX)
  }

  @Test("decodes JPEG close to the pixels")
  func decodesJPEG() throws {
    let image = DrawnImage.slopes(64, 48)
    let data = try Self.jpeg(image)
    #expect(try header(of: data).size == image.size)
    #expect(try largestDifference(decode(data).packedBytes, image.opaqueBGRX) <= 10)
  }

  @Test("stands images upright", arguments: 1...8)
  func turns(value: Int) throws {
    let image = DrawnImage.confetti(45, 71)
    let png = try Surgery.adding(
      chunk: "eXIf", Surgery.exif(orientation: value), toPNG: Self.png(image))
    let expected = image.turned(value)
    #expect(try header(of: png).size == expected.size)
    #expect(try decode(png).size == expected.size)
    #expect(try largestDifference(decode(png).packedBytes, expected.premultipliedBGRA) <= 1)

    let slopes = DrawnImage.slopes(45, 71)
    let jpeg = try Surgery.adding(
      exif: Surgery.exif(orientation: value, isLittleEndian: true), toJPEG: Self.jpeg(slopes))
    #expect(
      try largestDifference(decode(jpeg).packedBytes, slopes.turned(value).opaqueBGRX) <= 16)
  }

  @Test(
    "decodes at or just above the size that is wanted",
    arguments: [(320, 200), (201, 317), (300, 30)] as [(Int, Int)])
  func reduces(width: Int, height: Int) throws {
    let image = DrawnImage.slopes(width, height)
    let data = try Self.jpeg(image)
    let wanted = PixelSize(width: max(width / 5, 1), height: max(height / 5, 1))
    let bitmap = try decode(data, atLeast: wanted)
    #expect(bitmap.size.width >= wanted.width && bitmap.size.height >= wanted.height)
    #expect(bitmap.size.width <= wanted.width + 8)
    #expect(bitmap.edges.fullSize == image.size)
    let small = DrawnImage.slopes(bitmap.size.width, bitmap.size.height)
    #expect(largestDifference(bitmap.packedBytes, small.opaqueBGRX) <= 24)
    #expect(try decode(data, atLeast: PixelSize(width: 9999, height: 9999)).size == image.size)
  }

  @Test("refuses other types, damage, and files that are cut short")
  func refuses() throws {
    let image = DrawnImage.slopes(40, 33)
    func error(_ data: Data) -> ImageDecodingError? {
      do throws(ImageDecodingError) {
        _ = try decode(data)
        return nil
      } catch { return error }
    }
    #expect(error(Data("<svg/>".utf8)) == .unsupported("SVG images are not decoded here."))
    #expect(error(Data()) == .truncated)
    for data in [try Self.png(image), try Self.jpeg(image)] {
      #expect(error(data) == nil)
      for count in [data.count - 1, data.count * 2 / 3, 40] {
        #expect(error(data.prefix(count)) == .truncated)
      }
    }
    var damaged = try Self.jpeg(image)
    damaged.replaceSubrange(3..<160, with: Data(count: 157))
    #expect(error(damaged) != nil)
  }

  @Test("refuses images beyond the limits, and stops when cancelled")
  func obeys() throws {
    let data = try Self.jpeg(DrawnImage.slopes(64, 48))
    var limits = DecodingLimits()
    limits.sideLength = 60
    #expect(throws: ImageDecodingError.self) { try decode(data, limits: limits) }
    let request = DecodeRequest(isCancelled: { true })
    #expect(throws: ImageDecodingError.cancelled) {
      try ImageIODecoder().decode(data, request)
    }
  }

  @Test("decodes the thumbnail in a camera's file")
  func decodesThumbnail() throws {
    let (image, small) = (DrawnImage.slopes(640, 480), DrawnImage.slopes(160, 120))
    let data = try Surgery.adding(
      exif: Surgery.exif(orientation: 1, thumbnail: Self.jpeg(small)), toJPEG: Self.jpeg(image))
    let request = DecodeRequest(minimumSize: small.size, isCancelled: { false })
    let preview = try ImageIODecoder().decodePreview(
      data.prefix(data.count / 2), at: PreviewStage(.embedded, byteCount: data.count / 2), request)
    #expect(preview.bitmap.size == small.size)
    #expect(largestDifference(preview.bitmap.packedBytes, small.opaqueBGRX) <= 10)
  }

  /// Frames as the stand-in for ImageIO has them.
  private static func animation(loops: Int, _ frames: [(DrawnImage, milliseconds: Int)]) throws
    -> Data
  {
    try frames.reduce(Data()) { data, frame in
      let delay =
        Surgery.bigEndian(frame.milliseconds, bytes: 2) + Surgery.bigEndian(1000, bytes: 2)
      var png = try Surgery.adding(
        chunk: "fcTL", Data(count: 20) + delay + Data(count: 2), toPNG: Self.png(frame.0))
      if data.isEmpty {
        let control = Surgery.bigEndian(frames.count, bytes: 4) + Surgery.bigEndian(loops, bytes: 4)
        png = Surgery.adding(chunk: "acTL", control, toPNG: png)
      }
      return data + png
    }
  }

  @Test("reads the frames of an animation, those that came whole")
  func decodesFrames() throws {
    let images = [DrawnImage.confetti(21, 13), .slopes(21, 13), .confetti(21, 13)]
    let data = try Self.animation(loops: 2, Array(zip(images, [40, 5, 2000])))
    let header = try #require(try ImageIODecoder().animation(of: data, within: DecodingLimits()))
    #expect(header.frameDurations == [.milliseconds(40), .milliseconds(100), .seconds(2)])
    #expect(header.frameCount == 3 && header.loopCount == 2 && !header.isCut)
    func frames(_ data: Data) throws -> [Bitmap] {
      let reader = try ImageIODecoder().frames(of: data, DecodeRequest())
      var frames: [Bitmap] = []
      while let frame = try reader.next() { frames.append(frame) }
      return frames
    }
    let all = try frames(data)
    #expect(all.count == 3)
    for (frame, image) in zip(all, images) {
      #expect(largestDifference(frame.packedBytes, image.premultipliedBGRA) <= 1)
    }
    #expect(try all[0].packedBytes == decode(data).packedBytes)

    let cut = data.dropLast(30) as Data
    let rest = try #require(try ImageIODecoder().animation(of: cut, within: DecodingLimits()))
    #expect(rest.frameCount == 2 && rest.isCut)
    #expect(try frames(cut).count == 2)
    let short = data.prefix(60) as Data
    #expect(try ImageIODecoder().animation(of: short, within: DecodingLimits()) == nil)
    #expect(
      try ImageIODecoder().animation(of: Self.png(images[0]), within: DecodingLimits()) == nil)
    let endless = try Self.animation(loops: 0, [(images[0], 50), (images[1], 50)])
    #expect(
      try ImageIODecoder().animation(of: endless, within: DecodingLimits())?.loopCount == nil)
  }

  @Test("keeps the limits of animations, and stops when cancelled")
  func obeysInAnimations() throws {
    let image = DrawnImage.slopes(8, 8)
    let data = try Self.animation(loops: 0, [(image, 50), (image, 50)])
    var limits = DecodingLimits()
    for (limit, number) in [
      (\DecodingLimits.frameCount, 1), (\.animationPixelCount, 127), (\.workingByteCount, 767),
    ] {
      var smaller = limits
      smaller[keyPath: limit] = number
      #expect(throws: ImageDecodingError.self) {
        try ImageIODecoder().animation(of: data, within: smaller)
      }
      limits[keyPath: limit] = number + 1
    }
    let reader = try ImageIODecoder().frames(
      of: data, DecodeRequest(limits: limits, isCancelled: { true }))
    #expect(throws: ImageDecodingError.cancelled) { try reader.next() }
  }

  @Test("turns a CGImage into a bitmap")
  func copiesImages() throws {
    let photo = DrawnImage.confetti(9, 7)
    let image = try #require(
      CGImage(_bgra: photo.premultipliedBGRA, width: 9, height: 7, hasAlpha: true))
    let bitmap = try Bitmap(image)
    #expect(bitmap.layout.format == .bgra32)
    #expect(bitmap.packedBytes == photo.premultipliedBGRA)
  }

  @Test("decodes colours into the space that is asked for, and says which")
  func convertsColors() throws {
    let image = DrawnImage.slopes(16, 16)
    let layout = try Self.bitmap(image.opaqueBGRX, image.size, .bgrx32).layout
    for encoder in [PNGEncoder(), JPEGEncoder(quality: 1)] as [any ImageEncoder] {
      let file = try image.opaqueBGRX.withUnsafeBytes {
        try encoder.encode($0.bytes, layout: layout, colorSpace: .displayP3)
      }
      var request = DecodeRequest()
      let narrow = try ImageIODecoder().decode(file, request)
      request.colorSpace = .displayP3
      let wide = try ImageIODecoder().decode(file, request)
      #expect(narrow.colorSpace == .sRGB && wide.colorSpace == .displayP3)
      #expect(largestDifference(wide.packedBytes, image.opaqueBGRX) <= 12)
      #expect(largestDifference(narrow.packedBytes, image.opaqueBGRX) > 40)
    }
  }

  // MARK: Encoding

  @Test("encodes PNG of every pixel format exactly")
  func encodesPNG() throws {
    let image = DrawnImage.confetti(21, 13)
    let gray = try PNGEncoder().encode(Self.bitmap(image.red, image.size, .gray8))
    let decoded = try decode(gray).packedBytes
    #expect(stride(from: 0, to: decoded.count, by: 4).map { decoded[$0] } == image.red)

    let packed: [UInt8] = [0xFF, 0x7F, 0x00, 0x7C, 0xE0, 0x03, 0x10, 0x00]
    let size = PixelSize(width: 4, height: 1)
    #expect(
      try decode(PNGEncoder().encode(Self.bitmap(packed, size, .bgr16))).packedBytes
        == [255, 255, 255, 255, 0, 0, 255, 255, 0, 255, 0, 255, 132, 0, 0, 255])
  }

  @Test("encodes JPEG by quality, in several scans when told so, and lays it over white")
  func encodesJPEG() throws {
    let image = DrawnImage.confetti(64, 48)
    let counts = try [0, 0.3, 0.6, 0.9, 1].map { try Self.jpeg(image, quality: $0).count }
    #expect(counts == counts.sorted() && Set(counts).count == counts.count)

    let pixels = try Self.bitmap(image.opaqueBGRX, image.size, .bgrx32)
    let (plain, progressive) = (
      try JPEGEncoder(quality: 0.8).encode(pixels),
      try JPEGEncoder(quality: 0.8, isProgressive: true).encode(pixels)
    )
    #expect(plain != progressive)
    #expect(try decode(plain).packedBytes == decode(progressive).packedBytes)

    let glass = DrawnImage(16, 16) { _, _ in (255, 0, 0, 128) }
    let flat = try JPEGEncoder(quality: 1).encode(
      Self.bitmap(glass.premultipliedBGRA, glass.size, .bgra32))
    #expect(try largestDifference(decode(flat).pixel(8, 8), [127, 127, 255, 255]) <= 3)
  }
}

extension ImageEncoder {
  fileprivate func encode(_ bitmap: Bitmap) throws(ImageEncodingError) -> Data {
    try bitmap.withUnsafeBytes { bytes throws(ImageEncodingError) in
      try encode(bytes.bytes, layout: bitmap.layout)
    }
  }
}
