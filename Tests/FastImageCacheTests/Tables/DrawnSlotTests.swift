import Pixels
import TableStore
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A drawn slot", .timeLimit(.minutes(10)))
struct DrawnSlotTests {
  @Test("has nothing of the image that its memory had before, behind a smaller one")
  func smallerImage() async throws {
    let fixture = try await Fixture([.large])
    let table = try #require(fixture.cache.tables[.large])
    func slot(_ id: ImageID, _ size: PixelSize) throws -> SealedSlot {
      let key = ImageKey(entity: id, version: id, format: ImageFormat.large.name)
      return try table.drawSlot(for: key, size: size) { bytes, _ in
        for index in bytes.indices { bytes[index] = 9 }
      }
    }
    // Its memory goes back to the pool at once.
    _ = try slot("a", ImageFormat.large.size)
    let size = PixelSize(width: 3, height: 2)
    let small = TableEntry(keepingPrivate: try slot("b", size))
    let count = PixelLayout(for: size, format: ImageFormat.large.pixelFormat).byteCount
    small.withPixels { pixels in
      #expect(pixels[..<count].allSatisfy { $0 == 9 })
      #expect(pixels.count > count && pixels[count...].allSatisfy { $0 == 0 })
    }
  }
}
