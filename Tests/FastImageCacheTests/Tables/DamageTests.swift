import Foundation
import Pixels
import TestSupport
import Testing

@testable import FastImageCache
@testable import TableStore

@Suite("An image damaged on disk", .timeLimit(.minutes(10)))
struct DamageTests {
  @Test("is told of, counted, and loaded anew")
  func isTold() async throws {
    let directory = try TemporaryDirectory()
    let photo = Photo("a", url: "test:/5")
    let first = try await Fixture(directory: directory)
    _ = try await first.cache.image(for: photo, format: .row)
    await first.cache.close()
    let folder = first.cache.directory
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let name = try #require(names.first { $0.hasSuffix(".imagetable") })
    let file = folder.appendingPathComponent(name)
    var bytes = try Data(contentsOf: file)
    // The last byte is in the only image's trailer.
    bytes[bytes.count - 1] ^= 1
    try bytes.write(to: file)

    let second = try await Fixture(directory: directory)
    let events = second.cache.events()
    #expect(try await second.cache.image(for: photo, format: .row).solidNumber == 5)
    #expect(second.source.started.value == 1)
    let table = try #require(await second.cache.statistics().tables.first)
    #expect(table.damageCount == 1 && table.entryCount == 1)
    await second.cache.close()
    var damaged: [String] = []
    for await case .damaged(let entity, let format) in events {
      damaged.append("\(entity.map { "\($0)" } ?? "unknown") \(format)")
    }
    #expect(damaged == ["a row"])
  }
}

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
