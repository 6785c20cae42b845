import Locking
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

  /// Says its items, and thinks of another one with each until the last.
  private final class Speaker: OutboxOwner {
    /// True for the caller of the first turn: a task that takes over inherits no such value.
    @TaskLocal static var isFirst = false
    private let outbox = Lock(Outbox<Int>())
    private let last: Int
    let said = Lock<[Int]>([])
    let (count, firstCount) = (Counter(), Counter())

    init(last: Int = 0) { self.last = last }

    func append(_ item: Int) { outbox.withLock { $0.append(item) } }

    var waitingCount: Int { outbox.withLock { $0.count } }

    func deliverNext(isFlushing: Bool) -> Bool {
      guard let item = outbox.withLock({ $0.next(isFlushing: isFlushing) }) else { return false }
      said.withLock { $0.append(item) }
      if item < last { append(item + 1) }
      if Self.isFirst { firstCount.increment() }
      count.increment()
      return true
    }
  }

  @Test("keeps no thread that speaks longer than its turn, though there is always more to say")
  func turns() async {
    let last = 3 * Speaker.turnLength
    let speaker = Speaker(last: last)
    speaker.append(0)
    // Here a thread was kept for as long as others went on.
    Speaker.$isFirst.withValue(true) { speaker.flush() }
    // The one that waits after them, and one that came meanwhile, too.
    #expect(speaker.firstCount.value == Speaker.turnLength + 2)
    await speaker.count.reaches(last + 1)
    #expect(speaker.said.withLock { $0 } == Array(0...last))
  }

  @Test("waits for no task where it was there when the turn began")
  func fanOut() {
    let speaker = Speaker()
    for item in 0..<1000 { speaker.append(item) }
    speaker.flush()
    #expect(speaker.said.withLock { $0 } == Array(0..<1000))
    // Nobody is left to deliver.
    speaker.append(1000)
    speaker.flush()
    #expect(speaker.count.value == 1001)
  }

  @Test("tells who listens the latest bytes, however many steps were left out before")
  func latestBytes() {
    let progress = FlightProgress(clock: ContinuousClock())
    let listeners = (0..<2).map { _ in FlightProgress.makeListener() }
    for (number, listener) in listeners.enumerated() {
      progress.add(listener, for: WaiterID(number: number))
    }
    // This test delivers; the threads that report find somebody doing it.
    #expect(progress.deliverNext(isFlushing: false))
    for count in 1...5000 { progress.report(.receiving(count, of: 9000)) }
    #expect(progress.waitingCount <= 1026)
    while progress.deliverNext(isFlushing: true) {}
    for listener in listeners {
      var steps: [ImageProgress] = []
      while let step = listener.takeUnread() { steps.append(step) }
      guard case .receiving(5000, of: 9000)? = steps.last else {
        Issue.record("The last step is \(steps)")
        continue
      }
    }
  }
}
