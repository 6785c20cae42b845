import CoreGraphics
import FastImageCache
import FastImageCacheTesting
import FastImageCacheUI
import Foundation
import Testing

// Inside, since all of them share the list of transitions.
extension ImageViewTests {
  @MainActor @Suite("a toolkit, asked for its result,") struct CompletionTests {
    private let fixture: ViewFixture
    private let results = Results()
    init() throws { fixture = try ViewFixture() }

    private func show(_ number: Int?, in view: some TestedView) -> ShownFrom {
      show(number, in: view, failureImage: nil)
    }

    private func show<View: TestedView>(
      _ number: Int?, in view: View, failureImage: View.Native?
    ) -> ShownFrom {
      view.setImage(
        of: number.map(ViewFixture.photo), format: fixture.format, from: fixture.cache,
        placeholder: nil, failureImage: failureImage, fade: 0, options: nil
      ) { [results] in results.all.append($0) }
    }

    private func load(_ number: Int, in view: some TestedView) async throws(ImageCacheError)
      -> CachedImage
    {
      try await view.loadImage(
        of: ViewFixture.photo(number), format: fixture.format, from: fixture.cache,
        placeholder: nil, failureImage: nil, fade: 0, options: nil)
    }

    private func cached(_ number: Int) -> CachedImage? {
      fixture.cache.cachedImage(for: ViewFixture.photo(number), format: fixture.format)
    }

    @Test("has a hit before the call returns, each time, and nothing without an entity")
    func completesHits() {
      for toolkit in Toolkit.allCases {
        let view = toolkit.view
        #expect(show(0, in: view) == .table && results.images == [cached(0)])
        #expect(show(0, in: view) == .table && results.images == [cached(0), cached(0)])
        #expect(show(nil, in: view) == .nowhere && results.all.count == 2)
        view.cancelImage()
        #expect(results.all.count == 2)
        results.all = []
      }
    }

    @Test("has an image once it is on screen")
    func completesLoads() async throws {
      for (toolkit, number) in zip(Toolkit.allCases, [2, 3]) {
        let view = toolkit.view
        #expect(show(number, in: view) == .load && results.all.isEmpty)
        try await waits { !results.all.isEmpty }
        #expect(fixture.isImage(number, view.shown) && results.images == [cached(number)])
        results.all = []
      }
    }

    @Test("has a failure, its own image for it, and asks again when it is asked again")
    func completesFailures() async throws {
      try await check(4, in: TestedUIView())
      try await check(5, in: TestedNSView())
    }

    private func check<View: TestedView>(_ number: Int, in view: View) async throws {
      let image = try #require(View.placeholder())
      fixture.source.setFailure(Offline(), for: ViewFixture.photo(number))
      _ = show(number, in: view, failureImage: image)
      try await waits { !results.all.isEmpty }
      guard case .failure(.sourceFailed) = results.all[0] else {
        Issue.record("\(results.all)")
        return
      }
      #expect(view.image === image)
      fixture.source.setImage(.bitmap(try .sample(7)), for: ViewFixture.photo(number))
      // Once more where another suite's retryFailedImages() had begun a load that fails, which the first one joins.
      repeat {
        results.all = []
        _ = show(number, in: view)
        try await waits { !results.all.isEmpty }
      } while results.images.isEmpty
      #expect(results.images == [cached(number)] && view.image !== image)
      results.all = []
    }

    @Test("tells those who wait for another image that they wait in vain, in the end")
    func completesWhatWasGivenUp() async throws {
      fixture.source.holdLoads()
      for toolkit in Toolkit.allCases {
        let view = toolkit.view
        _ = show(6, in: view)
        _ = show(7, in: view)
        #expect(results.cancellationCount == 1)
        _ = show(7, in: view)
        #expect(results.cancellationCount == 2)
        _ = show(0, in: view)
        #expect(results.cancellationCount == 3 && results.images == [cached(0)])
        _ = show(6, in: view)
        view.cancelImage()
        #expect(results.cancellationCount == 4 && results.all.count == 5)
        results.all = []
      }
    }

    @Test("may be told to show something else by whoever has its result")
    func isToldByCompletion() throws {
      fixture.source.holdLoads()
      let view = TestedUIView()
      let (cache, format) = (fixture.cache, fixture.format)
      view.setImage(of: ViewFixture.photo(8), format: format, from: cache) { [results] in
        results.all.append($0)
        view.setImage(of: ViewFixture.photo(0), format: format, from: cache) {
          results.all.append($0)
        }
      }
      _ = show(1, in: view)
      #expect(results.cancellationCount == 1 && fixture.isImage(0, view.shown))
      #expect(results.images == [cached(1), cached(0)])
    }

    @Test("is awaited until its image is on screen, fails, or gives way")
    func isAwaited() async throws {
      for (toolkit, number) in zip(Toolkit.allCases, [10, 20]) {
        let view = toolkit.view
        #expect(try await load(0, in: view) == cached(0))
        let image = try await load(number, in: view)
        #expect(image == cached(number) && fixture.isImage(number, view.shown))
        fixture.source.setFailure(Offline(), for: ViewFixture.photo(number + 1))
        await #expect(throws: ImageCacheError.self) { try await load(number + 1, in: view) }
        fixture.source.holdLoads(of: ViewFixture.photo(number + 2))
        let waiting = Task { @MainActor in
          try await load(number + 2, in: view)
        }
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(number + 2))
        _ = show(1, in: view)
        await #expect(throws: ImageCacheError.cancelled) { try await waiting.value }
        #expect(fixture.isImage(1, view.shown))
      }
    }

    @Test("gives up what it loads with the task that awaits it, and nothing later")
    func isCancelled() async throws {
      fixture.source.holdLoads()
      let view = TestedUIView()
      let waiting = Task { @MainActor in try await load(2, in: view) }
      try await fixture.source.hasBegunLoads(of: ViewFixture.photo(2))
      waiting.cancel()
      await #expect(throws: ImageCacheError.cancelled) { try await waiting.value }
      try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(2))
      let late = Task { @MainActor in try await load(3, in: view) }
      try await fixture.source.hasBegunLoads(of: ViewFixture.photo(3))
      late.cancel()
      _ = show(1, in: view)
      await #expect(throws: ImageCacheError.cancelled) { try await late.value }
      try await waits { await fixture.leaseCount == 1 }
      #expect(fixture.isImage(1, view.shown))
    }

    // MARK: Other faces

    @Test("turns an indicator over the placeholder only, and only if it is told to")
    func indicates() async throws {
      fixture.source.holdLoads()
      for (toolkit, number) in zip(Toolkit.allCases, [2, 3]) {
        let view = toolkit.view
        _ = show(number, in: view)
        #expect(view.isIndicating == nil)
        view.cancelImage()
        view.showsImageIndicator = true
        _ = show(0, in: view)
        #expect(view.isIndicating == nil)
        _ = show(number, in: view)
        #expect(view.isIndicating == true)
        _ = show(0, in: view)
        #expect(view.isIndicating == false)
        _ = show(number, in: view)
        #expect(view.isIndicating == true)
        fixture.source.releaseLoads(of: ViewFixture.photo(number))
        try await waits { view.shown != nil }
        #expect(view.isIndicating == false)
        view.cancelImage()
      }
    }

    @Test("shows an image that it is given as if it had loaded it")
    func isGiven() async throws {
      for (toolkit, number) in zip(Toolkit.allCases, [9, 12]) {
        let view = toolkit.view
        fixture.source.holdLoads()
        _ = show(number, in: view)
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(number))
        let image = try #require(cached(0))
        view.setImage(
          image, of: ViewFixture.photo(0), format: fixture.format, from: fixture.cache, fade: 0.5)
        #expect(results.cancellationCount == 1)
        #expect(fixture.isImage(0, view.shown) && view.fades == [0.5])
        try await fixture.source.hasCancelledLoads(of: ViewFixture.photo(number))
        #expect(show(0, in: view) == .table && view.fades == [0.5])
        try await fixture.cache.store(
          .sample(20), for: ViewFixture.photo(0), format: fixture.format)
        fixture.cache.reloadViews(of: ViewFixture.photo(0))
        #expect(fixture.isImage(0, view.shown))
        view.cancelImage()
        fixture.source.releaseLoads()
        results.all = []
      }
    }

    @Test("has a load go on when its image is cancelled, if it is told so")
    func keepsLoading() async throws {
      for (toolkit, number) in zip(Toolkit.allCases, [2, 3]) {
        fixture.source.holdLoads()
        let view = toolkit.view
        _ = show(number, in: view)
        try await fixture.source.hasBegunLoads(of: ViewFixture.photo(number))
        view.cancelImage(.keepLoading)
        fixture.source.releaseLoads()
        try await waits { cached(number) != nil }
        #expect(fixture.source.cancellationCount() == 0 && view.shown == nil)
      }
    }
  }
}

/// What a view's completions were told.
@MainActor private final class Results {
  var all: [Result<CachedImage, ImageCacheError>] = []
  var images: [CachedImage?] { all.compactMap { try? $0.get() } }
  var cancellationCount: Int {
    all.count { if case .failure(.cancelled) = $0 { true } else { false } }
  }
}
