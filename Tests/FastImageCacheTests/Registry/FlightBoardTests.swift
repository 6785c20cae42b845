import Foundation
import Pixels
import Testing

@testable import FastImageCache

@Suite("A flight board", .timeLimit(.minutes(10)))
struct FlightBoardTests: FlightBoardSuite {
  var board = FlightBoard<Int, ImageKey, FlightID>()

  @Test("is not joined by a waiter that knows another format's picture in a newer version")
  mutating func separatesVersionsOfOthers() {
    let old = join(1, dot).flight
    let new = join(2, row, versions: ["row": "a1", "dot": "a2"])
    #expect(new.isNewFlight && new.flight != old)
  }

  @Test("ends with its last waiter when others were answered with what was not fetched")
  mutating func endsAfterOtherAnswers() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    _ = board.take(flight)
    #expect(finish(row, of: flight, isFetched: false) == [1])
    #expect(board.asked { $0.isWanted(flight) })
    let left = board.leave(WaiterID(number: 2))
    #expect(left?.abandoned?.load == flight)
    // The other image was answered, so nobody gave it up.
    #expect(left?.abandoned?.requests == [dot])
    #expect(!board.asked { $0.isWanted(flight) })
  }

  @Test("tells a flight that ended from the one that has its index now")
  mutating func placesAreUsedAgain() {
    let old = join(1, row).flight
    _ = board.leave(WaiterID(number: 1))
    let new = join(2, row).flight
    #expect(new.index == old.index && new != old)
    #expect(!board.isUnderWay(old) && board.isUnderWay(new))
    #expect(!board.asked { $0.isWanted(old) } && !board.asked { $0.hasRequests(old) })
    #expect(board.take(old).isEmpty && finish(row, of: old).isEmpty)
    #expect(board.fail(old).waiters.isEmpty)
    let isKnown = board.setLoad(old, of: old)
    #expect(!isKnown)
    let isRetired = board.retire(old)
    #expect(isRetired)
    // None of it was the new one's.
    #expect(board.take(new) == [row])
    #expect(finish(row, of: new) == [2])
  }

  @Test("keeps the load that is told after the start, unless the flight has ended")
  mutating func replacesLoad() {
    let first = join(1, row).flight
    let isUnderWay = board.setLoad(first, of: first)
    #expect(isUnderWay)
    _ = board.leave(WaiterID(number: 1))
    let isEnded = !board.setLoad(first, of: first)
    #expect(isEnded)
    // Not in the new flight either that took the old one's place.
    _ = join(2, row)
    let isStillEnded = !board.setLoad(first, of: first)
    #expect(isStillEnded)
  }

  @Test("finds each of many pictures of one URL, and hands them out in the order of the wishes")
  mutating func keepsManyProducts() {
    let keys = (0..<40).map {
      ImageKey(entity: ImageID($0), version: "s", format: $0.isMultiple(of: 2) ? "row" : "dot")
    }
    var flight = join(0, keys[0], versions: [:]).flight
    for (number, key) in keys.enumerated().dropFirst() {
      flight = join(number, key, versions: [:]).flight
    }
    #expect(board.flightCount == 1)
    _ = join(100, keys[30], versions: [:])
    #expect(board.take(flight) == keys)
    _ = board.leave(WaiterID(number: 7))
    _ = join(101, keys[7], versions: [:])
    _ = join(102, ImageKey(entity: 99, version: "s", format: "row"), versions: [:])
    #expect(board.take(flight) == [keys[7], ImageKey(entity: 99, version: "s", format: "row")])
    for (number, key) in keys.enumerated() {
      let expected = number == 7 ? [101] : number == 30 ? [30, 100] : [number]
      #expect(finish(key, of: flight) == expected)
    }
  }

  @Test("hands back whatever request it forgets, for others to let go of")
  mutating func handsBackRequests() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    _ = board.leave(WaiterID(number: 1))
    _ = join(3, row)
    #expect(board.takeDropped() == [row])
    _ = finish(row, of: flight)
    _ = finish(dot, of: flight)
    #expect(board.takeDropped().isEmpty)
    let isRetired = board.retire(flight)
    #expect(isRetired && Set(board.takeDropped()) == [row, dot])
  }

  @Test("lets no request join a load from before a removal of its picture")
  mutating func joinsNoOlderThanRemoval() {
    let flight = join(1, row).flight
    board.remove(.entity("a", format: "row"), at: 2)
    #expect(join(3, dot).flight == flight)
    let newer = join(4, row)
    #expect(newer.isNewFlight && join(5, row).flight == newer.flight)
    board.remove(.format("dot"), at: 6)
    #expect(join(7, dot).isNewFlight)
    let other = ImageKey(entity: "b", version: "b1", format: "row")
    #expect(!join(8, other).isNewFlight)
  }

  @Test("knows the removals that a flight under way is older than, and no others")
  mutating func forgetsRemovals() {
    let flight = join(1, row).flight
    for number in 2..<200 { board.remove(.entity(ImageID(number), format: "row"), at: number) }
    board.remove(.entity("a", format: "row"), at: 200)
    #expect(join(201, row).isNewFlight)
    _ = board.leave(WaiterID(number: 1))
    for number in 202..<400 { board.remove(.entity(ImageID(number), format: "row"), at: number) }
    #expect(!board.isUnderWay(flight) && !join(401, row).isNewFlight)
  }

  @Test("lets whoever a flight waits for join younger flights only")
  mutating func refusesOlder() {
    let flight = join(1, row).flight
    let inner = join(2, dot, after: flight)
    #expect(inner.isNewFlight && join(3, dot).flight == inner.flight)
    #expect(join(4, dot, after: flight).flight == inner.flight)
    #expect(join(5, dot, after: inner.flight).isNewFlight)
  }

  @Test("does not call a picture left that its last waiter has from elsewhere")
  mutating func leavesAnswered() {
    let flight = join(1, row).flight
    #expect(board.take(flight) == [row])
    #expect(finish(row, of: flight, isFetched: false) == [1])
    _ = join(2, row)
    #expect(board.leave(WaiterID(number: 2), isAnswered: true)?.abandoned?.requests == [])
    let next = join(3, row)
    #expect(next.isNewFlight)
    #expect(board.leave(WaiterID(number: 3))?.abandoned?.requests == [row])
  }

  @Test("keeps neither address nor original of a flight that has ended")
  mutating func forgetsOrigins() throws {
    let original = SharedOriginal(
      origin: .original("o", version: "1"), size: PixelSize(width: 8, height: 8))
    _ = board.join(
      WaiterID(number: 1), key: row, origin: .url(try #require(URL(string: "test:/1"))),
      of: original, priority: .current, versions: [], request: row, start: { $0 },
      waiter: { _ in 1 })
    func origins() -> Int? {
      (Mirror(reflecting: board).descendant("current") as? [FlightOrigin: FlightID])?.count
    }
    #expect(origins() == 2)
    _ = board.leave(WaiterID(number: 1))
    #expect(origins() == 0)
  }

  @Test("tells all waiters of a failed flight, and those of all flights at the end")
  mutating func failsAll() {
    let flight = join(1, row).flight
    _ = join(2, dot)
    let failed = board.fail(flight)
    #expect(failed.waiters == [1, 2] && failed.requests == [row, dot])
    let next = join(3, row).flight
    let all = board.failAll()
    #expect(all.loads == [next] && all.waiters == [3])
    #expect(board.flightCount == 0 && board.waiterCount == 0)
  }
}

extension FlightBoard {
  /// An answer of a copy of the board, since questions may not change what an expectation looks at.
  func asked<Answer>(_ question: (inout Self) -> Answer) -> Answer {
    var copy = self
    return question(&copy)
  }
}
