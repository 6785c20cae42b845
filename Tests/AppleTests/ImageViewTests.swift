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
    fade: TimeInterval, options: LoadOptions?
  ) -> ShownFrom
  func cancelImage()
  var image: Native? { get set }
  var shown: CGImage? { get }
  var fades: [TimeInterval] { get }
  static func placeholder() -> Native?
}

/// Each with transitions of its own, since `UIView` notes those of all views.
final class TestedUIView: UIImageView, TestedView {
  override init() {
    start = UIView._transitions.count
    super.init()
  }
  private let start: Int
  var shown: CGImage? { image?.cgImage }
  var fades: [TimeInterval] { Array(UIView._transitions[start...]) }
  static func placeholder() -> UIImage? {
    CGImage(_bgra: [1, 2, 3, 255], width: 1, height: 1, hasAlpha: false).map {
      UIImage(cgImage: $0, scale: 1, orientation: .up)
    }
  }
}

final class TestedNSView: NSImageView, TestedView {
  var shown: CGImage? { image?._cgImage }
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

  private let shelf: Shelf
  init() throws { shelf = try Shelf() }

  private func show(
    _ number: Int?, in view: some TestedView, fade: TimeInterval = 0
  ) -> ShownFrom { show(number, in: view, placeholder: nil, fade: fade) }

  private func show<View: TestedView>(
    _ number: Int?, in view: View, placeholder: View.Native?, fade: TimeInterval = 0
  ) -> ShownFrom {
    view.setImage(
      of: number.map(Shelf.photo), format: shelf.format, from: shelf.cache,
      placeholder: placeholder, fade: fade, options: nil)
  }

  @Test("a toolkit has a hit when the call returns, over the table's own bytes, and not faded")
  func showsHit() async throws {
    for toolkit in Toolkit.allCases {
      let view = toolkit.view
      #expect(show(0, in: view, fade: 1) == .table)
      #expect(shelf.isPicture(0, view.shown) && view.fades.isEmpty)
      #expect(await shelf.leaseCount == 1)
      view.cancelImage()
      #expect(view.shown == nil)
      #expect(await shelf.leaseCount == 0)
    }
  }

  @Test("a toolkit has the placeholder until the picture is loaded, and fades that in")
  func showsMiss() async throws {
    try await check(2, in: TestedUIView())
    try await check(3, in: TestedNSView())
  }

  private func check<View: TestedView>(_ number: Int, in view: View) async throws {
    let placeholder = try #require(View.placeholder())
    #expect(show(number, in: view, placeholder: placeholder, fade: 0.25) == .load)
    #expect(view.image === placeholder && view.fades.isEmpty)
    try await waits { view.image !== placeholder }
    #expect(shelf.isPicture(number, view.shown) && view.fades == [0.25])
    #expect(show(number, in: view, placeholder: placeholder, fade: 0.25) == .table)
    #expect(view.fades == [0.25])
    view.cancelImage()
    try await shelf.isReleased()
  }

  @Test("a toolkit shows another placeholder, and the placeholder for no entity")
  func changesPlaceholder() throws {
    shelf.source.holdLoads()
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
      while !shelf.cache.containsImage(for: Shelf.photo(number), format: shelf.format) {
        sched_yield()
      }
      #expect(show(1, in: view) == .table)
      try await waits { await shelf.leaseCount == 1 }
      #expect(shelf.isPicture(1, view.shown))
      view.cancelImage()
    }
  }

  @Test("a toolkit gives up its load when it is reused, ended or gone")
  func givesUp() async throws {
    shelf.source.holdLoads()
    for toolkit in Toolkit.allCases {
      var view: (any TestedView)? = toolkit.view
      if let view {
        #expect(show(6, in: view) == .load)
        try await shelf.source.hasBegunLoads(of: Shelf.photo(6))
        _ = show(0, in: view)
        try await shelf.source.hasCancelledLoads(of: Shelf.photo(6))
        _ = show(7, in: view)
        try await shelf.source.hasBegunLoads(of: Shelf.photo(7))
        view.cancelImage()
        try await shelf.source.hasCancelledLoads(of: Shelf.photo(7))
        _ = show(8, in: view)
        try await shelf.source.hasBegunLoads(of: Shelf.photo(8))
      }
      view = nil
      try await shelf.source.hasCancelledLoads(of: Shelf.photo(8))
      #expect(await shelf.leaseCount == 0)
    }
  }

  @Test("a toolkit asks again for what failed when the network is back, or when told to")
  func retries() async throws {
    struct Offline: Error {}
    _ = show(0, in: TestedUIView())
    let monitor = try #require(NWPathMonitor._started.first)
    for (number, isOfNetwork) in [(9, true), (10, false)] {
      shelf.source.setFailure(Offline(), for: Shelf.photo(number))
      let view = TestedNSView()
      let events = shelf.cache.events()
      #expect(show(number, in: view) == .load)
      for await event in events { if case .failed = event { break } }
      monitor._report(.unsatisfied)
      shelf.source.setImage(.bitmap(try .sample(ImageID(number))), for: Shelf.photo(number))
      try await waits {
        isOfNetwork ? monitor._report(.satisfied) : ImageCache.retryFailedImages()
        monitor._report(.unsatisfied)
        return view.shown != nil
      }
      view.cancelImage()
    }
  }

  @Test("a toolkit looks again when it is told that its entity's picture changed")
  func looksAgain() async throws {
    for toolkit in Toolkit.allCases {
      let view = toolkit.view
      #expect(show(0, in: view, fade: 1) == .table)
      try await shelf.cache.store(.sample(20), for: Shelf.photo(0), format: shelf.format)
      #expect(!shelf.isPicture(0, view.shown))
      shelf.cache.reloadViews(of: Shelf.photo(1))
      #expect(!shelf.isPicture(0, view.shown))
      shelf.cache.reloadViews(of: Shelf.photo(0))
      #expect(shelf.isPicture(0, view.shown) && view.fades.isEmpty)
      try await shelf.cache.store(.sample(21), for: Shelf.photo(0), format: shelf.format)
      shelf.cache.reloadAllViews()
      #expect(shelf.isPicture(0, view.shown))
      #expect(await shelf.leaseCount == 1)
      view.cancelImage()
      shelf.cache.reloadAllViews()
      #expect(view.shown == nil)
    }
  }

  @Test("UIKit and AppKit has an image of the picture's size in points")
  func hasPoints() throws {
    let picture = try #require(
      shelf.cache.cachedImage(for: Shelf.photo(0), format: shelf.format))
    #expect(UIImage(picture)?.size == CGSize(width: 20, height: 10))
    #expect(UIImage(picture)?.scale == 2)
    #expect(NSImage(picture)?.size == NSSize(width: 20, height: 10))
  }
}
