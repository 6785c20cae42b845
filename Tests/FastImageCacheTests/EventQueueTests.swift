import Testing

@testable import FastImageCache

@Suite("A queue of events", .timeLimit(.minutes(15)))
struct EventQueueTests {
  private let queue = EventQueue(size: 4)

  private func append(_ numbers: ClosedRange<Int>) {
    for number in numbers { queue.append(.hit(entity: ImageID(number), format: "row")) }
  }

  private func read() async -> String? {
    switch await queue.next() {
    case .hit(let entity, _): "\(entity)"
    case .skipped(let count): "skipped \(count)"
    case let event: event.map { "\($0)" }
    }
  }

  private func readAll() async -> [String] {
    var events: [String] = []
    while let event = await read() { events.append(event) }
    return events
  }

  @Test("has room again for as many as were read")
  func hasRoomAgain() async {
    append(1...4)
    #expect(await read() == "1")
    append(5...6)
    queue.finish()
    #expect(await readAll() == ["2", "3", "4", "5", "skipped 1"])
  }

  @Test("has room for nothing new before it was told what was lost")
  func tellsBefore() async {
    append(1...6)
    for number in 1...4 { #expect(await read() == "\(number)") }
    append(7...7)
    queue.finish()
    #expect(await readAll() == ["skipped 2", "7"])
  }

  @Test("keeps nothing that comes after its end")
  func endsForGood() async {
    append(1...1)
    queue.finish()
    append(2...2)
    #expect(await readAll() == ["1"])
  }
}
