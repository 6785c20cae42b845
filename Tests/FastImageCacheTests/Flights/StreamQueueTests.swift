import TestSupport
import Testing

@testable import FastImageCache

@Suite("A queue of a stream", .timeLimit(.minutes(10)))
struct StreamQueueTests {
  @Test("keeps nothing that comes after its end")
  func endsForGood() async {
    let queue = StreamQueue<Int>(size: 4)
    queue.append(1)
    queue.finish()
    queue.append(2)
    #expect([queue.takeUnread(), queue.takeUnread()] == [1, nil])
  }

  @Test("does not lose the element that lasts to others, but to one that ends its worth")
  func lasting() async {
    let queue = StreamQueue<Int>(
      size: 3, lasting: .init(holds: { $0 < 0 }, ends: { $0 <= 0 }))
    for number in [1, -1, 2, 3, 4, 5] { queue.append(number) }
    #expect(queue.takeUnread() == -1)
    #expect(queue.takeUnread() == 4)
    for number in [-2, 6, -3, 7, 8] { queue.append(number) }
    #expect([queue.takeUnread(), queue.takeUnread(), queue.takeUnread()] == [-3, 7, 8])
    for number in [-4, 9, 0] { queue.append(number) }
    #expect([queue.takeUnread(), queue.takeUnread(), queue.takeUnread()] == [9, 0, nil])
  }

  @Test("keeps the newest, if the oldest are to make room, and each of them once")
  func keepsNewest() async {
    let queue = StreamQueue<Int>(size: 3)
    for number in 1...4 { queue.append(number) }
    #expect(await queue.next() == 2)
    for number in 5...7 { queue.append(number) }
    queue.finish()
    var numbers: [Int] = []
    while let number = await queue.next() { numbers.append(number) }
    #expect(numbers == [5, 6, 7])
  }

  @Test("lets go of an element that was read, while others are unread")
  func letsGoOfRead() async {
    final class Thing: Sendable {}
    let queue = StreamQueue<Thing>(size: 3)
    var thing: Thing? = Thing()
    weak let read = thing
    if let thing = thing.take() { queue.append(consume thing) }
    for _ in 0..<2 { queue.append(Thing()) }
    #expect(queue.takeUnread() != nil)
    #expect(read == nil)
    #expect(queue.takeUnread() != nil && queue.takeUnread() != nil && queue.takeUnread() == nil)
  }

  @Test("lets go of what a cancelled reader did not read, and tells that nobody reads")
  func letsGo() async {
    final class Thing: Sendable {}
    let queue = StreamQueue<Thing>(size: 3)
    let (heard, busy, ended) = (Counter(), Gate(), Counter())
    let stream = queue.makeStream { ended.increment() }
    let reader = Task {
      for await _ in stream {
        heard.increment()
        await busy.pass()
      }
    }
    queue.append(Thing())
    await heard.reaches(1)
    var thing: Thing? = Thing()
    weak let unread = thing
    if let thing = thing.take() { queue.append(consume thing) }
    #expect(unread != nil)
    reader.cancel()
    busy.open()
    await reader.value
    // The stream is still there.
    withExtendedLifetime(stream) { #expect(unread == nil && ended.value >= 1) }
    #expect(heard.value == 1)
  }
}
