import FastImageCache
import FastImageCacheTesting
import Foundation
import ImageDrawing
import Testing

@testable import ImageViewing

@Suite("The placeholder of an entity with a hash")
struct HashedPlaceholderTests {
  private struct Post: ImageEntity {
    var hash: PlaceholderHash?
    var drawing = Drawing.aspectFill
    let imageID: ImageID = 1
    func sourceURL(for format: ImageFormat) -> URL? { URL(filePath: "/photos/1.jpg") }
    func drawing(for format: ImageFormat) -> Drawing { drawing }
    var placeholderHash: PlaceholderHash? { hash }
  }

  /// Wide: 32 x 18 pixels, red on the left and blue on the right. A hash rounds proportions.
  private static func wide() throws -> (hash: PlaceholderHash, bitmap: Bitmap) {
    let size = PixelSize(width: 64, height: 32)
    let image = try Bitmap(size: size, format: .bgrx32) { bytes, layout in
      for y in 0..<size.height {
        for x in 0..<size.width {
          let start = y * layout.rowBytes + x * 4
          bytes[start + (x < 32 ? 2 : 0)] = 255
        }
      }
    }
    let hash = PlaceholderHash.thumbHash(try image.thumbHash())
    return (hash, try hash.makeBitmap(proportions: size))
  }

  private func placeholder(_ post: Post, _ size: ImageFormat.Size) throws -> HashedPlaceholder? {
    let format = ImageFormat(name: "format", size: size, pixelFormat: .bgrx32, capacity: 4)
    let cache = try ImageCache.inMemory(formats: [format])
    return ImagePlace.Request(post, format: format, cache: cache).makePlaceholder()
  }

  private func row(_ bitmap: Bitmap) -> [UInt8] {
    bitmap.withUnsafeBytes { Array($0.prefix(bitmap.size.width * 4)) }
  }

  @Test("is cut as the image is")
  func isCut() throws {
    let (hash, whole) = try Self.wide()
    #expect(whole.size == PixelSize(width: 32, height: 18))
    let slot = PixelSize(width: 200, height: 200)
    let middle = try #require(try placeholder(Post(hash: hash), .exact(slot)))
    #expect(middle.bitmap.size == PixelSize(width: 18, height: 18) && middle.size == slot)
    #expect(row(middle.bitmap) == Array(row(whole)[28..<100]))
    let drawing = Drawing.aspectFill(alignment: Drawing.Alignment(x: 1, y: 0))
    let right = try #require(
      try placeholder(Post(hash: hash, drawing: drawing), .exact(slot)))
    #expect(row(right.bitmap) == Array(row(whole)[56...]))
  }

  @Test("keeps its proportions where the image does")
  func keepsProportions() throws {
    let (hash, whole) = try Self.wide()
    for (slot, size) in [((400, 400), (400, 225)), ((100, 40), (71, 40)), ((10, 10), (10, 6))] {
      let limit = PixelSize(width: slot.0, height: slot.1)
      let shown = try #require(try placeholder(Post(hash: hash), .fitting(limit)))
      #expect(shown.bitmap.size == whole.size)
      #expect(shown.size == PixelSize(width: size.0, height: size.1))
    }
  }

  @Test("has the proportions of the slot where the hash has none")
  func takesProportions() throws {
    let hash = PlaceholderHash.blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let slot = PixelSize(width: 200, height: 100)
    let shown = try #require(try placeholder(Post(hash: hash), .exact(slot)))
    #expect(shown.bitmap.size == PixelSize(width: 32, height: 16) && shown.size == slot)
  }

  @Test("is missing without a hash, and where that cannot be read")
  func isMissing() throws {
    let slot = ImageFormat.Size.exact(PixelSize(width: 8, height: 8))
    #expect(try placeholder(Post(hash: nil), slot) == nil)
    #expect(try placeholder(Post(hash: .thumbHash(Data([1]))), slot) == nil)
    #expect(try placeholder(Post(hash: .blurHash("!")), slot) == nil)
  }
}
