import Locking
import Synchronization
import TestSupport
import Testing

@testable import FastImageCache

@Suite("What is left to say", .timeLimit(.minutes(10)))
struct OutboxTests {
  private var outbox = Outbox<Int>()

  @Test("is said in order, by one speaker")
  mutating func hasOneSpeaker() {
    for item in 1...3 { outbox.append(item) }
    let first = outbox.next(isFlushing: false)
    let rival = outbox.next(isFlushing: false)
    #expect(first == 1 && rival == nil)
    outbox.append(4)
    var rest: [Int] = []
    while let item = outbox.next(isFlushing: true) { rest.append(item) }
    #expect(rest == [2, 3, 4])
  }

  @Test("finds a speaker again after the last has ended")
  mutating func changesSpeakers() {
    let none = outbox.next(isFlushing: false)
    outbox.append(1)
    let first = outbox.next(isFlushing: false)
    let end = outbox.next(isFlushing: true)
    outbox.append(2)
    let second = outbox.next(isFlushing: false)
    #expect(none == nil && first == 1 && end == nil && second == 2)
  }

  /// Says its items, and thinks of another one with each for as long as it goes on.
  private final class Speaker: OutboxOwner {
    private let outbox = Lock(Outbox<Int>())
    let said = Lock<[Int]>([])
    let count = Counter()
    let goesOn = Atomic(false)

    func append(_ item: Int) { outbox.withLock { $0.append(item) } }

    func deliverNext(isFlushing: Bool) -> Bool {
      guard let item = outbox.withLock({ $0.next(isFlushing: isFlushing) }) else { return false }
      said.withLock { $0.append(item) }
      if goesOn.load(ordering: .relaxed) { append(item + 1) }
      count.increment()
      return true
    }
  }

  @Test("keeps no thread that speaks longer than its turn, though there is always more to say")
  func turns() async {
    let speaker = Speaker()
    speaker.goesOn.store(true, ordering: .relaxed)
    speaker.append(0)
    // Here a thread was kept for as long as others went on.
    speaker.flush()
    await speaker.count.reaches(3 * Speaker.turnLength)
    speaker.goesOn.store(false, ordering: .relaxed)
    let said = speaker.said.withLock { $0 }
    #expect(said == Array(0..<said.count) && said.count >= 3 * Speaker.turnLength)
  }

  @Test("is said in order and once, whoever takes over after a turn")
  func order() async {
    let speaker = Speaker()
    for item in 0..<1000 { speaker.append(item) }
    speaker.flush()
    // Another one has nothing to say meanwhile.
    speaker.flush()
    await speaker.count.reaches(1000)
    speaker.append(1000)
    speaker.flush()
    await speaker.count.reaches(1001)
    #expect(speaker.said.withLock { $0 } == Array(0...1000))
  }
}
