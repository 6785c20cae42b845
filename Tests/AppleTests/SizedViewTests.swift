import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import SwiftUI
import Testing

// Inside, since all of them share the list of animations.
extension SwiftUITests {
  @MainActor @Suite("without a format") struct SizedViewTests {
    private static let small = ImageFormat(
      name: "small", family: "photos", size: .exact(PixelSize(width: 40, height: 40)),
      pixelFormat: .bgrx32, capacity: 8)
    private static let large = ImageFormat(
      name: "large", family: "photos", size: .exact(PixelSize(width: 120, height: 120)), scale: 2,
      pixelFormat: .bgrx32, capacity: 8)
    private static let other = ImageFormat(
      name: "other", family: "icons", size: .exact(PixelSize(width: 20, height: 20)),
      pixelFormat: .bgrx32, capacity: 8)
    private static let (stored, missing) = (
      URL(filePath: "/photos/0.jpg"), URL(filePath: "/photos/1.jpg")
    )

    private let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
    private let cache: ImageCache
    private let screen = Screen()

    init() throws {
      cache = try ImageCache.filled(
        with: [Self.stored], formats: [Self.small, Self.large, Self.other], source: source)
      Screen.animations = []
    }

    private func draw(_ url: URL?, family: String? = "photos", side: CGFloat, scale: CGFloat = 1) {
      screen.displayScale = scale
      screen.draw(
        CachedImageView(url, family: family, contentMode: .fill) { Color.gray }
          .frame(width: side, height: side).imageCache(cache))
    }

    @Test("shows the smallest format that fills it in its first body, in its own size")
    func choosesFormat() {
      draw(Self.stored, side: 40)
      #expect(screen.image?.width == 40 && screen.items.first?.contentMode == .fill)
      #expect(screen.items.first?.size == CGSize(width: 40, height: 40))
      draw(Self.stored, side: 41)
      #expect(screen.image?.width == 120)
      draw(Self.stored, side: 20, scale: 3)
      #expect(screen.image?.width == 120)
      draw(Self.stored, family: nil, side: 20)
      #expect(screen.image?.width == 20)
      #expect(!screen.isOutdated && Screen.animations.isEmpty)
    }

    @Test("of a URL alone takes what is proposed, fits the image in, and has no label")
    func takesURL() {
      screen.draw(CachedImageView(Self.stored).imageCache(cache))
      #expect(screen.image?.width == 120 && screen.items.first?.contentMode == .fit)
      #expect(screen.items.first?.size == screen.proposed && screen.items.first?.label == nil)
    }

    @Test("shows its placeholder without an entity, without area and without a cache")
    func showsPlaceholder() async throws {
      draw(nil, side: 40)
      #expect(screen.image == nil && screen.items.count == 1)
      draw(Self.missing, side: 0)
      #expect(screen.image == nil && screen.items.count == 1)
      screen.draw(CachedImageView(Self.stored))
      #expect(screen.image == nil && screen.items.count == 1)
      #expect(source.loadCount() == 0)
    }

    @Test("keeps its image until that of another format is there when its size changes")
    func changesSize() async throws {
      try await cache.removeImage(for: Self.stored, format: Self.large)
      draw(Self.stored, side: 40)
      draw(Self.stored, side: 100)
      #expect(screen.image?.width == 40)
      try await waits { screen.isOutdated }
      draw(Self.stored, side: 100)
      #expect(screen.image?.width == 120)
    }

    @Test("lays a view for failures over the placeholder")
    func showsFailure() async throws {
      source.setFailure(Offline(), for: Self.missing)
      let draw = {
        screen.draw(
          CachedImageView(Self.missing, family: "photos") {
            Text("placeholder")
          } failure: {
            Text("failed")
          }.imageCache(cache))
      }
      draw()
      #expect(screen.items.map(\.label) == ["placeholder"])
      // Another suite may have all places ask again just now.
      try await waits {
        draw()
        return screen.items.map(\.label) == ["placeholder", "failed"]
      }
    }

    @Test("tells its content which part of the bytes has arrived")
    func tellsFraction() async throws {
      source.holdLoads()
      let cache = try ImageCache.filled(
        with: [URL](), formats: [Self.small],
        source: ClosureImageSource { [source] request in
          request.report(ImageSourceProgress(receivedByteCount: 30, expectedByteCount: 120))
          return try await source.response(to: request)
        })
      let draw = {
        screen.draw(
          CachedImageView(Self.missing, label: nil) { phase in
            if case .loading(let part) = phase {
              Text("\(part)")
            } else if let image = phase.image {
              image.resizable()
            } else {
              Color.gray
            }
          }.imageCache(cache))
      }
      draw()
      #expect(screen.items.first?.label == nil)
      try await waits { screen.isOutdated }
      draw()
      #expect(screen.items.first?.label == "0.25")
      source.releaseLoads()
      try await waits {
        draw()
        return screen.image != nil
      }
    }

    @Test("has its load go on when it disappears, if it is told so")
    func keepsLoading() async throws {
      source.holdLoads()
      screen.draw(CachedImageView(Self.missing).onDisappear(.keepLoading).imageCache(cache))
      try await source.hasBegunLoads()
      screen.disappear()
      source.releaseLoads()
      try await waits { cache.containsImage(for: Self.missing, format: Self.large) }
      #expect(source.cancellationCount() == 0)
    }

    // MARK: As AsyncImage

    @Test("that reads like AsyncImage shows the largest format, or the one that is given")
    func showsAsyncImage() {
      screen.draw(CachedAsyncImage(url: Self.stored).imageCache(cache))
      #expect(screen.image?.width == 120 && screen.items.first?.size == nil)
      screen.draw(
        CachedAsyncImage(url: Self.stored, scale: 3, format: Self.small).imageCache(cache))
      #expect(screen.image?.width == 40)
      screen.draw(CachedAsyncImage(url: nil, scale: 2).imageCache(cache))
      #expect(screen.image == nil && screen.items.count == 1)
      screen.draw(
        CachedAsyncImage(url: Self.stored) {
          $0.resizable()
        } placeholder: {
          Color.red
        }
        .imageCache(cache))
      #expect(screen.image?.width == 120 && !screen.isOutdated)
    }

    @Test(
      "that reads like AsyncImage has its phases, and its transaction for an image that was loaded"
    )
    func hasPhases() async throws {
      source.setFailure(Offline(), for: URL(filePath: "/photos/2.jpg"))
      let draw = { (url: URL) in
        screen.draw(
          CachedAsyncImage(
            url: url, scale: 2, transaction: Transaction(animation: .easeIn(duration: 1))
          ) { phase in
            switch phase {
            case .success(let image): image.resizable()
            case .failure(let error): Text(error is ImageCacheError ? "failed" : "unknown")
            case .empty: Text("empty")
            }
          }.imageCache(cache))
      }
      draw(Self.missing)
      #expect(screen.items.map(\.label) == ["empty"])
      try await waits { screen.isOutdated }
      #expect(Screen.animations == [.easeIn(duration: 1)])
      draw(Self.missing)
      #expect(screen.image?.width == 120)
      try await waits {
        draw(URL(filePath: "/photos/2.jpg"))
        return screen.items.map(\.label) == ["failed"]
      }
    }
  }
}
