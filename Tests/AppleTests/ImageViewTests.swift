import AppKit
import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import Network
import Testing
import UIKit

/// The views of both toolkits, which have to behave alike.
@MainActor protocol TestedView: AnyObject {
  associatedtype Native: AnyObject
  init()
  func setImage<Entity: ImageEntity>(
    of entity: Entity?, format: ImageFormat, from cache: ImageCache, placeholder: Native?,
    failureImage: Native?, fade: TimeInterval, options: LoadOptions?, completion: ImageCompletion?
  ) -> ShownFrom
  func loadImage(
    of entity: some ImageEntity, format: ImageFormat, from cache: ImageCache, placeholder: Native?,
    failureImage: Native?, fade: TimeInterval, options: LoadOptions?
  ) async throws(ImageCacheError) -> CachedImage
  func setImage(
    _ image: CachedImage, of entity: some ImageEntity, format: ImageFormat, from cache: ImageCache,
    fade: TimeInterval)
  func cancelImage(_ behavior: DisappearBehavior)
  var showsImageIndicator: Bool { get set }
  var isIndicating: Bool? { get }
  var image: Native? { get set }
  var shown: CGImage? { get }
  var fades: [TimeInterval] { get }
  static func placeholder() -> Native?
}
extension TestedView {
  func cancelImage() { cancelImage(.cancel) }
}

/// Each with transitions of its own, since `UIView` notes those of all views.
final class TestedUIView: UIImageView, TestedView {
  override init() {
    start = UIView._transitions.count
    super.init()
  }
  private let start: Int
  var shown: CGImage? { image?.cgImage }
  var isIndicating: Bool? {
    subviews.lazy.compactMap { $0 as? UIActivityIndicatorView }.first?.isAnimating
  }
  var fades: [TimeInterval] { Array(UIView._transitions[start...]) }
  static func placeholder() -> UIImage? {
    CGImage(_bgra: [1, 2, 3, 255], width: 1, height: 1, hasAlpha: false).map {
      UIImage(cgImage: $0, scale: 1, orientation: .up)
    }
  }
}

final class TestedNSView: NSImageView, TestedView {
  var shown: CGImage? { image?._cgImage }
  var isIndicating: Bool? {
    subviews.lazy.compactMap { $0 as? NSProgressIndicator }.first?._isAnimating
  }
  var fades: [TimeInterval] { layer?._animations.map(\.duration) ?? [] }
  static func placeholder() -> NSImage? {
    CGImage(_bgra: [1, 2, 3, 255], width: 1, height: 1, hasAlpha: false).map {
      NSImage(cgImage: $0, size: NSSize(width: 1, height: 1))
    }
  }
}

// One at a time: they share the list of transitions, and the list of places.
@MainActor @Suite("An image view of", .serialized, .timeLimit(.minutes(10)))
struct ImageViewTests {
  enum Toolkit: CaseIterable {
    case uiKit, appKit
    @MainActor var view: any TestedView {
      self == .uiKit ? TestedUIView() : TestedNSView()
    }
  }

  private let fixture: ViewFixture
  init() throws { fixture = try ViewFixture() }

  private func show(
    _ number: Int?, in view: some TestedView, fade: TimeInterval = 0
  ) -> ShownFrom { show(number, in: view, placeholder: nil, fade: fade) }

  private func show<View: TestedView>(
    _ number: Int?, in view: View, placeholder: View.Native?, fade: TimeInterval = 0
  ) -> ShownFrom {
    view.setImage(
      of: number.map(ViewFixture.photo), format: fixture.format, from: fixture.cache,
      placeholder: placeholder, failureImage: nil, fade: fade, options: nil, completion: nil)
  }

  @Test("a toolkit has a hit when the call returns, over the table's own bytes, and not faded")
  func showsHit() async throws {
    for toolkit in Toolkit.allCases {
      let view = toolkit.view
      #expect(show(0, in: view, fade: 1) == .table)
      #expect(fixture.isImage(0, view.shown) && view.fades.isEmpty)
      #expect(await fixture.leaseCount == 1)
      view.cancelImage()
      #expect(view.shown == nil)
      #expect(await fixture.leaseCount == 0)
    }
  }

  @Test("a toolkit has the placeholder until the image is loaded, and fades that in")
  func showsMiss() async throws {
    try await check(2, in: TestedUIView())
    try await check(3, in: TestedNSView())
  }

  private func check<View: TestedView>(_ number: Int, in view: View) async throws {
    let placeholder = try #require(View.placeholder())
    #expect(show(number, in: view, placeholder: placeholder, fade: 0.25) == .load)
    #expect(view.image === placeholder && view.fades.isEmpty)
    try await waits { view.image !== placeholder }
    #expect(fixture.isImage(number, view.shown) && view.fades == [0.25])
    #expect(show(number, in: view, placeholder: placeholder, fade: 0.25) == .table)
    #expect(view.fades == [0.25])
    view.cancelImage()
    try await fixture.isReleased()
  }

  @Test("a toolkit shows another placeholder, and the placeholder for no entity")
  func changesPlaceholder() throws {
    fixture.source.holdLoads()
    let view = TestedUIView()
    let (first, second) = (TestedUIView.placeholder(), TestedUIView.placeholder())
    #expect(show(2, in: view, placeholder: first) == .load)
    #expect(show(2, in: view, placeholder: second) == .load)
    #expect(view.image === second)
    #expect(show(0, in: view, placeholder: first) == .table)
    #expect(show(nil, in: view, placeholder: first) == .nowhere)
    #expect(view.image === first)
  }

  @Test("a toolkit that is reused shows what was asked for last, whatever comes late")
  func isReused() async throws {
    for toolkit in Toolkit.allCases {
      let view = toolkit.view
      let number = toolkit == .uiKit ? 4 : 5
      #expect(show(number, in: view) == .load)
      // The main thread waits here, so the late image's delivery comes after the reuse.
      while !fixture.cache.containsImage(for: ViewFixture.photo(number), format: fixture.format) {
        sched_yield()
      }
      #expect(show(1, in: view) == .table)
      try await waits { await fixture.leaseCount == 1 }
      #expect(fixture.isImage(1, view.shown))
      view.cancelImage()
    }
  }

  @Test("a toolkit gives up its load when it is reused, ended or gone")
  func givesUp() async throws {
    fixture.source.holdLoads()
    for toolkit in Toolkit.allCases {
      var view: (any TestedView)? = toolkit.view
      if let view {
        #expect(show(6, in: view) == .load)
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(6))
        _ = show(0, in: view)
        try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(6))
        _ = show(7, in: view)
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(7))
        view.cancelImage()
        try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(7))
        _ = show(8, in: view)
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(8))
      }
      view = nil
      try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(8))
      #expect(await fixture.leaseCount == 0)
    }
  }

  @Test("a toolkit asks again for what failed when the network is back, or when told to")
  func retries() async throws {
    _ = show(0, in: TestedUIView())
    let monitor = try #require(NWPathMonitor._started.first)
    for (number, isOfNetwork) in [(9, true), (10, false)] {
      fixture.source.setFailure(Offline(), for: ViewFixture.photo(number))
      let view = TestedNSView()
      let events = fixture.cache.events()
      #expect(show(number, in: view) == .load)
      for await event in events { if case .failed = event { break } }
      monitor._report(.unsatisfied)
      fixture.source.setImage(.bitmap(try .sample(ImageID(number))), for: ViewFixture.photo(number))
      try await waits {
        isOfNetwork ? monitor._report(.satisfied) : ImageCache.retryFailedImages()
        monitor._report(.unsatisfied)
        return view.shown != nil
      }
      view.cancelImage()
    }
  }

  @Test("a toolkit hears that the user saves data, and when no more")
  func hearsOfDataSaving() async throws {
    _ = show(0, in: TestedUIView())
    let monitor = try #require(NWPathMonitor._started.first)
    // Another suite may have places ask for smaller images just now.
    try await waits { !ImagePlace.savesData }
    monitor._report(.satisfied, isConstrained: true)
    #expect(ImagePlace.savesData)
    monitor._report(.satisfied)
    #expect(!ImagePlace.savesData)
  }

  @Test("a toolkit looks again when it is told that its entity's image changed")
  func looksAgain() async throws {
    for toolkit in Toolkit.allCases {
      let view = toolkit.view
      #expect(show(0, in: view, fade: 1) == .table)
      try await fixture.cache.store(.sample(20), for: ViewFixture.photo(0), format: fixture.format)
      #expect(!fixture.isImage(0, view.shown))
      fixture.cache.reloadViews(of: ViewFixture.photo(1))
      #expect(!fixture.isImage(0, view.shown))
      fixture.cache.reloadViews(of: ViewFixture.photo(0))
      #expect(fixture.isImage(0, view.shown) && view.fades.isEmpty)
      try await fixture.cache.store(.sample(21), for: ViewFixture.photo(0), format: fixture.format)
      fixture.cache.reloadAllViews()
      #expect(fixture.isImage(0, view.shown))
      #expect(await fixture.leaseCount == 1)
      view.cancelImage()
      fixture.cache.reloadAllViews()
      #expect(view.shown == nil)
    }
  }

  @Test("UIKit and AppKit has an image of the image's size in points")
  func hasPoints() throws {
    let image = try #require(
      fixture.cache.cachedImage(for: ViewFixture.photo(0), format: fixture.format))
    #expect(UIImage(image)?.size == CGSize(width: 20, height: 10))
    #expect(UIImage(image)?.scale == 2)
    #expect(NSImage(image)?.size == NSSize(width: 20, height: 10))
  }
}
