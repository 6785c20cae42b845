import FastImageCache
import Foundation
import Testing

@testable import FastImageCacheTesting

/// An entity by a number.
struct Item: ImageEntity {
  let number: Int

  var imageID: ImageID { ImageID(number) }
  var url: URL { URL(filePath: "/items/\(number)") }
  func sourceURL(for format: ImageFormat) -> URL? { url }
}

extension ImageFormat {
  static let small = ImageFormat(
    name: "small", size: .exact(PixelSize(width: 8, height: 8)), pixelFormat: .bgrx32, capacity: 4)
  static let gray = ImageFormat(
    name: "gray", size: .exact(PixelSize(width: 4, height: 4)), pixelFormat: .gray8, capacity: 4)
}

@Suite("A scripted source", .timeLimit(.minutes(10)))
struct ScriptedImageSourceTests {
  private struct Outage: Error, Equatable {}

  private let first = Item(number: 1)
  private let second = Item(number: 2)

  private func cache(_ source: ScriptedImageSource) throws -> ImageCache {
    var configuration = ImageCache.Configuration()
    configuration.source = source
    return try ImageCache.inMemory(formats: [.small], configuration: configuration)
  }

  private func load(_ item: Item, from source: ScriptedImageSource) async throws -> Bitmap {
    let content = try await source.response(to: ImageSourceRequest(url: item.url))
    guard let bitmap = content.bitmap else { throw Outage() }
    return bitmap
  }

  @Test("brings the image set for a URL, and counts its loads")
  func answers() async throws {
    let source = ScriptedImageSource()
    source.setImage(.bitmap(try .sample(7, size: PixelSize(width: 3, height: 2))), for: first.url)
    let bitmap = try await load(first, from: source)
    #expect(bitmap.size == PixelSize(width: 3, height: 2))
    _ = try await load(first, from: source)
    #expect(source.loadCount(of: first.url) == 2)
    #expect(source.loadCount(of: second.url) == 0)
    await #expect(throws: ScriptedSourceError.noImage(second.url)) {
      try await load(second, from: source)
    }
    #expect(source.loadCount() == 3)
  }

  @Test("asks its closure for URLs of which nothing else is said")
  func asksClosure() async throws {
    let source = ScriptedImageSource { _ in
      .bitmap(try .sample(1, size: PixelSize(width: 5, height: 5)))
    }
    source.setFailure(Outage(), for: second.url)
    #expect(try await load(first, from: source).size == PixelSize(width: 5, height: 5))
    await #expect(throws: Outage()) { try await load(second, from: source) }
  }

  @Test("lets a cache wait until the load is released by hand")
  func holds() async throws {
    let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
    source.holdLoads()
    let cache = try cache(source)
    let item = first
    let waiting = Task { try await cache.image(for: item, format: .small) }
    try await source.hasBegunLoads(of: item.url)
    #expect(cache.cachedImage(for: item, format: .small) == nil)
    source.releaseLoads(of: item.url)
    _ = try await waiting.value
    #expect(cache.cachedImage(for: item, format: .small) != nil)
  }

  @Test("holds one URL and not the others, or all but one")
  func holdsSome() async throws {
    let source = ScriptedImageSource { .bitmap(try .sample(ImageID($0))) }
    source.holdLoads(of: first.url)
    _ = try await load(second, from: source)
    source.holdLoads()
    source.releaseLoads(of: first.url)
    _ = try await load(first, from: source)
    let item = second
    let waiting = Task { try await load(item, from: source) }
    try await source.hasBegunLoads(2, of: item.url)
    source.setFailure(Outage(), for: item.url)
    source.releaseLoads()
    await #expect(throws: Outage()) { try await waiting.value }
    _ = try await load(first, from: source)
  }

  @Test("that is silent answers nothing until the load is cancelled, which it counts")
  func isSilent() async throws {
    let source = ScriptedImageSource.silent()
    let cache = try cache(source)
    let item = first
    let waiting = Task { try await cache.image(for: item, format: .small) }
    try await source.hasBegunLoads()
    #expect(source.cancellationCount() == 0)
    waiting.cancel()
    await #expect(throws: ImageCacheError.self) { try await waiting.value }
    try await source.hasCancelledLoads(of: item.url)
    #expect(source.cancellationCount(of: item.url) == 1)
    #expect(source.cancellationCount(of: second.url) == 0)
  }

  @Test("does not hold a load that was cancelled before it began")
  func seesEarlierCancellation() async throws {
    let source = ScriptedImageSource.silent()
    let item = first
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await load(item, from: source)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.cancellationCount(of: item.url) == 1)
  }

  @Test("that refuses fails at once, with the error given")
  func refuses() async throws {
    await #expect(throws: ScriptedSourceError.noImage(first.url)) {
      try await load(first, from: .refusing())
    }
    await #expect(throws: Outage()) { try await load(first, from: .refusing(with: Outage())) }
  }

  @Test("stops waiting for loads when the test that waits is cancelled")
  func endsWait() async throws {
    let source = ScriptedImageSource()
    let waiting = Task { try await source.hasBegunLoads() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}

@Suite("A script of loads", .timeLimit(.minutes(10)))
struct LoadScriptTests {
  private let urls = (1...2).map { Item(number: $0).url }

  /// Which of the two URLs are held after each step.
  private func held(_ steps: [(url: URL?, isHeld: Bool)]) -> [[Bool]] {
    var script = LoadScript()
    return steps.map { step in
      script.hold(step.url, step.isHeld)
      return urls.map { script.isHeld($0) }
    }
  }

  @Test("obeys the last word on each URL, and the last one on all")
  func obeysLast() {
    let one = held([(urls[0], true), (urls[0], true), (urls[0], false), (urls[0], false)])
    #expect(one == [[true, false], [true, false], [false, false], [false, false]])
    let others = held([(nil, true), (urls[0], false), (urls[0], true), (urls[1], false)])
    #expect(others == [[true, true], [false, true], [true, true], [true, false]])
    let all = held([(urls[0], true), (nil, true), (urls[1], false), (nil, false)])
    #expect(all == [[true, false], [true, true], [true, false], [false, false]])
  }
}
