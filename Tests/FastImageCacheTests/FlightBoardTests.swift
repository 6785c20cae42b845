import Foundation
import Testing

@testable import FastImageCache

@Suite("A flight board", .timeLimit(.minutes(15)))
struct FlightBoardTests {
  private var board = FlightBoard()
  private let url = FlightOrigin.url(URL(fileURLWithPath: "/photo.jpg"))
  private let row = ImageKey(entity: "a", source: "a1", format: "row")
  private let dot = ImageKey(entity: "a", source: "a1", format: "dot")

  private mutating func join(
    _ number: Int, _ key: ImageKey, priority: TaskPriority = .medium,
    versions: [String: ImageID] = ["row": "a1", "dot": "a1"]
  ) -> FlightBoard.Joined {
    board.join(
      WaiterID(number: number), key: key, origin: url, priority: priority,
      version: { versions[$0] })
  }

  private func waiters(_ numbers: Int...) -> [WaiterID] { numbers.map { WaiterID(number: $0) } }

  @Test("joins entities and formats of one URL in one flight")
  mutating func joinsByURL() {
    let first = join(1, row)
    let otherFormat = join(2, dot)
    let otherEntity = join(3, ImageKey(entity: "b", source: "b1", format: "row"))
    #expect(first.isNewFlight && !otherFormat.isNewFlight && !otherEntity.isNewFlight)
    #expect(first.flight == otherFormat.flight && first.flight == otherEntity.flight)
    #expect(otherFormat.isNewProduct && otherEntity.isNewProduct)
    #expect(board.take(first.flight).count == 3)
  }

  @Test("answers every waiter of a picture once")
  mutating func answersOnce() {
    let flight = join(1, row).flight
    #expect(!join(2, row).isNewProduct)
    #expect(board.take(flight) == [row])
    #expect(board.take(flight) == [])
    #expect(board.finish(row, of: flight) == waiters(1, 2))
    #expect(board.finish(row, of: flight) == [])
    #expect(board.leave(WaiterID(number: 1)) == nil)
    #expect(board.waiterCount == 0)
  }

  @Test("cancels a flight with its last waiter, not before")
  mutating func cancelsWithLastWaiter() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    #expect(board.leave(WaiterID(number: 1)) == .init(flight: flight, cancelsFlight: false))
    #expect(board.leave(WaiterID(number: 2)) == .init(flight: flight, cancelsFlight: true))
    #expect(board.flightCount == 0)
  }

  @Test("gives a request after a cancel a flight of its own, which late results do not reach")
  mutating func startsAnewAfterCancel() {
    let old = join(1, row).flight
    _ = board.leave(WaiterID(number: 1))
    let new = join(2, row)
    #expect(new.isNewFlight && new.flight != old)
    #expect(board.finish(row, of: old) == [])
    #expect(board.fail(old) == [])
    #expect(board.finish(row, of: new.flight) == waiters(2))
  }

  @Test("keeps a newer version of an entity out of the flight of its older one")
  mutating func separatesVersions() {
    let old = join(1, row).flight
    let new = join(
      2, ImageKey(entity: "a", source: "a2", format: "row"), versions: ["row": "a2", "dot": "a2"])
    #expect(new.isNewFlight && new.flight != old)
    let third = join(
      3, ImageKey(entity: "a", source: "a2", format: "dot"), versions: ["row": "a2", "dot": "a2"])
    #expect(third.flight == new.flight)
    #expect(board.finish(row, of: old) == waiters(1))
  }

  @Test("remembers the older version after its waiters were answered")
  mutating func separatesVersionsLate() {
    let old = join(1, row).flight
    _ = board.take(old)
    _ = board.finish(row, of: old)
    let new = join(
      2, ImageKey(entity: "a", source: "a2", format: "row"), versions: ["row": "a2", "dot": "a2"])
    #expect(new.flight != old)
  }

  @Test("hands out a picture again when it is wanted again after all had left")
  mutating func handsOutAgain() {
    let flight = join(1, row).flight
    _ = join(9, dot)
    #expect(board.take(flight) == [row, dot])
    _ = board.leave(WaiterID(number: 1))
    #expect(join(2, row).isNewProduct)
    #expect(board.take(flight) == [row])
  }

  @Test("goes on for siblings when the last waiter leaves after a delivery")
  mutating func goesOnAfterDelivery() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    _ = board.take(flight)
    _ = board.finish(row, of: flight)
    #expect(board.leave(WaiterID(number: 2)) == .init(flight: flight, cancelsFlight: false))
    let isRetired = board.retire(flight)
    #expect(isRetired)
    #expect(board.flightCount == 0)
  }

  @Test("does not retire a flight that has something new to do")
  mutating func refusesToRetire() {
    let flight = join(1, row).flight
    _ = board.take(flight)
    _ = board.finish(row, of: flight)
    _ = join(2, dot)
    let isRetired = board.retire(flight)
    #expect(!isRetired)
    #expect(board.take(flight) == [dot])
  }

  @Test("raises a flight to its hottest waiter and lets it cool down again")
  mutating func followsPriority() {
    let flight = join(1, row, priority: .low).flight
    #expect(join(2, row, priority: .medium).raisedPriority == .medium)
    #expect(join(3, row, priority: .low).raisedPriority == nil)
    #expect(board.priority(of: flight) == .medium)
    _ = board.leave(WaiterID(number: 2))
    #expect(board.priority(of: flight) == .low)
  }

  @Test("forbids storing what was removed while it was loaded")
  mutating func forbidsStoring() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    board.forbidStoring(.entity("a", format: "row"))
    #expect(!board.storesResult(row, of: flight))
    #expect(board.storesResult(dot, of: flight))
  }

  @Test("tells all waiters of a failed flight, and those of all flights at the end")
  mutating func failsAll() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    #expect(board.fail(flight) == waiters(1, 2))
    let next = join(3, row).flight
    let all = board.failAll()
    #expect(all.flights == [next] && all.waiters == waiters(3))
    #expect(board.flightCount == 0 && board.waiterCount == 0)
  }
}
