import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import SwiftUI
import Testing

// Inside, since all of them share the list of animations.
extension SwiftUITests {
  @MainActor @Suite("with an overlay") struct OverlayTests {
    private let fixture: ViewFixture
    private let screen = Screen()
    init() throws { fixture = try ViewFixture() }

    private func draw(_ number: Int?, isShown: Bool = true) -> String? {
      screen.draw(
        CachedImageView(
          number.map(ViewFixture.photo), format: fixture.format, label: Text("Photograph")
        ) { Color.gray }
        .imageCache(fixture.cache).imageCacheOverlay(isShown))
      guard screen.items.count == 2, case .text(let text) = screen.items[1].content else {
        return nil
      }
      return text
    }

    @Test("says where its image came from")
    func saysOrigin() async throws {
      #expect(draw(0)?.hasPrefix("table\ncell 40x20") == true)
      #expect(draw(0, isShown: false) == nil && screen.image != nil)
      #expect(draw(nil) == "no entity")
      #expect(draw(2)?.hasSuffix("loading") == true)
      try await waits { draw(2)?.hasPrefix("source\ncell 40x20") == true }
      fixture.source.setFailure(Offline(), for: ViewFixture.photo(3))
      try await waits { draw(3)?.contains("Offline") == true }
    }
  }
}
