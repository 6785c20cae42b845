import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing

@Suite("A CGImage of a cached image", .timeLimit(.minutes(10)))
struct MappedImageTests {
  private static func format(_ pixelFormat: PixelFormat) -> ImageFormat {
    ImageFormat(
      name: "\(pixelFormat)", size: .exact(PixelSize(width: 33, height: 17)),
      pixelFormat: pixelFormat,
      capacity: 4)
  }

  @Test(
    "is over the slot's own bytes, whose order CoreGraphics understands",
    arguments: [PixelFormat.bgra32, .bgrx32, .bgr16, .gray8])
  func isMapped(pixelFormat: PixelFormat) throws {
    let (photo, format) = (URL(filePath: "/photo"), Self.format(pixelFormat))
    let cache = try ImageCache.filled(with: [photo], formats: [format])
    let cached = try #require(cache.cachedImage(for: photo, format: format))
    let image = try #require(cached.makeCGImage())

    #expect(image.width == 33 && image.height == 17)
    #expect(image.bytesPerRow == cached.layout.rowBytes)
    let address = cached.withPixels { pixels in
      pixels.withUnsafeBytes { $0.baseAddress }
    }
    #expect(image.dataProvider?._start == address)
    // The colours, as another way from the same slot shows them.
    let reference = try #require(CGImage(_bitmap: Bitmap(decoding: cached.pngData())))
    let pairs = zip(image._bgra, reference._bgra)
    #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
  }

  @Test("has the colour space of the format", arguments: ColorSpace.allCases)
  func hasColorSpace(space: ColorSpace) throws {
    let photo = URL(filePath: "/photo")
    let format = ImageFormat(
      name: "wide", size: .exact(PixelSize(width: 33, height: 17)), capacity: 4, colorSpace: space)
    let cache = try ImageCache.filled(with: [photo], formats: [format])
    let cached = try #require(cache.cachedImage(for: photo, format: format))
    let image = try #require(cached.makeCGImage())
    let name = space == .sRGB ? CGColorSpace.sRGB : CGColorSpace.displayP3
    #expect(image.colorSpace?.name == name)
    // The file, too, and the way back.
    let again = try Bitmap(decoding: cached.pngData(), colorSpace: space)
    #expect(again.colorSpace == space)
    let pairs = zip(image._bgra, try #require(CGImage(_bitmap: again))._bgra)
    #expect(pairs.allSatisfy { abs(Int($0) - Int($1)) <= 1 })
  }

  @Test("holds the lease until it is released")
  func holdsLease() async throws {
    let (photo, format) = (URL(filePath: "/photo"), Self.format(.bgra32))
    let cache = try ImageCache.filled(with: [photo], formats: [format])
    func leaseCount() async -> Int { await cache.statistics().tables[0].leasedCount }
    var image = cache.cachedImage(for: photo, format: format)?.makeCGImage()
    #expect(image != nil)
    #expect(await leaseCount() == 1)
    image = nil
    #expect(await leaseCount() == 0)
  }
}

extension CGImage {
  fileprivate convenience init?(_bitmap bitmap: Bitmap) {
    let bytes = bitmap.withUnsafeBytes { bytes in
      (0..<bitmap.size.height).flatMap { y in
        bytes[y * bitmap.layout.rowBytes..<y * bitmap.layout.rowBytes + bitmap.size.width * 4]
      }
    }
    self.init(
      _bgra: bytes, width: bitmap.size.width, height: bitmap.size.height,
      hasAlpha: bitmap.layout.format == .bgra32)
  }
}
