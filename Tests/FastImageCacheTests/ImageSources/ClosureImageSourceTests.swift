import FastImageCache
import Foundation
import Testing

@Suite("A closure source", .timeLimit(.minutes(10)))
struct ClosureImageSourceTests {
  @Test("brings a bitmap as it is")
  func bitmap() async throws {
    let layout = try #require(
      PixelLayout(size: PixelSize(width: 2, height: 2), format: .gray8))
    let source = ClosureImageSource { _ in
      .bitmap(try Bitmap(layout: layout) { $0.initializeMemory(as: UInt8.self, repeating: 7) })
    }
    let request = ImageSourceRequest(url: try #require(URL(string: "photo:1")))
    let response = try await source.response(to: request)
    #expect(response.bitmap?.size == PixelSize(width: 2, height: 2))
    #expect(response.encodedData == nil)
  }
}
