import FastImageCache
import FastImageCacheTesting
import Foundation
import Testing
import os

@Suite("The system's log", .timeLimit(.minutes(10)))
struct SystemLogTests {
  @Test(
    "has what happens in every cache by category, and loads as intervals, until it is told to stop")
  func logs() async throws {
    let format = ImageFormat(
      name: "logged", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32,
      capacity: 4)
    let cache = try ImageCache.filled(
      with: [URL](), formats: [format],
      source: ScriptedImageSource { .bitmap(try .sample(ImageID($0))) })
    let log = ImageCache.logEvents()
    _ = try await cache.image(for: URL(filePath: "/photos/1.jpg"), format: format)
    // Other suites log, too.
    func places() -> [String] {
      _SystemLog.entries.filter { $0.text.contains("logged") }.map(\.place)
    }
    while !places().contains(where: { $0.contains("end load") }) {
      try Task.checkCancellation()
      await Task.yield()
    }
    let begin = try #require(places().first { $0.contains("begin load") })
    #expect(begin.hasPrefix("FastImageCache/loads"))
    #expect(places().contains(begin.replacing("begin", with: "end")))
    #expect(places().contains("FastImageCache/requests debug"))
    #expect(places().contains("FastImageCache/requests info"))
    #expect(places().contains("FastImageCache/tables debug"))
    #expect(_SystemLog.entries.contains { $0.place == "FastImageCache/loads event step" })
    log.cancel()
    await log.value
    let count = places().count
    _ = try await cache.image(for: URL(filePath: "/photos/2.jpg"), format: format)
    #expect(places().count == count)
  }
}
