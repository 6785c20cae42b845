import Foundation

@testable import FastImageCache

/// Something that happens to a flight board. Flights are those in the air, the oldest first.
enum BoardEvent: Hashable {
  case join(
    format: String, version: Int, policy: LoadOptions.Policy = .normal, audience: Int = 0,
    isPlaceholder: Bool = false)
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
  /// The picture that was handed out first of all and is not finished.
  case finish(isFetched: Bool)
  /// The newest flight hands out what it has not, and finishes what it handed out last.
  case deliverNewest
  /// Flights that have delivered, the newest first, store their siblings in a format that nobody waits
  /// for.
  case storeSiblings(format: String)
  case retireOldest
  case retireNewest
  case failOldest
  case supersede(format: String, version: Int)
  case forbid(format: String)
  case remove(format: String)
}

/// A request, as far as a board hands it back.
struct BoardRequest: Hashable {
  let key: ImageKey
  let isPlaceholder: Bool
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
    /// Who could be joined when this one began.
    let older: FlightID?
    let policy: LoadOptions.Policy
    let audience: Int
    var hasAsked = false
    /// Whether a flight that asked for more has stored a picture, which this one may not replace.
    var isOutdated = false
    /// Whether its original was removed, or a younger one was kept.
    var keepsNothing = false
    /// All that was ever asked of it is of this version.
    let version: Int
    var hasDelivered = false
    var priority: Priority
    var wishes: [ImageKey] = []
    var handedOut: [ImageKey] = []
    /// The wishes of which nobody wanted the real picture.
    var placeholders: Set<ImageKey> = []
    /// Whether somebody wanted a real picture.
    var isForReal = false
    /// Whether something was decided to be a placeholder, which nobody may join for a real picture.
    var hasPlaceholder = false
    /// The formats whose picture was removed or stored by hand since the flight began, and those of
    /// them whose picture was removed.
    var forbidden: Set<String> = []
    var removed: Set<String> = []
    /// The youngest waiter that was answered.
    var lastAnswered = 0
  }

  /// The audience of requests that begin with what is kept.
  static let kept = 2

  var waiters: [Waiter] = []
  /// Those in the air, the oldest first.
  var flights: [Flight] = []
  /// The one that may be joined, of each audience.
  var current: [Int: FlightID] = [:]
  /// What a table would hold of each format: a version, and the youngest request that stored it. Placeholders
  /// are nothing there.
  var table: [String: (version: ImageID, request: Int)] = [:]

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

  /// Whether a flight may store a picture for a request; stores it if so.
  mutating func store(
    _ key: ImageKey, for request: Int, of flight: Flight, isPlaceholder: Bool
  ) -> Bool {
    let isOutdated = flights.first { $0.id == flight.id }?.isOutdated ?? false
    if isOutdated || flight.forbidden.contains(key.format) { return false }
    if let held = table[key.format], held.version != key.version {
      if held.request > request { return false }
      if !isPlaceholder { table[key.format] = nil }
    }
    if !isPlaceholder {
      table[key.format] = (key.version, max(request, table[key.format]?.request ?? 0))
    }
    if flight.policy != .normal {
      // A placeholder keeps no real picture out.
      let others = flights.filter { $0.id != flight.id && !(isPlaceholder && $0.isForReal) }
      for older in others where older.id.number < flight.id.number {
        change(older.id) { $0.isOutdated = true }
      }
      for other in others where other.audience == Self.kept {
        change(other.id) { if !$0.hasAsked { $0.isOutdated = true } }
      }
    }
    return true
  }

  /// Forgets a picture of a flight, and who waits for it, whose wait ends with an answer.
  mutating func forget(_ key: ImageKey, of id: FlightID) {
    let answered = waiters(for: key, of: id).map(\.number).max() ?? 0
    waiters.removeAll { $0.flight == id && $0.key == key }
    change(id) { flight in
      flight.lastAnswered = max(flight.lastAnswered, answered)
      flight.wishes.removeAll { $0 == key }
      flight.handedOut.removeAll { $0 == key }
    }
  }

  mutating func end(_ id: FlightID) {
    guard let flight = flights.first(where: { $0.id == id }) else { return }
    flights.removeAll { $0.id == id }
    if current[flight.audience] == id {
      current[flight.audience] = flights.first { $0.id == flight.older }?.id
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
