import Foundation
import ImageSources
import Testing

@testable import FastImageCache

@Suite("The log of the system")
struct SystemLogTests {
  private static func missed(_ entity: ImageID, _ format: String = "row") -> CacheEvent {
    .missed(entity: entity, format: format)
  }

  private static func event(_ event: CacheEvent, in namespace: String = "photos") -> ProcessEvent {
    ProcessEvent(namespace: namespace, event: event)
  }

  @Test("has a category and a level for each event, and names its cache")
  func hasLines() {
    let id: ImageID = "photo"
    let events: [(CacheEvent, LogCategory, EventLog.Level)] = [
      (.hit(entity: id, format: "row"), .requests, .debug),
      (Self.missed(id), .requests, .debug),
      (.failed(entity: id, format: "row", .closed), .requests, .error),
      (
        .loaded(entity: id, format: "row", LoadReport(ofHitAfter: .seconds(1))), .requests, .info
      ),
      (.fetched(nil, byteCount: 9, duration: .seconds(1)), .loads, .debug),
      (.decoded(nil, size: PixelSize(width: 1, height: 1), duration: .zero), .loads, .debug),
      (.stored(entity: id, format: "row"), .tables, .debug),
      (.storeFailed(entity: id, format: "row", reason: "full"), .tables, .error),
      (.damaged(entity: nil, format: "row"), .tables, .error),
      (.original(id, .stored), .originals, .debug),
      (.original(id, .damaged), .originals, .error),
      (.original(nil, .unavailable("gone")), .originals, .error),
      (.storageChanged(format: "row", .ready), .tables, .debug),
      (.storageChanged(format: "row", .readOnly(reason: "full")), .tables, .error),
    ]
    for (event, category, level) in events {
      #expect(event.category == category && event.level == level, "\(event)")
      #expect(Self.event(event).text == "photos: \(event.text)")
    }
    #expect(Self.event(Self.missed(id), in: "").text == Self.missed(id).text)
  }

  @Test("has an interval from a miss to its end, whichever that is")
  func hasIntervals() {
    let ends: [CacheEvent] = [
      .loaded(entity: 1, format: "row", LoadReport(ofHitAfter: .zero)),
      .failed(entity: 1, format: "row", .closed), .cancelled(entity: 1, format: "row"),
    ]
    var intervals = LoadIntervals()
    for (index, end) in ends.enumerated() {
      #expect(intervals.change(by: Self.event(Self.missed(1))) == .begin(index + 1))
      #expect(intervals.change(by: Self.event(Self.missed(1))) == nil)
      #expect(intervals.change(by: Self.event(end)) == .end(index + 1))
      #expect(intervals.change(by: Self.event(end)) == nil)
    }
    #expect(intervals.change(by: Self.event(.hit(entity: 1, format: "row"))) == nil)
  }

  @Test("tells apart intervals of entities, formats and caches")
  func tellsApart() {
    var intervals = LoadIntervals()
    let begun = [
      Self.event(Self.missed(1)), Self.event(Self.missed(2)),
      Self.event(Self.missed(1, "page")), Self.event(Self.missed(1), in: "avatars"),
    ]
    #expect(begun.map { intervals.change(by: $0) } == (1...4).map { .begin($0) })
    #expect(
      intervals.change(by: Self.event(.cancelled(entity: 1, format: "page"))) == .end(3))
    #expect(
      intervals.change(by: Self.event(.cancelled(entity: 1, format: "row"), in: "avatars"))
        == .end(4))
  }

  @Test("ends the oldest interval when there are more than loads could be under way")
  func isBounded() {
    var intervals = LoadIntervals()
    let begun = (1...10_000).map { number in
      intervals.change(by: Self.event(Self.missed(ImageID(number))))
    }
    #expect(begun == (1...10_000).map { .begin($0, ending: $0 > 4096 ? $0 - 4096 : nil) })
  }
}
