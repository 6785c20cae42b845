import Foundation
import Testing

@testable import FastImageCache

@Suite("A flight board, of requests that want more or other than usual,", .timeLimit(.minutes(10)))
struct FlightBoardStrengthTests: FlightBoardSuite {
  var board = FlightBoard<Int, ImageKey, FlightID>()

  @Test("keeps an original under no entity once that of another one in the flight was removed")
  mutating func keepsNoShared() {
    let flight = join(1, row).flight
    board.remove(.originals("a"), at: 2)
    let late = ImageKey(entity: "b", version: "b1", format: "row")
    #expect(join(3, late, versions: [:]).flight == flight)
    #expect(board.keepsOriginal(of: "b", flight) == false)
  }

  @Test("has nothing revalidated whose picture or original was removed, or whose flight has ended")
  mutating func revalidatesNoRemoved() {
    let flight = join(1, row).flight
    #expect(board.mayBeRevalidated(row, "a", of: flight))
    board.remove(.entity("a", format: "row"), at: 2)
    #expect(!board.mayBeRevalidated(row, "a", of: flight))
    #expect(board.mayBeRevalidated(dot, "a", of: flight))
    board.remove(.originals("a"), at: 3)
    #expect(!board.mayBeRevalidated(dot, "a", of: flight))
    let next = join(4, dot, policy: .reload).flight
    _ = board.fail(next)
    #expect(!board.mayBeRevalidated(dot, "a", of: next))
  }

  @Test("never joins requests of different identities")
  mutating func separatesIdentities() throws {
    let url = URL(fileURLWithPath: "/photo.jpg")
    var headers = LoadOptions()
    headers.headers = ["Accept": "image/webp"]
    let options: [LoadOptions] = [
      LoadOptions(scope: .cache), LoadOptions(scope: .local),
      LoadOptions(account: AccountID("a")), LoadOptions(account: AccountID("b")), headers,
    ]
    var flights = [join(1, row).flight]
    for (index, options) in options.enumerated() {
      let identity = try #require(LoadIdentity(options.conditions, beginsWithKept: false))
      flights.append(join(2 + index, row, origin: .url(url, identity)).flight)
      #expect(join(20 + index, row, origin: .url(url, identity)).flight == flights.last)
    }
    let kept = LoadIdentity(.ordinary, beginsWithKept: true)
    flights.append(join(40, row, origin: .url(url, kept)).flight)
    // Equal as text, and not as bytes.
    for (number, value) in [(50, "\u{E9}"), (51, "e\u{301}")] {
      headers.headers = ["X-Name": value]
      let identity = LoadIdentity(headers.conditions, beginsWithKept: false)
      flights.append(join(number, row, origin: .url(url, identity)).flight)
    }
    #expect(Set(flights).count == 9)
  }

  @Test("joins requests of equal conditions, copied or made anew, and of no others")
  mutating func joinsEqualIdentities() {
    func origin(_ headers: [String: String], _ avoids: NetworkCosts = .expensive) -> FlightOrigin {
      var options = LoadOptions(account: AccountID("a"), avoids: avoids)
      options.headers = headers
      return .url(
        URL(fileURLWithPath: "/photo.jpg"), LoadIdentity(options.conditions, beginsWithKept: false))
    }
    let headers = ["Accept": "image/webp", "X-\u{E9}": "1"]
    let flight = join(1, row, origin: origin(headers)).flight
    var others = [headers.merging(["Accept": "image/png"]) { $1 }, [:]]
    others += [headers.filter { $0.key == "Accept" }, headers.merging(["Y": "1"]) { $1 }]
    others.append(["Accept": "image/webp", "X-e\u{301}": "1"])
    var flights = [flight, join(2, row, origin: origin(headers, .constrained)).flight]
    for (index, headers) in others.enumerated() {
      flights.append(join(3 + index, row, origin: origin(headers)).flight)
    }
    #expect(Set(flights).count == 7)
    #expect(join(20, row, origin: origin(headers)).flight == flight)
  }

  @Test("builds no identity for conditions that forbid no sharing")
  func buildsNoIdentity() {
    var options = LoadOptions(.reload)
    options.timeout = .seconds(1)
    #expect(LoadIdentity(options.conditions, beginsWithKept: false) == nil)
    #expect(LoadIdentity(.ordinary, beginsWithKept: false) == nil)
  }
}
