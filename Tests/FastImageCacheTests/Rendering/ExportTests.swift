import Foundation
import Pixels
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A cached image", .timeLimit(.minutes(10)))
struct ExportTests {
  private static let size = PixelSize(width: 32, height: 4)

  private func format(_ pixelFormat: PixelFormat) -> ImageFormat {
    ImageFormat(
      name: "levels-\(pixelFormat)", size: .exact(Self.size), pixelFormat: pixelFormat, capacity: 4)
  }

  /// Each of the 32 levels of five bits, another one in each channel; half transparent below.
  private func levels(_ pixelFormat: PixelFormat) throws -> Bitmap {
    let layout = try #require(PixelLayout(size: Self.size, format: pixelFormat))
    return try Bitmap(layout: layout) { bytes in
      for y in 0..<Self.size.height {
        for x in 0..<Self.size.width {
          let alpha = pixelFormat.hasAlpha && y >= 2 ? 128 : 255
          let colors = [x, 31 - x, x / 2].map { UInt8(($0 * 255 / 31 * alpha + 127) / 255) }
          for (index, byte) in (colors + [UInt8(alpha)]).enumerated() {
            bytes[y * layout.rowBytes + x * 4 + index] = byte
          }
        }
      }
    }
  }

  private func pixels(_ image: CachedImage) -> [UInt8] {
    image.withPixels { span in
      (0..<span.byteCount).map { span.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
    }
  }

  private func words(_ image: CachedImage, row: Int) -> [UInt16] {
    let bytes = pixels(image)
    return (0..<image.size.width).map { x in
      let start = row * image.layout.rowBytes + 2 * x
      return UInt16(bytes[start]) | UInt16(bytes[start + 1]) << 8
    }
  }

  @Test("comes back from its PNG as it was, in every pixel format", arguments: PixelFormat.allCases)
  func survivesPNG(pixelFormat: PixelFormat) async throws {
    let format = format(pixelFormat)
    let fixture = try await Fixture([format])
    let source = try levels(pixelFormat == .bgra32 ? .bgra32 : .bgrx32)
    let stored = try await fixture.cache.store(source, for: Photo("a"), format: format)
    let encode: () throws(ImageEncodingError) -> Data = stored.pngData
    let again = try await fixture.cache.store(encode(), for: Photo("b"), format: format)
    #expect(pixels(again) == pixels(stored))
  }

  @Test("of five bits a channel keeps each of their levels, also for the next run")
  func keepsFiveBits() async throws {
    let format = format(.bgr16)
    let directory = try TemporaryDirectory()
    let expected = (0..<32).map { (level: Int) -> UInt16 in
      let (red, green, blue) = (level / 2, 31 - level, level)
      return UInt16(red * 1024 + green * 32 + blue)
    }
    do {
      let fixture = try await Fixture([format], directory: directory)
      let stored = try await fixture.cache.store(levels(.bgrx32), for: Photo("a"), format: format)
      #expect(stored.layout.format == .bgr16 && stored.layout.rowBytes == 64)
      #expect(words(stored, row: 3) == expected)
      await fixture.cache.close()
    }
    let fixture = try await Fixture([format], directory: directory)
    let hit = try #require(fixture.cache.cachedImage(for: Photo("a"), format: format))
    #expect((0..<4).allSatisfy { words(hit, row: $0) == expected })
  }

  @Test("is nearly the same in its JPEG, on white where it is transparent")
  func survivesJPEG() async throws {
    let format = format(.bgra32)
    let fixture = try await Fixture([format])
    let stored = try await fixture.cache.store(levels(.bgra32), for: Photo("a"), format: format)
    let encode: (Double) throws(ImageEncodingError) -> Data = stored.jpegData
    let jpeg = try encode(1)
    #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF]))
    let again = try await fixture.cache.store(jpeg, for: Photo("b"), format: format)
    let (before, after) = (pixels(stored), pixels(again))
    var sum = 0
    for pixel in stride(from: 0, to: before.count, by: 4) {
      let white = 255 - Int(before[pixel + 3])
      for channel in 0..<3 {
        sum += abs(Int(before[pixel + channel]) + white - Int(after[pixel + channel]))
      }
      #expect(after[pixel + 3] == 255)
    }
    // Colours come for several pixels together; on black the mean would be far above 30.
    #expect(sum / (Self.size.width * Self.size.height * 3) <= 6)
  }
}

@Suite("An image given to an encoder", .timeLimit(.minutes(10)))
struct EncodingTests {
  /// The size, and the first pixel's bytes.
  private struct FirstPixel: ImageEncoder {
    func encode(_ pixels: RawSpan, layout: PixelLayout) throws(ImageEncodingError) -> Data {
      guard layout.size.width < 100 else { throw .failed("\(layout.size) is too large") }
      let bytes = (0..<4).map { pixels.unsafeLoad(fromByteOffset: $0, as: UInt8.self) }
      return Data("\(layout.size) \(layout.format) \(bytes)".utf8)
    }
  }

  /// Colours whose numbers are the wrong way round.
  private struct Inverted: ColorConversion {
    func convert(
      _ pixels: UnsafeMutableRawPointer, pixelCount: Int, format: PixelFormat, to space: ColorSpace
    ) {
      for index in 0..<pixelCount * 4 where index % 4 < 3 {
        pixels.storeBytes(
          of: 255 - pixels.load(fromByteOffset: index, as: UInt8.self), toByteOffset: index,
          as: UInt8.self)
      }
    }
  }

  @Test("of one's own is handed over with its layout, from the cache or not")
  func takesOwnEncoder() async throws {
    let fixture = try await Fixture()
    let bitmap = try solid(300)
    let stored = try await fixture.cache.store(bitmap, for: Photo("a"), format: .row)
    let fromCache = try stored.data(encodedBy: FirstPixel())
    #expect(String(decoding: fromCache, as: UTF8.self) == "8x8 bgrx32 [44, 1, 77, 255]")
    let fromBitmap = try bitmap.data(encodedBy: FirstPixel())
    #expect(String(decoding: fromBitmap, as: UTF8.self) == "16x16 bgrx32 [44, 1, 77, 255]")
  }

  @Test("that refuses it ends with the encoder's error")
  func throwsOwnError() throws {
    let large = try solid(1, size: PixelSize(width: 100, height: 1))
    #expect(throws: ImageEncodingError.failed("100x1 is too large")) {
      try large.data(encodedBy: FirstPixel())
    }
  }

  @Test("has its colours in sRGB by then")
  func convertsColors() throws {
    let layout = try solid(0).layout
    let source = try Bitmap(layout: layout, colorConversion: Inverted()) { bytes in
      for index in bytes.indices { bytes[index] = index % 4 == 3 ? 255 : 200 }
    }
    let seen = try source.data(encodedBy: FirstPixel())
    #expect(String(decoding: seen, as: UTF8.self) == "16x16 bgrx32 [55, 55, 55, 255]")
  }

  #if !canImport(ImageIO)
    @Test("becomes WebP that the cache reads again")
    func survivesWebP() async throws {
      let fixture = try await Fixture()
      let stored = try await fixture.cache.store(solid(300), for: Photo("a"), format: .row)
      let again = try await fixture.cache.store(
        stored.data(encodedBy: .losslessWebP), for: Photo("b"), format: .row)
      #expect(again.solidNumber == 300 && stored.solidNumber == 300)
      #expect(try stored.data(encodedBy: .webp(quality: 0.5)).count < stored.pngData().count)
      #expect(try solid(300).data(encodedBy: .webp()).starts(with: Array("RIFF".utf8)))
    }
  #endif
}

@Suite("Two leases", .timeLimit(.minutes(10)))
struct ImageEqualityTests {
  @Test("on one image are equal, on different ones they differ, also when these look alike")
  func compare() async throws {
    let fixture = try await Fixture()
    let first = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    let hit = try #require(fixture.cache.cachedImage(for: Photo("a"), format: .row))
    #expect(hit == first && Set([hit, first]).count == 1)
    let other = try await fixture.cache.store(solid(1), for: Photo("b"), format: .row)
    let anew = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    #expect(Set([first, other, anew]).count == 3)
  }

  @Test("in private memory are equal to their copies only")
  func comparePrivate() async throws {
    let format = ImageFormat(
      name: "row", size: .exact(PixelSize(width: 8, height: 8)), capacity: 4, devices: .watch)
    let fixture = try await Fixture([format])
    let first = try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
    let second = try await fixture.cache.store(solid(1), for: Photo("a"), format: format)
    let copy = first
    #expect(first.isPrivate && first == copy && first != second)
  }
}
