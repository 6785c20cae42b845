import Testing

@testable import FastImageCache

@Suite("A flight board with two versions of one picture", .timeLimit(.minutes(10)))
struct StoreOrderTests {
  private var board = FlightBoard<Int, ImageKey, FlightID>()
  private let row = ImageKey(entity: "a", version: "a1", format: "row")
  private let dot = ImageKey(entity: "a", version: "a1", format: "dot")

  private mutating func join(
    _ number: Int, _ key: ImageKey, origin: FlightOrigin = .entity("a")
  ) -> FlightBoard<Int, ImageKey, FlightID>.Joined {
    board.join(
      WaiterID(number: number), key: key, origin: origin, priority: .medium, versions: [],
      request: key, start: { $0 }, waiter: { _ in number })
  }

  private mutating func finish(_ key: ImageKey, of flight: FlightID) -> [Int] {
    board.finish(key, of: flight, isFetched: true)
  }

  @Test("stores no picture over that of a younger request for another version")
  mutating func storesInOrder() {
    let new = ImageKey(entity: "a", version: "a2", format: "row")
    let older = join(1, row).flight
    let younger = join(2, new).flight
    let isYoungerStored = board.storesResult(new, of: younger)
    #expect(isYoungerStored)
    #expect(!board.asked { $0.storesResult(row, of: older) })
    // The version is the format's own, and another entity's picture is nobody's rival.
    #expect(board.asked { $0.storesResult(dot, of: older) })
    let other = ImageKey(entity: "b", version: "b1", format: "row")
    #expect(board.asked { $0.storesResult(other, of: older) })
    // Its sibling counts as the request that brought it.
    let newDot = ImageKey(entity: "a", version: "a2", format: "dot")
    #expect(finish(new, of: younger) == [2])
    let isSiblingStored = board.storesResult(newDot, of: younger)
    #expect(isSiblingStored)
    #expect(finish(row, of: older) == [1])
    #expect(!board.asked { $0.storesResult(dot, of: older) })
  }

  @Test("stores no sibling of an earlier request after a request for its other version")
  mutating func storesNoOlderSibling() {
    let newDot = ImageKey(entity: "a", version: "a2", format: "dot")
    let flight = join(1, row).flight
    #expect(finish(row, of: flight) == [1])
    #expect(join(2, newDot).flight == flight)
    let isNewStored = board.storesResult(newDot, of: flight)
    #expect(isNewStored)
    #expect(finish(newDot, of: flight) == [2])
    #expect(!board.asked { $0.storesResult(dot, of: flight) })
  }

  @Test("stores an older load's picture for a request that is younger, and waits")
  mutating func storesForTheYoungest() {
    let new = ImageKey(entity: "a", version: "a2", format: "row")
    let older = join(1, row).flight
    let younger = join(2, new, origin: .entity("other")).flight
    let isYoungerStored = board.storesResult(new, of: younger)
    #expect(isYoungerStored)
    #expect(join(3, row).flight == older)
    _ = board.leave(WaiterID(number: 3))
    #expect(!board.asked { $0.storesResult(row, of: older) })
    #expect(join(4, row).flight == older)
    let isOlderStored = board.storesResult(row, of: older)
    #expect(isOlderStored)
    #expect(!board.asked { $0.storesResult(new, of: younger) })
  }
}
