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
}
