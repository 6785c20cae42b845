import Foundation

@testable import FastImageCache

extension FlightBoard.Joined where Load == FlightID {
  var flight: FlightID { load }
}

/// A board and its model, to which the same happens.
struct BoardPlay {
  /// Faults that a play must find.
  enum Plant {
    case none
    /// Versions of one entity share a flight.
    case versionsIgnored
    /// Whoever leaves is answered all the same.
    case leavingIgnored
    /// What was removed is joined.
    case removalsIgnored
    /// Flights keep the priority of waiters who have left.
    case fallsIgnored
    /// A reload joins any flight.
    case policiesIgnored
    /// A reload joins a flight that has asked.
    case askingIgnored
    /// All audiences share a flight.
    case audiencesIgnored
    /// Originals are kept that were removed.
    case lostOriginalsIgnored
    /// Nobody knows that a flight begins with what is kept.
    case keptIgnored
    /// Waiters keep their priority.
    case movesIgnored
    /// Nobody hears of escalated tasks.
    case escalationsIgnored
    /// Who is given another priority loses that of the task.
    case escalationsForgotten
  }

  private let plant: Plant
  private var board = FlightBoard<WaiterID, ImageKey, FlightID>()
  private var model = BoardModel()
  private var number = 0
  private static let formats = ["row", "dot"]
  private static let origins = [
    nil, LoadIdentity(LoadOptions(account: AccountID("a")).conditions, beginsWithKept: false),
    LoadIdentity(.ordinary, beginsWithKept: true),
  ].map { FlightOrigin.url(URL(fileURLWithPath: "/photo.jpg"), $0) }

  init(plant: Plant = .none) { self.plant = plant }

  private static func key(_ format: String, _ version: Int) -> ImageKey {
    ImageKey(entity: "a", version: ImageID("a\(version)"), format: format)
  }

  /// Whether an event does something that no other event does: else it makes no new sequence.
  func isPossible(_ event: BoardEvent) -> Bool {
    switch event {
    case .join: true
    case .leaveOldest: !model.waiters.isEmpty
    case .leaveNewest, .moveNewest: model.waiters.count > 1
    case .moveOldest, .escalateNewest: !model.waiters.isEmpty
    case .finish: model.flights.contains { !$0.handedOut.isEmpty }
    case .retireNewest: model.flights.count > 1
    case .askNewest: model.flights.last?.hasAsked == false
    case .keepNewest: model.flights.count > 1
    case .takeNewest, .deliverNewest, .retireOldest, .failOldest, .supersede, .remove,
      .keepOldest, .removeOriginals:
      !model.flights.isEmpty
    }
  }

  /// Lets an event happen, and says what the two disagree about.
  mutating func apply(_ event: BoardEvent) -> String? {
    let problem: String?
    switch event {
    case .join(let format, let version, let policy, let audience):
      problem = join(format, version, policy, audience)
    case .askNewest: problem = ask(model.flights.last)
    case .keepOldest: problem = keep(model.flights.first)
    case .keepNewest: problem = keep(model.flights.last)
    case .removeOriginals: problem = removeOriginals()
    case .leaveOldest: problem = leave(model.waiters.first)
    case .leaveNewest: problem = leave(model.waiters.last)
    case .moveOldest(let priority): problem = move(model.waiters.first, to: priority)
    case .moveNewest(let priority): problem = move(model.waiters.last, to: priority)
    case .escalateNewest(let priority): problem = escalate(model.waiters.last, to: priority)
    case .takeNewest: problem = take(model.flights.last)
    case .finish(let isFetched): problem = finish(isFetched)
    case .deliverNewest: problem = deliver(model.flights.last)
    case .retireOldest: problem = retire(model.flights.first)
    case .retireNewest: problem = retire(model.flights.last)
    case .failOldest: problem = fail(model.flights.first)
    case .supersede(let format, let version): problem = supersede(Self.key(format, version))
    case .remove(let format): problem = remove(format)
    }
    if let problem { return problem }
    if plant != .leavingIgnored, board.waiterCount != model.waiters.count {
      return "\(board.waiterCount) wait"
    }
    if board.flightCount != model.flights.count { return "\(board.flightCount) flights" }
    return comparePriorities()
  }

  private mutating func comparePriorities() -> String? {
    let before = Dictionary(uniqueKeysWithValues: model.flights.map { ($0.id, $0.priority) })
    let expected = model.followWaiters()
    var moved: [FlightID: Priority] = [:]
    for (flight, priority) in board.takeMoved() {
      let isIgnored = plant == .fallsIgnored && before[flight].map { priority < $0 } == true
      if !isIgnored { moved[flight] = priority }
    }
    return moved == expected ? nil : "\(moved) became as urgent, not \(expected),"
  }

  // MARK: Events

  private mutating func join(
    _ format: String, _ version: Int, _ policy: LoadOptions.CachePolicy, _ audience: Int
  ) -> String? {
    number += 1
    let priority = [Priority.medium, .high, .low][number % 3]
    let key = Self.key(format, version)
    let newest = model.flights.first { $0.id == model.current[audience] }
    let joinable = newest.flatMap { flight in
      flight.version == version && !flight.removed.contains(format)
        && policy.rawValue <= flight.policy.rawValue
        && !(policy == .reload && flight.hasAsked)
        ? flight : nil
    }
    let isNewRendition = joinable.map { !$0.wishes.contains(key) } ?? true
    let told = plant == .versionsIgnored ? newest?.version ?? version : version
    let id = WaiterID(number: number)
    var toldAudience = plant == .audiencesIgnored ? 0 : audience
    if plant == .keptIgnored, audience == BoardModel.kept { toldAudience = 0 }
    let joined = board.join(
      id, key: Self.key(format, told), origin: Self.origins[toldAudience], priority: priority,
      versions: Self.formats.map { Self.key($0, told) },
      policy: plant == .policiesIgnored ? .useCache : policy,
      request: Self.key(format, told),
      start: { $0 }, waiter: { _ in id })
    if joined.isNewFlight != (joinable == nil) { return "a flight is wrongly new or old" }
    if let joinable, joined.flight != joinable.id { return "another flight was joined" }
    if joinable == nil {
      model.flights.append(
        .init(
          id: joined.flight, policy: policy, audience: audience, version: version,
          priority: priority))
      model.current[audience] = joined.flight
    }
    model.waiters.append(
      .init(number: number, flight: joined.flight, key: key, given: priority))
    model.change(joined.flight) { flight in
      if isNewRendition { flight.wishes.append(key) }
    }
    return nil
  }

  private mutating func leave(_ waiter: BoardModel.Waiter?) -> String? {
    guard let waiter else { return nil }
    model.waiters.removeAll { $0.number == waiter.number }
    if model.waiters(for: waiter.key, of: waiter.flight).isEmpty {
      model.forget(waiter.key, of: waiter.flight)
    }
    let isAbandoned = model.flights.first { $0.id == waiter.flight }.map(model.isAbandoned) ?? false
    if isAbandoned { model.end(waiter.flight) }
    if plant == .leavingIgnored { return nil }
    let left = board.leave(WaiterID(number: waiter.number))
    let isRight =
      left?.waiter == WaiterID(number: waiter.number)
      && left?.abandoned?.load == (isAbandoned ? waiter.flight : nil)
    return isRight ? nil : "leaving did \(String(describing: left))"
  }

  private mutating func move(_ waiter: BoardModel.Waiter?, to priority: Priority) -> String? {
    guard let waiter else { return nil }
    model.change(waiter) { $0.given = priority }
    if plant != .movesIgnored { board.move(WaiterID(number: waiter.number), to: priority) }
    return nil
  }

  private mutating func escalate(
    _ waiter: BoardModel.Waiter?, to priority: Priority
  ) -> String? {
    guard let waiter else { return nil }
    model.change(waiter) { $0.escalated = max(priority, $0.escalated) }
    let id = WaiterID(number: waiter.number)
    switch plant {
    case .escalationsIgnored: break
    case .escalationsForgotten: board.move(id, to: max(priority, waiter.priority))
    default: board.escalate(id, to: priority)
    }
    return nil
  }

  private mutating func ask(_ flight: BoardModel.Flight?) -> String? {
    guard let flight else { return nil }
    model.change(flight.id) { $0.hasAsked = true }
    if plant != .askingIgnored { board.noteAsked(flight.id) }
    return nil
  }

  private mutating func keep(_ flight: BoardModel.Flight?) -> String? {
    guard let flight else { return nil }
    let isKept = board.keepsOriginal(of: "a", flight.id)
    return isKept != flight.keepsNothing ? nil : "keeping is wrongly allowed or not"
  }

  private mutating func removeOriginals() -> String? {
    for flight in model.flights { model.change(flight.id) { $0.keepsNothing = true } }
    if plant != .lostOriginalsIgnored {
      number += 1
      board.remove(.originals("a"), at: number)
    }
    return nil
  }

  private mutating func take(_ flight: BoardModel.Flight?) -> String? {
    guard let flight else { return nil }
    let expected = flight.wishes.filter { !flight.handedOut.contains($0) }
    model.change(flight.id) { $0.handedOut += expected }
    return board.take(flight.id) == expected ? nil : "other pictures were handed out"
  }

  private mutating func finish(_ isFetched: Bool) -> String? {
    guard let flight = model.flights.first(where: { !$0.handedOut.isEmpty }) else { return nil }
    return finish(flight.handedOut[0], of: flight, isFetched)
  }

  private mutating func deliver(_ flight: BoardModel.Flight?) -> String? {
    if let problem = take(flight) { return problem }
    guard let flight = model.flights.first(where: { $0.id == flight?.id }),
      let key = flight.handedOut.last
    else { return nil }
    return finish(key, of: flight, true)
  }

  private mutating func finish(
    _ key: ImageKey, of flight: BoardModel.Flight, _ isFetched: Bool
  ) -> String? {
    let expected = model.waiters(for: key, of: flight.id)
    model.forget(key, of: flight.id)
    if isFetched { model.change(flight.id) { $0.hasDelivered = true } }
    if board.finish(key, of: flight.id, isFetched: isFetched) != expected {
      return "others were answered"
    }
    let again = board.finish(key, of: flight.id, isFetched: isFetched)
    return again.isEmpty ? nil : "somebody was answered twice"
  }

  /// Only a load that has finished all that it was handed retires.
  private mutating func retire(_ flight: BoardModel.Flight?) -> String? {
    guard let flight, flight.handedOut.isEmpty else { return nil }
    let isIdle = flight.wishes.isEmpty
    if isIdle { model.end(flight.id) }
    return board.retire(flight.id) == isIdle ? nil : "a flight retired wrongly or not"
  }

  private mutating func fail(_ flight: BoardModel.Flight?) -> String? {
    guard let flight else { return nil }
    let expected = flight.wishes.flatMap { model.waiters(for: $0, of: flight.id) }
    model.waiters.removeAll { $0.flight == flight.id }
    model.end(flight.id)
    return board.fail(flight.id).waiters == expected ? nil : "others were told"
  }

  private mutating func supersede(_ key: ImageKey) -> String? {
    number += 1
    var expected: [WaiterID] = []
    var ended: [FlightID] = []
    for flight in model.flights { model.change(flight.id) { $0.removed.insert(key.format) } }
    for flight in model.flights where flight.wishes.contains(key) {
      expected += model.waiters(for: key, of: flight.id)
      model.forget(key, of: flight.id)
      if model.isAbandoned(flight) {
        model.end(flight.id)
        ended.append(flight.id)
      }
    }
    let (waiters, flights) = board.supersede(key, at: number)
    return waiters == expected && flights == ended ? nil : "superseding did something else"
  }

  private mutating func remove(_ format: String) -> String? {
    number += 1
    for flight in model.flights { model.change(flight.id) { $0.removed.insert(format) } }
    if plant != .removalsIgnored { board.remove(.entity("a", format: format), at: number) }
    return nil
  }
}
