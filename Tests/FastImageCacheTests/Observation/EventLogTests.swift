import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache

@Suite("The log of events", .timeLimit(.minutes(10)))
struct EventLogTests {
  private func text(_ event: CacheEvent, namespace: String = "photos") -> String {
    ProcessEvent(namespace: namespace, event: event).line(at: Date(timeIntervalSince1970: 0))
  }

  @Test("has a line for an event: the time, the level, the cache and what happened")
  func writesLines() throws {
    let size = PixelSize(width: 3, height: 2)
    let url = try #require(URL(string: "https://me:secret@example.com/a.jpg?signature=secret"))
    #expect(
      text(.hit(entity: 1, format: "row"))
        == "1970-01-01T00:00:00Z debug photos: hit \"1\" in \"row\"\n")
    #expect(
      text(.storeFailed(entity: "a\nb", format: "row", reason: "The disk is full."), namespace: "")
        == "1970-01-01T00:00:00Z error: could not store \"a b\" in \"row\": The disk is full.\n")
    let decoded = text(.decoded(url, size: size, duration: .milliseconds(4)))
    #expect(decoded.contains("decoded https://example.com/a.jpg: 3x2, 0.004 seconds"))
    #expect(!decoded.contains("secret"))
    let failed = text(
      .failed(
        entity: 1, format: "row", .sourceFailed(url, underlying: ImageSourceError.httpStatus(404))))
    #expect(failed.contains("https://example.com/a.jpg") && !failed.contains("secret"))
    #expect(text(.removed(entity: nil, format: "row")).contains("removed images in \"row\""))
  }

  @Test("takes the events of its level and of higher ones")
  func filters() async {
    for (level, expected) in [
      (EventLog.Level.info, ["damaged", "end"]), (.debug, ["hit", "damaged", "end"]),
    ] {
      let listeners = EventListeners()
      let lines = Lock<[String]>([])
      let count = Counter()
      EventLog.follow(listeners, from: level) { line in
        lines.withLock { $0.append(line) }
        count.increment()
      }
      let recorder = CacheRecorder(of: "a", among: listeners)
      recorder.send(.hit(entity: 1, format: "row"))
      recorder.send(.damaged(entity: 1, format: "row"))
      recorder.send(.storageChanged(format: "end", .unavailable(reason: "It is gone.")))
      await count.reaches(expected.count)
      let written = lines.withLock { $0 }
      #expect(written.count == expected.count)
      for (line, word) in zip(written, expected) { #expect(line.contains(word), "\(line)") }
    }
  }

  @Test("is asked for by the name of a level")
  func reads() {
    #expect(EventLog.Level(named: "info") == .info && EventLog.Level(named: "DEBUG") == .debug)
    #expect(EventLog.Level(named: "") == nil && EventLog.Level(named: "loud") == nil)
    #expect(EventLog.Level(named: nil) == nil)
  }
}
