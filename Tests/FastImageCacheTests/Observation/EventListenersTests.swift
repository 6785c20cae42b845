import CTestProbes
import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("A stream of every cache's events", .timeLimit(.minutes(10)))
struct EventListenersTests {
  private let all = EventListeners()

  @Test("hears caches that were there before it and those that come later, each by its name")
  func hearsAll() async {
    let earlier = CacheRecorder(of: "earlier", among: all)
    let stream = all.makeStream(of: nil, bufferSize: 8) { $0 }
    let later = CacheRecorder(of: "later", among: all)
    for (number, recorder) in [earlier, later, earlier].enumerated() {
      recorder.send(.hit(entity: ImageID(number), format: "row"))
    }
    #expect(await told(3, of: stream) == ["earlier 0", "later 1", "earlier 2"])
  }

  @Test("goes on when a cache ends, by being closed or forgotten")
  func outlivesCaches() async {
    let stream = all.makeStream(of: nil, bufferSize: 8) { $0 }
    let closed = CacheRecorder(of: "closed", among: all)
    closed.send(.hit(entity: 1, format: "row"))
    closed.finish()
    closed.send(.hit(entity: 2, format: "row"))
    CacheRecorder(of: "forgotten", among: all).send(.hit(entity: 3, format: "row"))
    CacheRecorder(of: "last", among: all).send(.hit(entity: 4, format: "row"))
    #expect(await told(3, of: stream) == ["closed 1", "forgotten 3", "last 4"])
  }

  @Test("keeps the oldest unread events and counts the others of all caches together")
  func countsSkipped() async {
    let stream = all.makeStream(of: nil, bufferSize: 1) { $0 }
    let recorders = ["a", "b"].map { CacheRecorder(of: $0, among: all) }
    for number in 0..<4 { recorders[number % 2].send(.hit(entity: ImageID(number), format: "row")) }
    #expect(await told(1, of: stream) == ["a 0"])
    recorders[0].send(.hit(entity: 4, format: "row"))
    recorders[1].send(.hit(entity: 5, format: "row"))
    #expect(await told(2, of: stream) == [" dropped 3", "a 4"])
    recorders[1].send(.hit(entity: 6, format: "row"))
    #expect(await told(2, of: stream) == [" dropped 1", "b 6"])
  }

  @Test("of one cache hears no other, not of the same namespace either")
  func hearsOne() async {
    let (recorder, other) = (CacheRecorder(of: "a", among: all), CacheRecorder(of: "a", among: all))
    let stream = recorder.makeStream(bufferSize: 4)
    other.send(.hit(entity: 1, format: "row"))
    recorder.send(.hit(entity: 2, format: "row"))
    other.finish()
    recorder.finish()
    var count = 0
    for await event in stream {
      count += 1
      if case .hit(2, _) = event { continue }
      Issue.record("\(event)")
    }
    #expect(count == 1)
    for await event in recorder.makeStream(bufferSize: 1) { Issue.record("\(event) after the end") }
  }

  @Test("leaves no listener with any cache once it is dropped, or its reader cancelled")
  func leavesNone() async {
    let recorder = CacheRecorder(among: all)
    do {
      let stream = all.makeStream(of: nil, bufferSize: 1) { $0 }
      #expect(recorder.hasListeners)
      withExtendedLifetime(stream) {}
    }
    #expect(!recorder.hasListeners)
    let heard = Counter()
    let reader = Task { [stream = all.makeStream(of: nil, bufferSize: 1) { $0 }] in
      for await _ in stream { heard.increment() }
    }
    recorder.send(.removed(entity: nil, format: "row"))
    await heard.reaches(1)
    reader.cancel()
    await reader.value
    while recorder.hasListeners { await Task.yield() }
    #expect(!CacheRecorder(among: all).hasListeners)
  }

  @Test("is told of hits by a cache that knows nothing of it")
  func hearsRealCaches() async {
    // In a process of its own: the listener would hear, and slow, the caches of other tests.
    await #expect(processExitsWith: .exitCode(7)) {
      let fixture = try await Fixture()
      let events = ImageCache.allEvents()
      try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
      _ = fixture.cache.cachedImage(for: Photo("a"), format: .row)
      for await element in events {
        guard case .hit = element.event, element.namespace == fixture.cache.namespace else {
          continue
        }
        probe_exit(7)
      }
    }
  }

  private func told(_ count: Int, of stream: AsyncStream<ProcessEvent>) async -> [String] {
    var told: [String] = []
    for await element in stream {
      switch element.event {
      case .hit(let entity, _): told.append("\(element.namespace) \(entity)")
      case .eventsDropped(let number): told.append("\(element.namespace) dropped \(number)")
      default: told.append("\(element)")
      }
      if told.count == count { break }
    }
    return told
  }
}

@Suite("The log of events", .timeLimit(.minutes(10)))
struct EventLogTests {
  private func text(_ event: CacheEvent, namespace: String = "photos") -> String {
    ProcessEvent(namespace: namespace, event: event).line(at: Date(timeIntervalSince1970: 0))
  }

  @Test("has no password and no signature of an address in its lines")
  func writesLines() throws {
    let size = PixelSize(width: 3, height: 2)
    let url = try #require(URL(string: "https://me:secret@example.com/a.jpg?signature=secret"))
    let failure = ImageCacheError.sourceFailed(url, underlying: ImageSourceError.httpStatus(404))
    for line in [
      text(.decoded(url, size: size, duration: .milliseconds(4))),
      text(.failed(entity: 1, format: "row", failure)),
    ] {
      #expect(line.contains("https://example.com/a.jpg") && !line.contains("secret"))
    }
    // One line, whatever an id has.
    #expect(text(.hit(entity: "a\nb", format: "row")).count { $0.isNewline } == 1)
  }

  @Test("takes the events of its level and of higher ones")
  func filters() async throws {
    #expect(EventLog.Level(named: "verbose") == nil && EventLog.Level(named: nil) == nil)
    for (level, expected) in [
      ("ERROR", ["damaged", "end"]), ("info", ["original", "damaged", "end"]),
      ("debug", ["hit", "original", "damaged", "end"]),
    ] {
      let level = try #require(EventLog.Level(named: level))
      let listeners = EventListeners()
      let lines = Lock<[String]>([])
      let count = Counter()
      EventLog.follow(listeners, from: level) { line in
        lines.withLock { $0.append(line) }
        count.increment()
      }
      let recorder = CacheRecorder(of: "a", among: listeners)
      recorder.send(.hit(entity: 1, format: "row"))
      recorder.send(.original(1, .refused("It is private.")))
      recorder.send(.damaged(entity: 1, format: "row"))
      recorder.send(.storageChanged(format: "end", .unavailable(reason: "It is gone.")))
      await count.reaches(expected.count)
      let written = lines.withLock { $0 }
      #expect(written.count == expected.count)
      for (line, word) in zip(written, expected) { #expect(line.contains(word), "\(line)") }
    }
  }
}
