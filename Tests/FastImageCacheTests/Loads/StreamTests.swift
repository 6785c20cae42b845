import Foundation
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A stream", .timeLimit(.minutes(10)))
struct StreamTests {
  @Test("of progress tells the newest step, where the bytes came from, and ends with the image")
  func tellsSteps() async throws {
    let gate = CancellableGate()
    let fixture = try await Fixture(
      source: ScriptedSource { _, _, report in
        report(ImageSourceProgress(receivedByteCount: 10, expectedByteCount: 20))
        try await gate.pass()
        return .bitmap(try solid(3))
      })
    var steps: [String] = []
    for await step in fixture.cache.progress(for: Photo("a"), format: .row) {
      switch step {
      case .queued: steps.append("queued")
      case .receiving(let count, let total):
        steps.append("receiving \(count) of \(total ?? 0)")
        gate.open()
      case .arrived(.source): steps.append("arrived")
      case .decoding: steps.append("decoding")
      case .drawing: steps.append("drawing")
      case .finished(let image): steps.append("finished \(image.solidNumber ?? 0)")
      default: steps.append("failed")
      }
    }
    // A newer step takes the place of one that was not read.
    steps.removeAll { ["queued", "drawing"].contains($0) }
    #expect(steps == ["receiving 10 of 20", "arrived", "finished 3"])
  }

  @Test("of progress that nobody reads any more gives the load up")
  func endsLoad() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: CancellableGate()))
    let reader = Task {
      for await _ in fixture.cache.progress(for: Photo("a"), format: .row) {
        await fixture.source.started.reaches(1)
        return
      }
    }
    await reader.value
    await fixture.source.cancelled.reaches(1)
    await fixture.quiet()
    #expect(await fixture.cache.statistics().pendingRequests == 0)
  }

  @Test("of progress that is dropped unread leaves nothing")
  func forgetsUnread() async throws {
    let fixture = try await Fixture(source: ScriptedSource(gate: CancellableGate()))
    var streams = (0..<50).map { fixture.cache.progress(for: Photo(ImageID($0)), format: .row) }
    await fixture.subscribers(50)
    streams = []
    await fixture.subscribers(0)
    await fixture.quiet()
    #expect(streams.isEmpty)
  }

  @Test("of events tells what happens")
  func tellsEvents() async throws {
    let fixture = try await Fixture()
    let events = fixture.cache.events()
    _ = try await fixture.image(Photo("a", url: "test:/1"))
    _ = fixture.cache.cachedImage(for: Photo("a", url: "test:/1"), format: .row)
    try await fixture.cache.removeImage(for: Photo("a"), format: .row)
    await fixture.cache.close()
    var names: [String] = []
    for await event in events {
      switch event {
      case .missed: names.append("missed")
      case .fetched: names.append("fetched")
      case .stored(let entity, let format): names.append("stored \(entity) \(format)")
      case .loaded: names.append("loaded")
      case .hit: names.append("hit")
      case .removed: names.append("removed")
      default: names.append("\(event)")
      }
    }
    #expect(names == ["missed", "fetched", "stored a row", "loaded", "hit", "removed"])
  }

  @Test("of events tells each image that could not be had once, and no cancellation")
  func tellsFailures() async throws {
    struct Broken: Error {}
    let gate = CancellableGate()
    let fixture = try await Fixture(
      [.row, .large],
      source: ScriptedSource { url, _, _ in
        try await gate.pass()
        guard url.lastPathComponent == "1" else { throw Broken() }
        return .encoded(Data("<html>".utf8))
      })
    let (cache, events) = (fixture.cache, fixture.cache.events())
    let photos = [
      Photo("a", url: "test:/1"), Photo("a", url: "test:/1"), Photo("b", url: "test:/2"),
    ]
    let failing = photos.map { photo in
      Task { try await cache.image(for: photo, format: .row) }
    }
    let leaving = Task { try await cache.image(for: Photo("c", url: "test:/2"), format: .large) }
    let alone = Task { try await cache.image(for: Photo("d", url: "test:/3"), format: .row) }
    await fixture.subscribers(5)
    leaving.cancel()
    alone.cancel()
    await fixture.subscribers(3)
    gate.open()
    for task in failing { await #expect(throws: ImageCacheError.self) { try await task.value } }
    // Those that fail alone, while their load goes on or would.
    var (nowhere, own) = (Photo("e"), Photo("f"))
    nowhere.url = nil
    own.ownImage = { _ in throw Broken() }
    for photo in [nowhere, own] {
      await #expect(throws: ImageCacheError.self) {
        try await cache.image(for: photo, format: .row)
      }
    }
    #expect(await cache.statistics().failures == 4)
    await cache.close()
    var told: [String] = []
    for await event in events {
      if case .failed(let entity, let format, _) = event { told.append("\(entity) \(format)") }
    }
    #expect(told.sorted() == ["a row", "b row", "e row", "f row"])
  }

  @Test("of events tells a slow listener how many it missed, where it missed them")
  func tellsSkipped() async throws {
    let fixture = try await Fixture()
    try await fixture.cache.store(solid(3), for: Photo("a"), format: .row)
    let events = fixture.cache.events(bufferSize: 4)
    for _ in 0..<10 { _ = fixture.cache.cachedImage(for: Photo("a"), format: .row) }
    var iterator = events.makeAsyncIterator()
    for _ in 0..<4 {
      guard case .hit? = await iterator.next() else {
        Issue.record("One of the first four events was lost.")
        return
      }
    }
    _ = fixture.cache.cachedImage(for: Photo("a"), format: .row)
    guard case .eventsDropped(let count)? = await iterator.next() else {
      Issue.record("The listener was not told.")
      return
    }
    #expect(count == 6)
  }

  @Test("of events tells at its end, too, how many were missed")
  func tellsSkippedAtTheEnd() async throws {
    let recorder = CacheRecorder(among: EventListeners())
    let stream = recorder.makeStream(bufferSize: 2)
    for number in 0..<5 { recorder.send(.hit(entity: ImageID(number), format: "row")) }
    recorder.finish()
    var told: [String] = []
    for await event in stream {
      switch event {
      case .hit(let entity, _): told.append("\(entity)")
      case .eventsDropped(let count): told.append("dropped \(count)")
      default: told.append("\(event)")
      }
    }
    #expect(told == ["0", "1", "dropped 3"])
  }
}
