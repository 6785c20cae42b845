import FastImageCache
import Locking
import TestSupport
import Testing

/// A source whose first load begins a task that goes on until the source ends.
private final class LoopingSource: ImageSource {
  private let (stream, feed) = AsyncStream<Int>.makeStream()
  private let hasBegun = Lock(false)
  private let ended: Counter

  init(ended: Counter) { self.ended = ended }

  deinit {
    feed.finish()
    ended.increment()
  }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let isFirst = hasBegun.withLock { hasBegun in
      defer { hasBegun = true }
      return !hasBegun
    }
    if isFirst { Task { [weak self, stream] in for await _ in stream { _ = self } } }
    return .bitmap(try solid(7))
  }
}

/// A source that keeps its last request.
private final class KeepingSource: ImageSource {
  private let last = Lock<ImageSourceRequest?>(nil)
  private let ended: Counter

  init(ended: Counter) { self.ended = ended }

  deinit { ended.increment() }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    last.withLock { $0 = request }
    return .bitmap(try solid(7))
  }
}

@Suite("A source outlives neither", .timeLimit(.minutes(10)))
struct OutlivingTaskTests {
  private let ended = Counter()

  /// Loads an image and lets the cache go.
  private func load(_ source: any ImageSource) async throws -> AsyncStream<CacheEvent> {
    var configuration = ImageCache.Configuration()
    configuration.source = source
    let cache = try ImageCache.inMemory(formats: [.row], configuration: configuration)
    let events = cache.events()
    _ = try await cache.image(for: Photo("a", url: "test:/7"), format: .row)
    while await cache.statistics().activeLoads != 0, !Task.isCancelled { await Task.yield() }
    return events
  }

  @Test("its cache because of a task that it began, nor do the cache's events go on")
  func task() async throws {
    let events = try await load(LoopingSource(ended: ended))
    await ended.reaches(1)
    for await _ in events {}
  }

  @Test("its cache because of a request that it keeps")
  func handler() async throws {
    _ = try await load(KeepingSource(ended: ended))
    await ended.reaches(1)
  }
}
