import FastImageCache
import FastImageCacheTesting
import Foundation
import SwiftUI
import Synchronization
import Testing

@testable import GalleryUI

extension SwiftUITests {
  @MainActor @Suite("in the gallery of the examples")
  struct GalleryExampleTests {
    private let photo = URL(filePath: "/photos/0.jpg")
    private let sticker = URL(filePath: "/stickers/1.png")
    private let line = SlowLine(ScriptedImageSource { .bitmap(try .sample(ImageID($0))) })
    private let screen = Screen()
    private let cache: ImageCache
    private let gallery: Gallery

    init() throws {
      var configuration = ImageCache.Configuration()
      configuration.source = line
      cache = try ImageCache.inMemory(formats: ImageFormat.gallery, configuration: configuration)
      gallery = Gallery(photos: [photo], stickers: [sticker], cache: cache, line: line)
      draw()
    }

    private var isSlow: Bool { line.isSlow.load(ordering: .relaxed) }

    private func draw() {
      screen.draw(gallery)
      screen.appear()
    }

    private func tap(_ label: String) {
      screen.tap(label)
      draw()
    }

    private func shows(_ file: URL, _ format: ImageFormat) async throws {
      try await waits {
        draw()
        guard case .image(let image)? = screen.items.last?.content else { return false }
        return screen.items.last?.label == file.lastPathComponent
          && image.width == cache.cachedImage(for: file, format: format)?.size.width
      }
    }

    @Test("switches pixel formats, enlarges, plays stickers, empties its tables and slows down")
    func obeys() async throws {
      try await shows(photo, .cell(.bgrx32))
      #expect(cache.cachedFormats(for: photo).map(\.name) == ["cell-bgrx32"])
      tap("8 gray")
      try await shows(photo, .cell(.gray8))
      let page = try #require(cache.formats.first { $0.name == "screen" })
      let count = screen.items.count
      tap("0.jpg")
      #expect(screen.items.count == count + 1)
      try await shows(photo, page)
      tap("0.jpg")
      #expect(screen.items.count == count)
      tap("Stickers")
      try await shows(sticker, .sticker)
      tap("Reset")
      try await waits { cache.cachedFormats(for: photo).isEmpty }
      try await shows(sticker, .sticker)
      tap("Slow network")
      #expect(isSlow)
      tap("Slow network")
      #expect(!isSlow)
    }
  }
}
