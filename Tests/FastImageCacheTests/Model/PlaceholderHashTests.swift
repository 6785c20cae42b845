import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A placeholder's hash", .timeLimit(.minutes(10)))
struct PlaceholderHashTests {
  private struct Post: ImageEntity {
    let imageID: ImageID = "post"
    let placeholderHash: PlaceholderHash?
    func sourceURL(for format: ImageFormat) -> URL? { nil }
  }

  @Test("is an entity's, where it has one")
  func belongsToEntity() {
    let post: any ImageEntity = Post(placeholderHash: .blurHash("00OZZy"))
    #expect(post.placeholderHash == .blurHash("00OZZy"))
    #expect(URL(fileURLWithPath: "/pictures/1").placeholderHash == nil)
  }

  @Test("is drawn in the proportions of its place, or in its own, with 32 pixels on the longer side")
  func draws() throws {
    let blur = PlaceholderHash.blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    let data = try #require(Data(base64Encoded: "2fcZFIB3iId/h3iJh4aIYJ2V8g=="))
    for (place, size) in [
      (PixelSize(width: 600, height: 300), PixelSize(width: 32, height: 16)),
      (PixelSize(width: 1, height: 5000), PixelSize(width: 1, height: 32)),
      (PixelSize(width: 8, height: 4), PixelSize(width: 32, height: 16)),
      (PixelSize(width: .max, height: .max), PixelSize(width: 32, height: 32)),
    ] {
      #expect(try blur.makeBitmap(proportions: place).size == size)
      #expect(
        try PlaceholderHash.thumbHash(data).makeBitmap(proportions: place).size
          == PixelSize(width: 32, height: 18))
    }
  }

  @Test("without sense, or for no place, is an error")
  func refuses() {
    let place = PixelSize(width: 4, height: 4)
    for hash in [PlaceholderHash.blurHash("LEHV"), .thumbHash(Data([1, 2]))] {
      #expect(throws: BitmapError.self) { try hash.makeBitmap(proportions: place) }
    }
    let none = PixelSize(width: 0, height: 4)
    #expect(throws: BitmapError.invalidSize(none)) {
      try PlaceholderHash.blurHash("00OZZy").makeBitmap(proportions: none)
    }
  }

  @Test("is made of a bitmap")
  func measures() throws {
    let bitmap = try Bitmap(size: PixelSize(width: 300, height: 200), format: .gray8) { bytes, _ in
      bytes.initializeMemory(as: UInt8.self, repeating: 100)
    }
    let hash = try bitmap.thumbHash()
    #expect((5...30).contains(hash.count))
    let drawn = try PlaceholderHash.thumbHash(hash)
      .makeBitmap(proportions: PixelSize(width: 1, height: 1))
    let gray = drawn.withPixels { $0.unsafeLoad(as: UInt8.self) }
    #expect(abs(Int(gray) - 100) <= 3 && drawn.size == PixelSize(width: 32, height: 23))
  }
}
