import FastImageCache
import Foundation
import TestSupport
import Testing

@Suite("A prefetch", .timeLimit(.minutes(15)))
struct PrefetchTests {
  @Test(
    "without anybody waiting stores the pictures",
    arguments: [
      ImageCache.PrefetchDepth.disk, .resident,
    ])
  func storesPictures(depth: ImageCache.PrefetchDepth) async throws {
    let fixture = try await Fixture()
    let photos = (0..<12).map { Photo(ImageID($0), url: "test:/\($0)") }
    let progress = await fixture.cache.prefetch(photos, format: .row, depth: depth)
    #expect(progress.loadedCount == 12 && progress.failedCount == 0 && progress.isFinished)
    #expect(
      photos.map { fixture.cache.cachedImage(for: $0, format: .row)?.solidNumber }
        == Array(0..<12))
  }

  @Test("counts failures and goes on")
  func countsFailures() async throws {
    struct Broken: Error {}
    let fixture = try await Fixture(
      source: ScriptedSource { url, _, _ in
        if url.lastPathComponent == "3" { throw Broken() }
        return .bitmap(try solid(1))
      })
    let photos = (0..<10).map { Photo(ImageID($0), url: "test:/\($0)") }
    let progress = await fixture.cache.prefetch(photos, format: .row)
    #expect(progress.loadedCount == 9 && progress.failedCount == 1)
  }

  @Test("as a stream ends with everything done")
  func streamsProgress() async throws {
    let fixture = try await Fixture()
    let photos = (0..<20).map { Photo(ImageID($0), url: "test:/\($0)") }
    var last: ImageCache.PrefetchProgress?
    for await progress in fixture.cache.prefetchProgress(photos, format: .row) {
      #expect(progress.loadedCount >= last?.loadedCount ?? 0)
      last = progress
    }
    #expect(last?.isFinished == true && last?.loadedCount == 20)
  }

  @Test("whose stream is left cancels what is left")
  func endsWithStream() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(source: ScriptedSource(gate: gate))
    let photos = (0..<50).map { Photo(ImageID($0)) }
    let reader = Task {
      for await _ in fixture.cache.prefetchProgress(photos, format: .row) {
        await fixture.source.started.reaches(1)
        return
      }
    }
    await reader.value
    await fixture.source.cancelled.reaches(1)
    await fixture.quiet()
    #expect(fixture.source.started.value < 50)
  }

  @Test("lets a request for the screen go first")
  func staysBehind() async throws {
    let gate = CancellableGate()
    let order = Order()
    let source = ScriptedSource { url, _, _ in
      order.note(url.lastPathComponent)
      try await gate.pass()
      return .bitmap(try solid(1))
    }
    let fixture = try await Fixture(source: source)
    let photos = (0..<200).map { Photo(ImageID($0), url: "test:/low\($0)") }
    let prefetch = Task { await fixture.cache.prefetch(photos, format: .row) }
    // As many as it asks for at once.
    await fixture.waiters(8)
    let urgent = Task(priority: .high) {
      try await fixture.cache.image(for: Photo("now", url: "test:/now"), format: .row)
    }
    await fixture.waiters(9)
    gate.open()
    _ = try await urgent.value
    #expect(order.notes.firstIndex(of: "now").map { $0 < 100 } == true)
    prefetch.cancel()
    _ = await prefetch.value
  }
}
