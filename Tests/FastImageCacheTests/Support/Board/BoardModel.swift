import Foundation

@testable import FastImageCache

/// Something that happens to a flight board. Flights are those in the air, the oldest first.
enum BoardEvent: Hashable {
  case join(
    format: String, version: Int, policy: LoadOptions.CachePolicy = .useCache, audience: Int = 0)
  /// The newest flight asks its source.
  case askNewest
  /// The original of a flight is held.
  case keepOldest
  case keepNewest
  case removeOriginals
  case leaveOldest
  case leaveNewest
  /// A waiter is given another priority.
  case moveOldest(Priority)
  case moveNewest(Priority)
  /// The task of a waiter is escalated.
  case escalateNewest(Priority)
  case takeNewest
  /// The image that was handed out first of all and is not finished.
  case finish(isFetched: Bool)
  /// The newest flight hands out what it has not, and finishes what it handed out last.
  case deliverNewest
  case retireOldest
  case retireNewest
  case failOldest
  case supersede(format: String, version: Int)
  case remove(format: String)
}

/// The plainest bookkeeping that could be right: who waits for what.
struct BoardModel {
  struct Waiter {
    let number: Int
    let flight: FlightID
    let key: ImageKey
    var given: Priority
    var escalated = Priority.background

    var priority: Priority { max(given, escalated) }
  }
  struct Flight {
    let id: FlightID
    let policy: LoadOptions.CachePolicy
    let audience: Int
    var hasAsked = false
    /// Whether its original was removed.
    var keepsNothing = false
    /// All that was ever asked of it is of this version.
    let version: Int
    var hasDelivered = false
    var priority: Priority
    var wishes: [ImageKey] = []
    var handedOut: [ImageKey] = []
    /// The formats whose image was removed or stored by hand since the flight began.
    var removed: Set<String> = []
  }

  /// The audience of requests that begin with what is kept.
  static let kept = 2

  var waiters: [Waiter] = []
  /// Those in the air, the oldest first.
  var flights: [Flight] = []
  /// The one that may be joined, of each audience.
  var current: [Int: FlightID] = [:]
  func waiters(for key: ImageKey, of id: FlightID) -> [WaiterID] {
    waiters.filter { $0.flight == id && $0.key == key }.map { WaiterID(number: $0.number) }
  }

  mutating func change(_ waiter: Waiter?, _ body: (inout Waiter) -> Void) {
    guard let index = waiters.firstIndex(where: { $0.number == waiter?.number }) else { return }
    body(&waiters[index])
  }

  mutating func change(_ id: FlightID, _ body: (inout Flight) -> Void) {
    guard let index = flights.firstIndex(where: { $0.id == id }) else { return }
    body(&flights[index])
  }

  /// Forgets an image of a flight, and who waits for it.
  mutating func forget(_ key: ImageKey, of id: FlightID) {
    waiters.removeAll { $0.flight == id && $0.key == key }
    change(id) { flight in
      flight.wishes.removeAll { $0 == key }
      flight.handedOut.removeAll { $0 == key }
    }
  }

  mutating func end(_ id: FlightID) {
    guard let flight = flights.first(where: { $0.id == id }) else { return }
    flights.removeAll { $0.id == id }
    if current[flight.audience] == id {
      current[flight.audience] = nil
    }
  }

  /// Gives each flight the highest priority of its waiters, and returns those that have changed.
  mutating func followWaiters() -> [FlightID: Priority] {
    var changed: [FlightID: Priority] = [:]
    for index in flights.indices {
      let priorities = waiters.filter { $0.flight == flights[index].id }.map(\.priority)
      guard let highest = priorities.max(), highest != flights[index].priority else { continue }
      flights[index].priority = highest
      changed[flights[index].id] = highest
    }
    return changed
  }

  /// True when nobody wants anything of a flight that has delivered nothing that it fetched.
  func isAbandoned(_ flight: Flight) -> Bool {
    !flight.hasDelivered && !waiters.contains { $0.flight == flight.id }
  }
}
