import TestSupport
import Testing

@testable import FastImageCache

@Suite("A queue of a stream", .timeLimit(.minutes(10)))
struct StreamQueueTests {
  @Test("lets go of an element that was read, while others are unread")
  func letsGoOfRead() async {
    final class Thing: Sendable {}
    let queue = StreamQueue<Thing>()
    var thing: Thing? = Thing()
    weak let read = thing
    if let thing = thing.take() { queue.add(consume thing) }
    for _ in 0..<2 { queue.add(Thing()) }
    #expect(queue.takeUnread() != nil)
    #expect(read == nil)
    #expect(queue.takeUnread() != nil && queue.takeUnread() != nil && queue.takeUnread() == nil)
  }

  @Test("lets go of what a cancelled reader did not read, and tells that nobody reads")
  func letsGo() async {
    final class Thing: Sendable {}
    let queue = StreamQueue<Thing>()
    let (heard, busy, ended) = (Counter(), Gate(), Counter())
    let stream = queue.makeStream { ended.increment() }
    let reader = Task {
      for await _ in stream {
        heard.increment()
        await busy.pass()
      }
    }
    queue.add(Thing())
    queue.wake()
    await heard.reaches(1)
    var thing: Thing? = Thing()
    weak let unread = thing
    if let thing = thing.take() { queue.add(consume thing) }
    #expect(unread != nil)
    reader.cancel()
    busy.open()
    await reader.value
    // The stream is still there.
    withExtendedLifetime(stream) { #expect(unread == nil && ended.value >= 1) }
    #expect(heard.value == 1)
  }

  @Test("of progress keeps the newest preview, origin and step, and no preview beside the image")
  func newestProgress() async throws {
    let queue = LoadProgress.makeListener()
    func unread() -> [String] {
      var texts: [String] = []
      while let step = queue.takeUnread() {
        switch step {
        case .receiving(let count, of: _): texts.append("receiving \(count)")
        case .arrived(let origin): texts.append("arrived \(origin)")
        case .preview(_, let preview): texts.append("preview \(preview.kind)")
        case .finished: texts.append("finished")
        case .failed: texts.append("failed")
        default: texts.append("\(step)")
        }
      }
      return texts
    }
    let fixture = try await Fixture()
    let image = try await fixture.cache.store(solid(1), for: Photo("a"), format: .row)
    func preview(_ number: Int) -> ImageProgress {
      .preview(image, ImagePreview(kind: .frame(number), isSettled: false))
    }
    let steps: [ImageProgress] = [
      .queued, preview(1), .receiving(1, of: nil), preview(2), .arrived(.original),
      .receiving(2, of: nil), .arrived(.source), .decoding, .drawing,
    ]
    for step in steps { queue.add(step) }
    #expect(unread() == ["preview frame(2)", "arrived source", "drawing"])
    for step in [preview(3), .drawing, .failed(.closed)] { queue.add(step) }
    #expect(unread() == ["preview frame(3)", "failed"])
    for step in [.arrived(.source), preview(3), .drawing, .finished(image)] { queue.add(step) }
    #expect(unread() == ["arrived source", "finished"])
  }
}
