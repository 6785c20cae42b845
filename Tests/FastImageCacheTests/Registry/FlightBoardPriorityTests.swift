import Testing

@testable import FastImageCache

@Suite("The priority of a flight on its board", .timeLimit(.minutes(10)))
struct FlightBoardPriorityTests: FlightBoardSuite {
  var board = FlightBoard<Int, ImageKey, FlightID>()

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
    _ = board.supersede(dot, at: 9)
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

  @Test("keeps a waiter at least as urgent as its task was made, whatever it is given")
  mutating func escalatesWaiters() {
    _ = join(1, row, priority: .low)
    board.escalate(WaiterID(number: 1), to: .medium)
    #expect(moved() == [.medium])
    board.escalate(WaiterID(number: 1), to: .low)
    board.move(WaiterID(number: 1), to: .background)
    #expect(moved() == [])
    board.move(WaiterID(number: 1), to: .high)
    board.move(WaiterID(number: 1), to: .low)
    #expect(moved() == [.high, .medium])
    board.escalate(WaiterID(number: 2), to: .high)
    #expect(moved() == [])
    #expect(board.leave(WaiterID(number: 1))?.abandoned != nil)
  }

  private mutating func moved() -> [Priority] { board.takeMoved().map(\.priority) }
}
