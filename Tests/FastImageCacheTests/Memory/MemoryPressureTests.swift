import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("Memory pressure", .timeLimit(.minutes(10)))
struct MemoryPressureTests {
  /// Notices that a test sends.
  private final class Notices: Sendable {
    let begun = Counter()
    private let report = Lock<MemoryPressureWatch.Report?>(nil)

    func begin(_ report: @escaping MemoryPressureWatch.Report) {
      self.report.withLock { $0 = report }
      begun.increment()
    }

    func send(_ level: MemoryTrim) { report.withLock { $0 }?(level) }
  }

  /// A source that counts how often its idle connections are closed.
  private struct CountingSource: ImageSource, IdleConnections {
    let count = Counter()

    func response(to request: ImageSourceRequest) async throws -> ImageSourceResponse {
      .bitmap(try solid(1))
    }

    func closeIdleConnections() { count.increment() }
  }

  private let notices = Notices()
  private let process = Lock<Int32>(7)

  private func watch() -> MemoryPressureWatch {
    MemoryPressureWatch(process: { [process] in process.withLock { $0 } }, notices.begin)
  }

  private func memory(
    _ source: CountingSource, _ watch: MemoryPressureWatch
  ) -> TrimmableMemory {
    TrimmableMemory(
      tables: TableSet([]), source: source, partials: PartialDownloads(), watch: watch)
  }

  @Test("is watched once, from the first memory to give back on, for all caches there are")
  func lifetime() {
    let (watch, source) = (watch(), CountingSource())
    for round in 1...2 {
      var first: TrimmableMemory? = memory(source, watch)
      let second = memory(source, watch)
      #expect(watch.hasBegun == (round == 2))
      watch.start()
      watch.start()
      #expect(notices.begun.value == 1 && watch.hasBegun)
      notices.send(.spare)
      #expect(source.count.value == round * 3 - 1)
      // Closed twice, as a cache is at its end.
      second.endWatch()
      second.endWatch()
      notices.send(.pages)
      #expect(source.count.value == round * 3)
      // Dropped without being closed.
      withExtendedLifetime(first) {}
      first = nil
    }
    notices.send(.spare)
    #expect(source.count.value == 6)
  }

  @Test("in a child of a fork is that of the caches which it makes")
  func fork() {
    let (watch, source, childSource) = (watch(), CountingSource(), CountingSource())
    let parent = memory(source, watch)
    watch.start()
    process.withLock { $0 = 8 }
    #expect(!watch.hasBegun)
    let child = memory(childSource, watch)
    watch.start()
    #expect(notices.begun.value == 2)
    notices.send(.spare)
    #expect(source.count.value == 0 && childSource.count.value == 1)
    parent.endWatch()
    child.endWatch()
    notices.send(.spare)
    #expect(childSource.count.value == 1)
  }

  @Test("is watched by no process that only shows what it has")
  func isNotWatchedForHits() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let earlier = try await Fixture(directory: directory).cache
      let (key, photo) = (
        ImageKey(entity: "a", version: "a", format: "row"), Photo("a", version: "a")
      )
      let table = try #require(earlier.tables[.row])
      let slot = try table.drawSlot(for: key, size: ImageFormat.row.size) { _, _ in }
      _ = try table.store(
        slot, for: key, earlier.recorder, .byHand(at: Generation.next()), oldest: { .max })
      await earlier.close()
      let reopened = try await Fixture(directory: directory)
      guard reopened.cache.cachedImage(for: photo, format: .row) != nil,
        !MemoryPressureWatch.shared.hasBegun
      else { exit(1) }
      _ = try await reopened.cache.image(for: Photo("b", url: "test:/5"), format: .row)
      exit(MemoryPressureWatch.shared.hasBegun ? 0 : 2)
    }
  }

  @Test("reaches a cache until it is closed, suspended or not")
  func cache() async throws {
    let source = CountingSource()
    let directory = try TemporaryDirectory()
    var configuration = ImageCache.Configuration()
    configuration.directory = directory.url
    configuration.source = ImageSourceChain([ScriptedSource(), source])
    let cache = try await ImageCache(formats: [.row], configuration: configuration)
    let photo = Photo("a", url: "test:/5")
    _ = try await cache.image(for: photo, format: .row)
    let held = try #require(cache.cachedImage(for: photo, format: .row))
    for level in [MemoryTrim.spare, .partials, .pages] { cache.trimMemory(level) }
    #expect(source.count.value == 3)
    #expect(held.solidNumber == 5)
    #expect(cache.cachedImage(for: photo, format: .row)?.solidNumber == 5)
    try await cache.suspend()
    cache.trimMemory(.pages)
    #expect(cache.cachedImage(for: photo, format: .row)?.solidNumber == 5)
    await cache.close()
    cache.trimMemory(.pages)
    #expect(held.solidNumber == 5)
  }
}
