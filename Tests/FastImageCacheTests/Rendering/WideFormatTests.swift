import Foundation
import Locking
import Pixels
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A format in Display P3", .timeLimit(.minutes(10)))
struct WideFormatTests {
  private let wide = ImageFormat(
    name: "row", family: "photos", size: .exact(PixelSize(width: 8, height: 8)),
    pixelFormat: .bgrx32,
    capacity: 16, colorSpace: .displayP3)
  private let narrow = ImageFormat(
    name: "row", family: "photos", size: .exact(PixelSize(width: 8, height: 8)),
    pixelFormat: .bgrx32,
    capacity: 16)

  /// sRGB's red and P3's, each in the numbers of the other; from CSS Color 4, section 10.
  private let redInP3: [UInt8] = [35, 51, 234, 255]

  private func red(_ space: ColorSpace = .sRGB, _ format: PixelFormat = .bgrx32) throws -> Bitmap {
    try Bitmap(size: PixelSize(width: 8, height: 8), format: format, colorSpace: space) {
      bytes, _ in
      for index in bytes.indices { bytes[index] = index % 4 >= 2 ? 255 : 0 }
    }
  }

  @Test("is told from others, and kept by coding")
  func isCoded() throws {
    #expect(wide != narrow && wide.colorSpace == .displayP3 && narrow.colorSpace == .sRGB)
    let coded = try JSONEncoder().encode(wide)
    #expect(try JSONDecoder().decode(ImageFormat.self, from: coded) == wide)
  }

  @Test("has a decode made anew where the one for sRGB has cut colours")
  func decodesAgain() throws {
    let (size, region) = (wide.size, ImageRegion(wide.size))
    var image = SourceImage(
      url: nil, content: .encoded(Data(), HollowDecoder(), ImageHeader(size: size)),
      decoded: try red())
    image.decodedSize = size
    #expect(!image.isDecoded(to: size, showing: region, in: .displayP3))
    image.decodedColorSpace = .displayP3
    #expect(image.isDecoded(to: size, showing: region, in: .displayP3))
    #expect(image.isDecoded(to: size, showing: region, in: .sRGB))
  }

  @Test("counts as sRGB where it has no colours")
  func isGray() throws {
    let gray = ImageFormat(
      name: "g", size: .exact(wide.size), pixelFormat: .gray8, colorSpace: .displayP3)
    #expect(gray.colorSpace == .sRGB)
    var fields = try #require(
      JSONSerialization.jsonObject(with: JSONEncoder().encode(gray)) as? [String: Any])
    fields["colorSpace"] = try JSONSerialization.jsonObject(
      with: JSONEncoder().encode(ColorSpace.displayP3), options: .fragmentsAllowed)
    let coded = try JSONSerialization.data(withJSONObject: fields)
    #expect(try JSONDecoder().decode(ImageFormat.self, from: coded) == gray)
  }

  @Test("has the colours of a bitmap in either space, and lends them with their space")
  func converts() async throws {
    let fixture = try await Fixture([wide])
    let image = try await fixture.cache.store(red(), for: Photo("a"), format: wide)
    #expect(image.firstPixel == redInP3)
    let copy = try image.makeBitmap()
    #expect(copy.colorSpace == .displayP3)
    let same = try await fixture.cache.store(red(.displayP3), for: Photo("b"), format: wide)
    #expect(same.firstPixel == [0, 0, 255, 255])
    // And back, in a drawing of another format.
    let back = try await Fixture([narrow]).cache.store(copy, for: Photo("a"), format: narrow)
    #expect(back.firstPixel == [0, 0, 255, 255] && back.colorSpace == .sRGB)
  }

  @Test("gives its space to the hook, and takes a bitmap of another one back")
  func asksHook() async throws {
    let data = try Data(contentsOf: ColorCorpus.url("p3.png"))
    let seen = Lock<[ColorSpace]>([])
    let red = try red()
    for formats in [[wide], [narrow]] {
      let fixture = try await Fixture(
        formats, source: ScriptedSource { _, _, _ in .encoded(data) },
        willStore: { image in
          let space = image.bitmap.colorSpace
          seen.withLock { $0.append(space) }
          image.bitmap = red
        })
      let image = try await fixture.image(Photo("a"), formats[0])
      #expect(image.firstPixel == (formats[0] == wide ? redInP3 : [0, 0, 255, 255]))
    }
    #expect(seen.withLock { $0 } == [.displayP3, .sRGB])
  }

  @Test("is what it takes for the hook to see a program's bitmap in Display P3")
  func asksHookAboutBitmaps() async throws {
    let red = redInP3
    let bitmap = try Bitmap(size: wide.size, format: .bgrx32, colorSpace: .displayP3) { bytes, _ in
      for index in bytes.indices { bytes[index] = red[index % 4] }
    }
    let seen = Lock<[Bitmap]>([])
    for format in [wide, narrow] {
      let fixture = try await Fixture(
        [format], source: ScriptedSource { _, _, _ in .bitmap(bitmap) },
        willStore: { image in
          let bitmap = image.bitmap
          seen.withLock { $0.append(bitmap) }
        })
      let loaded = try await fixture.image(Photo("a"), format)
      let stored = try await fixture.cache.store(bitmap, for: Photo("b"), format: format)
      let expected = format == wide ? red : [0, 0, 255, 255]
      #expect(loaded.firstPixel == expected && stored.firstPixel == expected)
    }
    let bitmaps = seen.withLock { $0 }
    #expect(bitmaps.map(\.colorSpace) == [.displayP3, .displayP3, .sRGB, .sRGB])
    #expect(bitmaps.map(\.firstPixel) == [red, red, [0, 0, 255, 255], [0, 0, 255, 255]])
  }

  @Test("becomes files that say so, and sRGB for an encoder that knows no spaces")
  func isExported() async throws {
    struct FirstPixel: ImageEncoder {
      func encode(_ pixels: RawSpan, layout: PixelLayout) throws(ImageEncodingError) -> Data {
        pixels.withUnsafeBytes { Data($0.prefix(layout.format.bytesPerPixel)) }
      }
    }
    for pixelFormat in [PixelFormat.bgrx32, .bgra32, .bgr16] {
      let format = ImageFormat(
        name: "x", size: .exact(wide.size), pixelFormat: pixelFormat, colorSpace: .displayP3)
      let fixture = try await Fixture([format])
      let image = try await fixture.cache.store(red(.displayP3), for: Photo("a"), format: format)
      #expect(image.colorSpace == .displayP3)
      let files = try [image.pngData(), image.makeBitmap().pngData()] + lossless(image)
      for file in files {
        let wide = try Bitmap(decoding: file, colorSpace: .displayP3)
        #expect(wide.colorSpace == .displayP3 && wide.firstPixel == [0, 0, 255, 255])
      }
      let jpeg = try Bitmap(decoding: image.jpegData(quality: 1), colorSpace: .displayP3)
      #expect(zip(jpeg.firstPixel, [0, 0, 255, 255]).allSatisfy { abs(Int($0) - $1) <= 2 })
      // P3's red is beyond sRGB.
      #expect(try Array(image.data(encodedBy: FirstPixel())) == red().packed(as: pixelFormat))
    }
    let fixture = try await Fixture([wide])
    let image = try await fixture.cache.store(red(), for: Photo("a"), format: wide)
    #expect(try Bitmap(decoding: image.pngData()).firstPixel == [0, 0, 255, 255])
    #expect(try Array(image.data(encodedBy: FirstPixel())) == [0, 0, 255, 255])
  }

  private func lossless(_ image: CachedImage) throws -> [Data] {
    #if canImport(ImageIO)
      []
    #else
      try [
        image.data(encodedBy: .losslessWebP), image.makeBitmap().data(encodedBy: .losslessWebP),
      ]
    #endif
  }
}

extension CachedImage {
  fileprivate var firstPixel: [UInt8] {
    withPixels { pixels in pixels.withUnsafeBytes { Array($0.prefix(4)) } }
  }
}

extension Bitmap {
  fileprivate var firstPixel: [UInt8] {
    withPixels { pixels in pixels.withUnsafeBytes { Array($0.prefix(4)) } }
  }

  /// The first pixel of pure red in a pixel format.
  fileprivate func packed(as format: PixelFormat) -> [UInt8] {
    format == .bgr16 ? [0x00, 0x7C] : firstPixel
  }
}
