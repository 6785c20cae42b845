import Foundation
import Pixels
import Testing

@testable import FastImageCache

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

  @Test("of the library becomes the file of the method of that name")
  func hasMethods() async throws {
    let fixture = try await Fixture()
    let bitmap = try solid(300)
    let stored = try await fixture.cache.store(bitmap, for: Photo("a"), format: .row)
    #expect(try stored.data(encodedBy: .png) == stored.pngData())
    #expect(try stored.data(encodedBy: .jpeg(quality: 0.3)) == stored.jpegData(quality: 0.3))
    #expect(try bitmap.data(encodedBy: .png) == bitmap.pngData())
    #expect(try bitmap.data(encodedBy: .jpeg()) == bitmap.jpegData(quality: 0.9))
    #expect(try bitmap.jpegData().starts(with: [0xFF, 0xD8, 0xFF]))
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
