import Foundation
import Testing

@testable import FastImageCache

@Suite("The priority of a flight on its board", .timeLimit(.minutes(10)))
struct FlightBoardPriorityTests {
  private var board = FlightBoard<Int, ImageKey, FlightID>()
  private let url = FlightOrigin.url(URL(fileURLWithPath: "/photo.jpg"))
  private let row = ImageKey(entity: "a", version: "a1", format: "row")
  private let dot = ImageKey(entity: "a", version: "a1", format: "dot")

  private mutating func join(
    _ number: Int, _ key: ImageKey, priority: Priority = .medium,
    versions: [String: ImageID] = ["row": "a1", "dot": "a1"], dependents: [FlightID] = [],
    origin: FlightOrigin? = nil
  ) -> FlightBoard<Int, ImageKey, FlightID>.Joined {
    board.join(
      WaiterID(number: number), key: key, origin: origin ?? url, priority: priority,
      versions: versions.map { ImageKey(entity: "a", version: $1, format: $0) },
      dependents: dependents,
      request: key, start: { $0 }, waiter: { _ in number })
  }

  private mutating func finish(
    _ key: ImageKey, of flight: FlightID, isFetched: Bool = true
  ) -> [Int] {
    board.finish(key, of: flight, isFetched: isFetched)
  }

  @Test("raises a flight to its most urgent waiter, and lowers it when that one leaves")
  mutating func followsPriority() {
    _ = join(1, row, priority: .low)
    #expect(moved() == [])
    _ = join(2, row, priority: .medium)
    #expect(moved() == [.medium])
    _ = join(3, row, priority: .low)
    #expect(moved() == [])
    _ = board.leave(WaiterID(number: 2))
    #expect(moved() == [.low])
  }

  @Test("lowers a flight when its most urgent waiter is answered")
  mutating func followsAnswers() {
    let flight = join(1, row, priority: .low).flight
    _ = join(2, dot, priority: .high)
    #expect(moved() == [.high])
    _ = finish(dot, of: flight)
    #expect(moved() == [.low])
    _ = join(3, dot, priority: .high)
    _ = board.supersede(dot)
    #expect(moved() == [.high, .low])
  }

  @Test("leaves a flight as urgent as it was for those who were answered together")
  mutating func keepsLastPriority() {
    let flight = join(1, row, priority: .high).flight
    _ = join(2, row, priority: .low)
    _ = finish(row, of: flight)
    #expect(moved() == [])
    // It goes on for the family, and now for somebody who is in less of a hurry.
    _ = join(3, dot, priority: .low)
    #expect(moved() == [.low])
  }

  @Test("is told of waiters who become more or less urgent, and counts them so when they leave")
  mutating func movesWaiters() {
    _ = join(1, row, priority: .medium)
    _ = join(2, row, priority: .low)
    board.move(WaiterID(number: 2), to: .high)
    #expect(moved() == [.high])
    board.move(WaiterID(number: 2), to: .high)
    #expect(moved() == [])
    _ = board.leave(WaiterID(number: 2))
    #expect(moved() == [.medium])
    board.move(WaiterID(number: 2), to: .high)
    board.move(WaiterID(number: 1), to: .background)
    #expect(moved() == [.background])
    #expect(board.leave(WaiterID(number: 1))?.abandoned != nil)
  }

  private mutating func moved() -> [Priority] { board.takeMoved().map(\.priority) }
}
