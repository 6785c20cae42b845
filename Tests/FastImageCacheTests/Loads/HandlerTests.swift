import FastImageCache
import Foundation
import Locking
import Synchronization
import TestSupport
import Testing

/// Cancellation handlers run under their task's lock, which resuming the task takes too, and ends of
/// entities run wherever the last reference is dropped. A lock of ours that is held around either
/// hangs these tests until their time is over.
@Suite("Code that the cache calls or is called from", .timeLimit(.minutes(10)))
struct HandlerTests {
  private final class Owner: ImageEntity {
    let imageID: ImageID
    private let gate: CancellableGate?
    private let end: @Sendable () -> Void

    init(_ id: ImageID, gate: CancellableGate? = nil, end: @escaping @Sendable () -> Void = {}) {
      imageID = id
      self.gate = gate
      self.end = end
    }

    deinit { end() }

    func versionID(for format: ImageFormat) -> ImageID { "v" }
    func sourceURL(for format: ImageFormat) -> URL? { URL(string: "test:/shared") }

    func providedImage(for format: ImageFormat) async throws -> ImageSourceResponse? {
      try await gate?.pass()
      return .bitmap(try solid(7))
    }
  }

  @Test("may cancel another request when an entity ends")
  func entityEnds() async throws {
    let (never, first, last) = (CancellableGate(), CancellableGate(), CancellableGate())
    let fixture = try await Fixture(source: ScriptedSource(gate: never))
    let cache = fixture.cache
    let other = Task { _ = try? await cache.image(for: Photo("other"), format: .row) }
    await fixture.subscribers(1)
    let ended = Counter()
    let keeping = Task { _ = try? await cache.image(for: Owner("b", gate: first), format: .row) }
    await fixture.subscribers(2)
    // Asked of the same load, answered early, and held by nobody else.
    let asking = Task {
      let owner = Owner("a") {
        other.cancel()
        ended.increment()
      }
      _ = try? await cache.image(for: owner, format: .row)
    }
    await fixture.subscribers(3)
    let staying = Task { _ = try? await cache.image(for: Owner("c", gate: last), format: .row) }
    await fixture.subscribers(4)
    first.open()
    await keeping.value
    await asking.value
    last.open()
    await staying.value
    await ended.reaches(1)
    await other.value
    await fixture.quiet()
  }

  @Test("may stop reading progress and events while they are told")
  func readersLeave() async throws {
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, report in
        while !Task.isCancelled {
          for count in 0..<50 { report(ImageSourceProgress(receivedByteCount: count)) }
        }
        throw CancellationError()
      })
    let cache = fixture.cache
    let hit = Photo("hit")
    try await cache.store(solid(1), for: hit, format: .row)
    let isOver = Atomic(false)
    let hits = Task.detached {
      while !isOver.load(ordering: .relaxed) {
        _ = cache.cachedImage(for: hit, format: .row)
        await Task.yield()
      }
    }
    for _ in 0..<100 {
      await leave(cache.progress(for: Photo("a"), format: .row))
      await leave(cache.events())
    }
    isOver.store(true, ordering: .relaxed)
    await hits.value
    await fixture.quiet()
  }

  /// Reads a little and is cancelled.
  private func leave<Element: Sendable>(_ stream: AsyncStream<Element>) async {
    let heard = Counter()
    let reader = Task { for await _ in stream { heard.increment() } }
    await heard.reaches(2)
    reader.cancel()
    await reader.value
  }
}

/// A source whose first load begins a task that goes on until the source ends, and that keeps its last request.
private final class LoopingSource: ImageSource {
  private let (stream, feed) = AsyncStream<Int>.makeStream()
  private let last = Lock<ImageSourceRequest?>(nil)
  private let ended: Counter

  init(ended: Counter) { self.ended = ended }

  deinit {
    feed.finish()
    ended.increment()
  }

  func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
    let isFirst = last.withLock { last in
      defer { last = request }
      return last == nil
    }
    if isFirst { Task { [weak self, stream] in for await _ in stream { _ = self } } }
    return .bitmap(try solid(7))
  }
}

@Suite("A source outlives neither", .timeLimit(.minutes(10)))
struct OutlivingTaskTests {
  private let ended = Counter()

  @Test("its cache because of a task or a request that it keeps, nor do the cache's events go on")
  func keeping() async throws {
    func load() async throws -> AsyncStream<CacheEvent> {
      var configuration = ImageCache.Configuration()
      configuration.source = LoopingSource(ended: ended)
      let cache = try ImageCache.inMemory(formats: [.row], configuration: configuration)
      let events = cache.events()
      _ = try await cache.image(for: Photo("a", url: "test:/7"), format: .row)
      while await cache.statistics().activeLoads != 0, !Task.isCancelled { await Task.yield() }
      return events
    }
    let events = try await load()
    await ended.reaches(1)
    for await _ in events {}
  }
}
