import AppKit
import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import SwiftUI
import Testing
import UIKit

// Inside, since all of them share the list of animations.
extension SwiftUITests {
  @MainActor @Suite("or of another toolkit, for an entity with a hash,") struct HashTests {
    private struct Post: ImageEntity {
      let number: Int
      var hash: PlaceholderHash? = .blurHash("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
      var imageID: ImageID { ImageID(number) }
      func sourceURL(for format: ImageFormat) -> URL? { ViewFixture.photo(number) }
      var placeholderHash: PlaceholderHash? { hash }
    }

    private let fixture: ViewFixture
    private let expected: [UInt8]

    init() throws {
      fixture = try ViewFixture()
      fixture.source.holdLoads()
      let hash = try #require(Post(number: 2).hash)
      expected = try hash.makeBitmap(proportions: fixture.format.size).withUnsafeBytes { Array($0) }
    }

    private func isHash(_ image: CGImage?) -> Bool {
      image?.width == 32 && image?._bgra == expected
    }

    @Test("shows the hash in the first frame of SwiftUI, until the image is there")
    func showsHashInSwiftUI() async throws {
      let screen = Screen()
      let draw = { (post: Post) in
        screen.draw(
          CachedImageView(post, format: fixture.format, label: Text("Post")) { Color.gray }
            .imageCache(fixture.cache))
      }
      draw(Post(number: 2))
      #expect(isHash(screen.image) && screen.items.first?.label == "Post")
      let first = screen.image
      draw(Post(number: 2))
      #expect(screen.image === first)
      draw(Post(number: 3, hash: .blurHash("LGF5]+Yk^6#M@-5c,1J5@[or[Q6.")))
      #expect(screen.image?.width == 32 && !isHash(screen.image))
      draw(Post(number: 4, hash: nil))
      #expect(screen.image == nil)
      draw(Post(number: 2))
      #expect(isHash(screen.image))
      try await fixture.source.hasBegunLoads(of: ViewFixture.photo(2))
      fixture.source.releaseLoads()
      try await waits { screen.isOutdated }
      draw(Post(number: 2))
      #expect(screen.image?.width == 40)
      screen.forget()
    }

    @Test("shows the hash when the call returns in UIKit and AppKit, in the size of the image")
    func showsHashInViews() async throws {
      let (ui, ns) = (UIImageView(), NSImageView())
      let placeholder = TestedUIView.placeholder()
      ui.setImage(
        of: Post(number: 2), format: fixture.format, from: fixture.cache, placeholder: placeholder)
      ns.setImage(of: Post(number: 2), format: fixture.format, from: fixture.cache)
      #expect(isHash(ui.image?.cgImage) && isHash(ns.image?._cgImage))
      #expect(ui.image?.size == CGSize(width: 20, height: 10))
      #expect(ns.image?.size == NSSize(width: 20, height: 10))
      ui.setImage(
        of: Post(number: 3, hash: nil), format: fixture.format, from: fixture.cache,
        placeholder: placeholder)
      #expect(ui.image === placeholder)
      ui.setImage(of: Post(number: 2), format: fixture.format, from: fixture.cache)
      fixture.source.releaseLoads()
      try await waits { ui.image?.cgImage?.width == 40 && ns.image?._cgImage.width == 40 }
      ui.cancelImage()
      ns.cancelImage()
    }
  }
}
