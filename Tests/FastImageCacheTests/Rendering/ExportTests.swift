import FastImageCache
import Foundation
import TestSupport
import Testing

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
