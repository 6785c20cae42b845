import AppKit
import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import Pixels
import SwiftUI
import TestSupport
import Testing
import UIKit

// One at a time: they share the list of links.
@MainActor @Suite("An image that moves", .serialized, .timeLimit(.minutes(10)))
struct PlayingViewTests {
  private let cache: ImageCache
  private static let sticker = URL(filePath: "/stickers/1")
  private static let format = ImageFormat(
    name: "sticker", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32,
    capacity: 16, animation: .allFrames(byteLimit: 1 << 20))

  init() async throws {
    var configuration = ImageCache.Configuration()
    configuration.source = ScriptedImageSource { _ in
      .encoded(FramesDecoder.bytes(1, milliseconds: [20, 20, 20, 20]))
    }
    configuration.decoders = [
      FramesDecoder(size: PixelSize(width: 8, height: 8)) { _, index in
        try Bitmap(size: PixelSize(width: 8, height: 8), format: .bgrx32) { bytes, _ in
          for offset in stride(from: 0, to: bytes.count, by: 4) {
            bytes.storeBytes(
              of: UInt32(0xFF4D_0000 | index).littleEndian, toByteOffset: offset, as: UInt32.self)
          }
        }
      }
    ]
    cache = try ImageCache.inMemory(formats: [Self.format], configuration: configuration)
    _ = try await cache.animation(for: Self.sticker, format: Self.format)
  }

  private func frame(_ image: CGImage?) -> Int? {
    image?.dataProvider?.data.map { Int(Array($0)[0]) }
  }

  /// Waits until these frames have come one after the other. Tests of other modules may have all places begin anew.
  private func showsFrames(
    _ wanted: [Int?], of image: () -> CGImage?, _ step: () -> Void
  ) async throws {
    var frames = [frame(image())]
    try await waits {
      step()
      let frame = frame(image())
      if frame != frames.last { frames.append(frame) }
      return frames.suffix(wanted.count).elementsEqual(wanted)
    }
  }

  // MARK: UIKit and AppKit

  @Test("plays in UIKit by the updates of its window's scene")
  func playsInUIKit() async throws {
    let (scene, window) = (UIWindowScene(), UIWindow())
    window.windowScene = scene
    let linkCount = UIUpdateLink._links.count
    let views = [UIImageView(), UIImageView()]
    for view in views {
      view.setImage(of: Self.sticker, format: Self.format, from: cache)
      #expect(frame(view.image?.cgImage) == 0)
    }
    #expect(UIUpdateLink._links.count == linkCount)
    for view in views { window.addSubview(view) }
    #expect(UIUpdateLink._links.count == linkCount + 1)
    let link = try #require(UIUpdateLink._links.last)
    #expect(link.isEnabled && link.requiresContinuousUpdates)
    let update = {
      link._update()
      #expect(frame(views[0].image?.cgImage) == frame(views[1].image?.cgImage))
    }
    try await showsFrames([0, 1, 2, 3, 0], of: { views[0].image?.cgImage }, update)
    views[1]._move(to: nil)
    #expect(link.isEnabled)
    views[0].pauseImage()
    link._update()
    #expect(!link.isEnabled)
    views[0].seekImage(to: .milliseconds(45))
    #expect(frame(views[0].image?.cgImage) == 2)
    views[0].resumeImage()
    #expect(link.isEnabled)
    views[0].isImageAnimated = false
    #expect(!link.isEnabled && frame(views[0].image?.cgImage) == 0)
    views[0].isImageAnimated = true
    #expect(link.isEnabled)
    views[0].cancelImage()
    #expect(!link.isEnabled)
    views[1].cancelImage()
    withExtendedLifetime((scene, window)) {}
  }

  @Test("plays in AppKit while its window can be seen")
  func playsInAppKit() async throws {
    let window = NSWindow()
    let view = NSImageView()
    view.setImage(of: Self.sticker, format: Self.format, from: cache)
    #expect(frame(view.image?._cgImage) == 0)
    view._move(to: window)
    try await showsFrames([0, 1, 2, 3, 0], of: { view.image?._cgImage }, {})
    view.pauseImage()
    view.seekImage(to: .milliseconds(45))
    #expect(frame(view.image?._cgImage) == 2)
    window._isVisible = false
    view.resumeImage()
    window._isVisible = true
    try await showsFrames([2, 3, 0, 1, 2], of: { view.image?._cgImage }, {})
    view.cancelImage()
  }

  // MARK: SwiftUI

  @Test("plays in SwiftUI by a timeline, which is paused while nothing plays")
  func playsInSwiftUI() async throws {
    let screen = Screen()
    func draw(
      at milliseconds: Double,
      _ change: (CachedImageView<URL, CachedImageContent<Color, EmptyView>>)
        -> CachedImageView<URL, CachedImageContent<Color, EmptyView>> = { $0 }
    ) -> Int? {
      screen.date = Date(timeIntervalSinceReferenceDate: 1000 + milliseconds / 1000)
      screen.draw(
        change(
          CachedImageView(Self.sticker, format: Self.format, label: nil) { Color.gray }
        ).imageCache(cache))
      return frame(screen.image)
    }
    #expect([0, 20, 40, 60, 80].map { draw(at: $0) } == [0, 1, 2, 3, 0])
    #expect(screen.timelines == [false] && !screen.isOutdated)
    // A timeline that ends is paused by the next body.
    #expect(draw(at: 100, { $0.paused(true) }) == 0)
    try await waits { screen.isOutdated }
    #expect(draw(at: 120, { $0.paused(true) }) == 0 && screen.timelines == [true])
    #expect(draw(at: 140, { $0.paused(true).seek(to: .milliseconds(45)) }) == 2)
    #expect(draw(at: 160, { $0.seek(to: .milliseconds(45)) }) == 2)
    #expect(draw(at: 180, { $0.seek(to: .milliseconds(45)) }) == 3)
    #expect(draw(at: 200, { $0.animated(false) }) == 0 && screen.timelines == [true])
    #expect(draw(at: 220) == 0 && screen.timelines == [false])
    #expect(draw(at: 240) == 1)
    screen._reducesMotion = true
    #expect(draw(at: 260) == 0 && screen.timelines == [true])
    screen._reducesMotion = false
    screen.disappear()
    #expect(draw(at: 280) == nil && screen.timelines == [true])
  }
}
