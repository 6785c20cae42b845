import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import SwiftUI
import Testing

// One at a time: they share the list of animations.
@MainActor @Suite("A view of SwiftUI", .serialized, .timeLimit(.minutes(10)))
struct SwiftUITests {
  private let fixture: ViewFixture
  private let screen = Screen()

  init() throws {
    fixture = try ViewFixture()
    Screen.animations = []
  }

  private func draw(
    _ number: Int, label: Text? = nil, in cache: ImageCache? = nil, animation: Animation? = nil
  ) {
    screen.draw(
      CachedImageView(
        ViewFixture.photo(number), format: fixture.format, label: label, animation: animation
      ) { Color.gray }
      .imageCache(cache ?? fixture.cache))
  }

  @Test("has a hit in its first body, without onAppear, an animation or a second body")
  func showsHit() async {
    draw(0)
    #expect(fixture.isImage(0, screen.image))
    #expect(screen.items.first?.size == CGSize(width: 20, height: 10))
    #expect(!screen.isOutdated)
    screen.appear()
    #expect(!screen.isOutdated && Screen.animations.isEmpty)
    #expect(await fixture.leaseCount == 1)
  }

  @Test("shows the same image in each body")
  func keepsImage() {
    draw(0)
    let first = screen.image
    draw(0)
    #expect(first != nil && screen.image === first)
  }

  @Test("shows a placeholder until the image is loaded, and animates that")
  func showsMiss() async throws {
    draw(2, animation: .easeIn(duration: 1))
    #expect(screen.image == nil && screen.items.count == 1 && !screen.isOutdated)
    try await waits { screen.isOutdated }
    #expect(Screen.animations == [.easeIn(duration: 1)])
    draw(2, animation: .easeIn(duration: 1))
    #expect(fixture.isImage(2, screen.image))
  }

  @Test("lets its image go when it disappears, and has it again when it appears")
  func comesAndGoes() async throws {
    draw(0)
    screen.appear()
    screen.disappear()
    #expect(screen.isOutdated)
    draw(0)
    #expect(screen.image == nil && !screen.isOutdated)
    #expect(await fixture.leaseCount == 0)
    screen.appear()
    #expect(screen.isOutdated && Screen.animations.isEmpty)
    draw(0)
    #expect(fixture.isImage(0, screen.image))
  }

  @Test("gives up its load when it disappears or is forgotten")
  func givesUp() async throws {
    fixture.source.holdLoads()
    draw(3)
    try await fixture.source.hasBegunLoads(of: ViewFixture.photo(3))
    screen.disappear()
    try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(3))
    screen.forget()
    draw(4)
    try await fixture.source.hasBegunLoads(of: ViewFixture.photo(4))
    screen.forget()
    try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(4))
  }

  @Test("shows another entity's image, or another cache's, in the body that asks for it")
  func changes() throws {
    draw(0)
    draw(1)
    #expect(fixture.isImage(1, screen.image))
    let other = try ViewFixture()
    draw(1, in: other.cache)
    #expect(other.isImage(1, screen.image))
    #expect(!screen.isOutdated)
  }

  @Test("never shows what comes late for another entity")
  func dropsLateImages() async throws {
    draw(5)
    // The main thread waits here, so the late image's delivery comes after the change.
    while !fixture.cache.containsImage(for: ViewFixture.photo(5), format: fixture.format) {
      sched_yield()
    }
    draw(1)
    try await waits { await fixture.leaseCount == 1 }
    draw(1)
    #expect(fixture.isImage(1, screen.image) && Screen.animations.isEmpty)
  }

  @Test("looks again when it is told that its entity's image changed, without an animation")
  func looksAgain() async throws {
    draw(0, animation: .easeIn(duration: 1))
    try await fixture.cache.store(.sample(20), for: ViewFixture.photo(0), format: fixture.format)
    draw(0, animation: .easeIn(duration: 1))
    #expect(screen.image != nil && !fixture.isImage(0, screen.image))
    fixture.cache.reloadViews(of: ViewFixture.photo(0))
    #expect(screen.isOutdated && Screen.animations.isEmpty)
    draw(0, animation: .easeIn(duration: 1))
    #expect(fixture.isImage(0, screen.image) && !screen.isOutdated)
    #expect(await fixture.leaseCount == 1)
  }

  @Test("has its label on the placeholder and on the image, and none for decoration")
  func hasLabel() {
    fixture.source.holdLoads()
    draw(6, label: Text("Sunset"))
    #expect(screen.items.map(\.label) == ["Sunset"])
    draw(0, label: Text("Sunset"))
    #expect(screen.items.map(\.label) == ["Sunset"] && screen.image != nil)
    draw(0, label: Text("Dawn"))
    #expect(screen.items.map(\.label) == ["Dawn"])
    draw(0)
    #expect(screen.items.map(\.label) == [nil] && screen.image != nil)
  }

  @Test("tells its content of a failure, and without a cache of nothing")
  func tellsPhases() async throws {
    fixture.source.setFailure(Offline(), for: ViewFixture.photo(7))
    func draw(in cache: ImageCache?) {
      screen.draw(
        CachedImageView(ViewFixture.photo(7), format: fixture.format, label: nil) { phase in
          if case .failure = phase { Text("failed") } else { Color.gray }
        }
        .imageCache(cache))
    }
    draw(in: nil)
    #expect(screen.items.map(\.label) == [nil])
    draw(in: fixture.cache)
    // Another suite may have all places ask again just now.
    try await waits {
      draw(in: fixture.cache)
      return screen.items.map(\.label) == ["failed"]
    }
  }
}
