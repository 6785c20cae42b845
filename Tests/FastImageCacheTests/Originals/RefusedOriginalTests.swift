import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A kept original", .timeLimit(.minutes(10)))
struct RefusedOriginalTests {
  let directory: TemporaryDirectory
  let store: OriginalStore

  init() throws {
    directory = try TemporaryDirectory()
    store = OriginalStore(directory: directory.url)
  }

  @Test(
    "goes when its server has it no more, and not when refused",
    arguments: [404, 410, 401, 403])
  func isRefused(status: Int) async throws {
    let refuses = Lock(false)
    let source = EncodedSource { request, _ in
      if refuses.withLock({ $0 }) { throw ImageSourceError.httpStatus(status) }
      if request.known?.isWhole == true { return .unchanged(ResponseMetadata(received: Date())) }
      return .encoded(try solid(7).pngData())
    }
    let fixture = try await Fixture(from: source) { $0.originals = store }
    let photo = Photo("7")
    _ = try await fixture.image(photo)
    await quiet(fixture)
    #expect(try await store.inspect().map(\.isFresh) == [true])

    refuses.withLock { $0 = true }
    for options in [LoadOptions(.revalidate), LoadOptions(.reload)] {
      await #expect(
        throws: ImageCacheError.sourceFailed(
          photo.url, underlying: ImageSourceError.httpStatus(status))
      ) { try await fixture.image(photo, .row, options) }
    }
    await quiet(fixture)
    let isGone = [404, 410].contains(status)
    #expect(try await store.inspect().map(\.isFresh) == (isGone ? [] : [false]))
    // The table keeps its image, as a stale one.
    #expect(!fixture.cache.containsImage(for: photo, format: .row))
    #expect(fixture.cache.bestCachedImage(for: photo, format: .row)?.image.solidNumber == 7)
    try await fixture.cache.removeImage(for: photo, format: .row)
    await #expect(throws: ImageCacheError.self) { try await fixture.image(photo) }

    refuses.withLock { $0 = false }
    #expect(try await fixture.image(photo).solidNumber == 7)
    await quiet(fixture)
    #expect(source.requests.last?.known?.isWhole == (isGone ? nil : true))
    #expect(try await store.inspect().map(\.isFresh) == [true])
  }

  /// Waits until no load is under way and nothing to be written.
  private func quiet(_ fixture: Fixture) async {
    await fixture.quiet()
    await store.settle()
  }

  /// One image at two addresses.
  private struct Variant: ImageEntity {
    var imageID: ImageID { "7" }
    let url: String
    func sourceURL(for format: ImageFormat) -> URL? { URL(string: url) }
    func versionID(for format: ImageFormat) -> ImageID { "1" }
    func originalID(for format: ImageFormat) -> ImageID { "7" }
    func drawing(for format: ImageFormat) -> Drawing { .stretch }
  }

  @Test("answers for another address of its image where its pixels cover the slot")
  func answersForVariants() async throws {
    let source = EncodedSource { request, _ in
      let side = Int(request.url.lastPathComponent) ?? 0
      return .encoded(try solid(7, size: PixelSize(width: side, height: side)).pngData())
    }
    let fixture = try await Fixture([.row, .large], from: source) { $0.originals = store }
    for (side, format, fetches) in [
      (16, ImageFormat.row, 1), (16, .large, 1), (64, .large, 2), (20, .row, 2), (4, .row, 2),
    ] {
      try await fixture.cache.removeImage(for: "7", format: format)
      _ = try await fixture.image(Variant(url: "test:/\(side)"), format)
      await quiet(fixture)
      #expect(source.started.value == fetches, "\(side) \(format.name)")
    }
    #expect(try await store.inspect().count == 2)
  }

  @Test("stays as it is whatever the server answers at another address of its image")
  func ignoresOthers() async throws {
    let source = EncodedSource { request, _ in
      if request.url.lastPathComponent != "16" { throw ImageSourceError.httpStatus(404) }
      return .encoded(try solid(7, size: PixelSize(width: 16, height: 16)).pngData())
    }
    let fixture = try await Fixture(from: source) { $0.originals = store }
    _ = try await fixture.image(Variant(url: "test:/16"))
    await quiet(fixture)
    let kept = try await store.inspect().map(\.record.body)
    for options in [LoadOptions(.revalidate), LoadOptions(.reload)] {
      await #expect(throws: ImageCacheError.self) {
        try await fixture.image(Variant(url: "test:/20"), .row, options)
      }
      await quiet(fixture)
      #expect(try await store.inspect().map(\.record.body) == kept)
      #expect(try await store.inspect().map(\.isFresh) == [true])
    }
  }

  enum Answer: CaseIterable { case stores, delivers, fails }

  @Test("is kept if the hook forbids it to no entity", arguments: Answer.allCases, Answer.allCases)
  func asksHook(first: Answer, second: Answer) async throws {
    for isLater in [false, true] {
      let (originals, asked, gate) = (MemoryOriginals(), Counter(), Gate())
      let source = EncodedSource { _, _ in
        if !isLater { await gate.pass() }
        return .encoded(try solid(7).pngData())
      }
      let fixture = try await Fixture(from: source, originals: originals) {
        $0.willStore = { image in
          asked.increment()
          if isLater { gate.waitBlocking() }
          switch image.imageID == "a" ? first : second {
          case .stores: break
          case .delivers: image.storage = .doNotStore
          case .fails: throw HookError()
          }
        }
      }
      var loads: [Task<CachedImage, any Error>] = []
      for id in ["a", "b"] as [ImageID] {
        loads.append(Task { try await fixture.image(Photo(id, url: "test:/7")) })
        await fixture.subscribers(loads.count)
        // The first waits for the hook when the second joins.
        if isLater { await asked.reaches(1) }
      }
      gate.open()
      for load in loads { _ = await load.result }
      await fixture.quiet()
      // What was kept for the first goes again.
      if isLater, first == .stores, second != .stores { await originals.dropped.reaches(1) }
      #expect(source.started.value == 1)
      #expect((originals["test:/7"] != nil) == (first == .stores && second == .stores))
    }
  }
}
