/// Decides which requests share a load, and when a load has lost its last waiter.
///
/// A pure state machine: it neither waits nor resumes nor loads. ``InFlightRegistry`` applies an
/// event and then does what the answer says. Waiters, requests and loads are opaque to the board,
/// which only hands them back.
///
/// Invariants, true between any two calls:
/// 1. Each waiter stands in exactly one rendition of one flight, from `join` until the call that
///    returns it.
/// 2. A flight leaves the board in the call in which its last waiter leaves, unless it has delivered a
///    picture of its fetch. A flight whose last waiter was answered stays until its load retires it.
/// 3. A rendition is wanted exactly as long as it has a waiter; `finish` takes all its waiters.
/// 4. `current[origin]` is the flight that new waiters join: the newest one, or its predecessor once
///    the newest has ended. Other flights finish for the waiters that they have. A flight that began
///    because joining the current one would deadlock is never current; only waiters that cannot join
///    the current one either join it.
/// 5. A flight's priority is the highest among its waiters; a flight without waiters keeps its last
///    one. `moved` lists each flight whose priority changed since the last ``takeMoved()``.
/// 6. No flight waits for itself, not even through other flights: a waiter never joins a flight that
///    waits for one of its dependents.
/// 7. A flight under way has its record at `flights[id.index]` and its id at `ids[id.index]`.
/// 8. Once a flight has stored the picture of a younger request, no other flight stores an older
///    request's picture of the same entity and format in another version. Waiters' numbers tell the age
///    of requests: a picture is as young as the youngest request that it answers, and a sibling as the
///    youngest request for its entity; but a flight stores no sibling of which it was asked for another
///    version. Hits are no requests here, and a picture that is stored by hand
///    is younger than all flights that began before.
/// 9. A waiter joins a flight of its own policy or of a stronger one; a reload joins no flight that has
///    asked its source. The flight that begins instead takes the older one's place, as after a removal.
/// 10. Once a flight stronger than `normal` has stored a picture, no older flight of the same source
///    stores any, nor does a waiter join one; nor a younger one that began with a kept original, unless it
///    had asked the source. Once a flight has kept its original, no older flight of the same source
///    keeps one.
/// 11. A picture that a waiter wants as the real one is stored as the real one, and the original of a flight
///     that had such a waiter is kept as a real one. A table's placeholder answers no such waiter. Once a
///     picture or the original of a flight was decided to be a placeholder, or a table's placeholder to answer,
///     no waiter for a real picture joins it: such a waiter begins a flight, which takes this one's place. A
///     placeholder keeps no flight from storing a real picture by invariant 8.
struct FlightBoard<Waiter, Request, Load> {
  typealias Flight = FlightRecord<Request, Load>

  private struct WaiterRecord {
    let waiter: Waiter
    let flight: FlightID
    let rendition: Int
    /// What it was given, by ``join(_:key:origin:priority:versions:policy:dependents:request:start:waiter:)``
    /// or by ``move(_:to:)``.
    var given: Priority
    /// What its task was escalated to, if it was.
    var escalated: Priority?
    /// The flights that go on only after this waiter has its answer.
    let dependents: [FlightID]

    var priority: Priority { max(given, escalated ?? given) }
  }

  /// The outcome of `join`.
  struct Joined {
    /// The load of the flight that the waiter belongs to now.
    let load: Load
    /// Whether that flight has begun with this waiter.
    let isNewFlight: Bool
  }

  /// The outcome of `leave`.
  struct Left {
    let waiter: Waiter
    /// The load to cancel, and its unanswered requests, if the flight left the board with its waiter.
    let abandoned: (load: Load, requests: ShortList<Request>)?
  }

  var flights: [Flight?] = []
  private(set) var ids: [FlightID?] = []
  private var freeIndices: [Int] = []
  private var current: [FlightOrigin: FlightID] = [:]
  private var waiters: [WaiterID: WaiterRecord] = [:]
  private var lastFlight = 0
  private var dropped: ShortList<Request> = []
  private var moved: [(load: Load, priority: Priority)] = []

  init() {}

  var flightCount: Int { flights.count - freeIndices.count }
  var waiterCount: Int { waiters.count }

  func isWaiting(_ id: WaiterID) -> Bool { waiters[id] != nil }

  // MARK: Waiters

  /// Adds a waiter to the newest flight of its origin, or to a new one.
  ///
  /// - Parameters:
  ///   - versions: The versions of its entity in each format, as the waiter knows them. The waiter
  ///     joins a flight only if they agree with all requests of that flight, and if its picture was not
  ///     removed since the flight began.
  ///   - policy: How much the waiter wants of a load.
  ///   - isPlaceholder: Whether the waiter is content with a placeholder.
  ///   - dependents: The flights that go on only after this waiter has its answer.
  ///   - request: Handed out by ``take(_:)``, unless the same picture is wanted already.
  ///   - start: Makes the load of a new flight.
  ///   - waiter: Makes the waiter, for the load that it waits for.
  mutating func join(
    _ id: WaiterID, key: ImageKey, origin: FlightOrigin, priority: Priority,
    versions: [ImageKey], policy: LoadOptions.Policy = .normal, isPlaceholder: Bool = false,
    dependents: [FlightID] = [],
    request: Request, start: (FlightID) -> Load,
    waiter: (Load) -> Waiter
  ) -> Joined {
    let waiting = flightsWaiting(forOneOf: dependents)
    let newest = current[origin]
    let isRefused = newest.map(waiting.contains) ?? false
    let found = isRefused ? newestFlight(of: origin, besides: waiting) : newest
    let flight = found.flatMap { found in
      look(at: found) { $0.accepts(key, versions, policy, isPlaceholder: isPlaceholder) } == true
        ? found : nil
    }
    let isNewFlight = flight == nil
    let target =
      flight ?? begin(origin, policy, priority, after: newest, isCurrent: !isRefused, start)
    let joined = look(at: target) { flight in
      (
        load: flight.load,
        added: flight.add(id, for: key, request, isPlaceholder: isPlaceholder, priority: priority)
      )
    }
    guard let joined else {
      preconditionFailure("A flight that was found or begun is under way.")
    }
    if let request = joined.added.dropped { dropped.append(request) }
    let former = waiters.updateValue(
      WaiterRecord(
        waiter: waiter(joined.load), flight: target, rendition: joined.added.index,
        given: priority, dependents: dependents),
      forKey: id)
    precondition(former == nil, "A waiter joins once.")
    followWaiters(of: target)
    return Joined(load: joined.load, isNewFlight: isNewFlight)
  }

  /// `others`, and all flights that go on only after one of them.
  private func flightsWaiting(forOneOf others: [FlightID]) -> Set<FlightID> {
    var waiting = Set(others)
    if others.isEmpty { return waiting }
    var count = 0
    while count < waiting.count {
      count = waiting.count
      for waiter in waiters.values where waiting.contains(waiter.flight) {
        waiting.formUnion(waiter.dependents)
      }
    }
    return waiting
  }

  /// The newest flight that a waiter may join when joining the current one would deadlock; never one
  /// that was current before.
  private func newestFlight(
    of origin: FlightOrigin, besides refused: Set<FlightID>
  ) -> FlightID? {
    flights.compactMap { $0 }
      .filter { $0.isForRefused && $0.origin == origin && !refused.contains($0.id) }
      .max { $0.id.number < $1.id.number }?.id
  }

  private mutating func begin(
    _ origin: FlightOrigin, _ policy: LoadOptions.Policy, _ priority: Priority,
    after older: FlightID?, isCurrent: Bool, _ start: (FlightID) -> Load
  ) -> FlightID {
    lastFlight += 1
    let index = freeIndices.popLast() ?? flights.count
    let id = FlightID(number: lastFlight, index: index)
    if index == flights.count {
      flights.append(nil)
      ids.append(nil)
      // Cancelling a request, which frees an index, takes no memory.
      freeIndices.reserveCapacity(flights.capacity)
    }
    ids[index] = id
    flights[index] = Flight(
      id: id, origin: origin, policy: policy, older: older, isForRefused: !isCurrent,
      priority: priority, load: start(id))
    if isCurrent { current[origin] = id }
    return id
  }

  /// Replaces a flight's load; `false` if the flight has ended.
  mutating func setLoad(_ load: Load, of id: FlightID) -> Bool {
    look(at: id) { $0.load = load } != nil
  }

  /// Gives a waiter another priority; does nothing for a waiter that was answered or left.
  mutating func move(_ id: WaiterID, to priority: Priority) {
    change(id) { $0.given = priority }
  }

  /// Gives a waiter at least this priority from now on, whatever it is given, since its task has it.
  mutating func escalate(_ id: WaiterID, to priority: Priority) {
    change(id) { $0.escalated = max(priority, $0.escalated ?? priority) }
  }

  private mutating func change(_ id: WaiterID, _ body: (inout WaiterRecord) -> Void) {
    guard var waiter = waiters[id] else { return }
    let before = waiter.priority
    body(&waiter)
    waiters[id] = waiter
    guard waiter.priority != before else { return }
    look(at: waiter.flight) { $0.move(from: before, to: waiter.priority) }
    followWaiters(of: waiter.flight)
  }

  /// Takes a waiter off the board; `nil` if it was answered already.
  ///
  /// - Parameter isAnswered: Whether the waiter has its picture from elsewhere.
  mutating func leave(_ id: WaiterID, isAnswered: Bool = false) -> Left? {
    guard let left = waiters.removeValue(forKey: id) else { return nil }
    let waiting = waiters
    let isAbandoned = look(at: left.flight) { flight in
      flight.remove(at: left.rendition, priority: left.priority, isAnswered: isAnswered) {
        waiting[$0] != nil
      }
      return flight.isAbandoned
    }
    var abandoned: (load: Load, requests: ShortList<Request>)?
    if isAbandoned == true, let flight = remove(left.flight) {
      abandoned = (flight.load, flight.unansweredRequests)
    } else {
      followWaiters(of: left.flight)
    }
    return Left(waiter: left.waiter, abandoned: abandoned)
  }

  /// The requests that the board has forgotten since the last call. The caller releases them outside
  /// its lock, since entities may end with them and run any code.
  mutating func takeDropped() -> ShortList<Request> {
    defer { dropped = [] }
    return dropped
  }

  /// The flights whose priority has changed since the last call, in the order of the changes.
  mutating func takeMoved() -> [(load: Load, priority: Priority)] {
    if moved.isEmpty { return [] }
    defer { moved = [] }
    return moved
  }

  // MARK: Flights

  /// Hands out the requests for the wanted pictures that were not handed out yet, the oldest first.
  mutating func take(_ id: FlightID) -> [Request] {
    look(at: id) { $0.take() } ?? []
  }

  /// Whether ``take(_:)`` would hand out a request.
  mutating func hasRequests(_ id: FlightID) -> Bool {
    look(at: id) { $0.hasRequests } == true
  }

  /// Whether the flight has waiters.
  mutating func isWanted(_ id: FlightID) -> Bool {
    look(at: id) { !$0.waiting.isEmpty } == true
  }

  /// Ends one rendition of a flight.
  ///
  /// - Parameter isFetched: Whether the picture was made of the flight's fetch: then its siblings can be
  ///   drawn from the same bytes, and the flight goes on without waiters.
  /// - Returns: The waiters to answer.
  mutating func finish(
    _ key: ImageKey, of id: FlightID, isFetched: Bool
  ) -> [Waiter] {
    let rendition = look(at: id) { flight in
      let rendition = flight.wantedIndex(of: key)
      if isFetched, rendition != nil { flight.hasDelivered = true }
      return rendition
    }
    guard case .some(.some(let rendition)) = rendition else { return [] }
    defer { followWaiters(of: id) }
    return end(rendition, of: id)
  }

  /// Takes a flight off the board unless ``take(_:)`` would hand out a request.
  mutating func retire(_ id: FlightID) -> Bool {
    if hasRequests(id) { return false }
    remove(id)
    return true
  }

  /// Takes a failed flight off the board.
  ///
  /// - Returns: The waiters to answer, and the requests that fail with them.
  mutating func fail(_ id: FlightID) -> (waiters: [Waiter], requests: [Request]) {
    let wished = look(at: id) { flight in
      flight.wishes.map { (rendition: $0, request: flight.renditions[$0].request) }
    }
    guard let wished else { return ([], []) }
    defer { remove(id) }
    return (wished.flatMap { end($0.rendition, of: id) }, wished.map(\.request))
  }

  // MARK: All flights

  /// Ends one rendition in every flight, because its picture was stored by hand.
  ///
  /// No flight under way stores the picture any more: neither one that has drawn it already, nor one
  /// that began just before the picture could be found.
  ///
  /// - Returns: The waiters to answer, and the loads to cancel, since they have no other waiters.
  mutating func supersede(_ key: ImageKey) -> (waiters: [Waiter], abandoned: [Load]) {
    var waiters: [Waiter] = []
    var abandoned: [Load] = []
    forbidStoring(.entity(key.entity, format: key.format), andJoining: false)
    for id in underWay {
      let rendition = look(at: id) { $0.wantedIndex(of: key) }
      guard case .some(.some(let rendition)) = rendition else { continue }
      waiters += end(rendition, of: id)
      if look(at: id, { $0.isAbandoned }) == true, let flight = remove(id) {
        abandoned.append(flight.load)
      } else {
        followWaiters(of: id)
      }
    }
    return (waiters, abandoned)
  }

  /// Takes all flights off the board.
  ///
  /// - Returns: The loads to cancel, and the waiters to answer.
  mutating func failAll() -> (loads: [Load], waiters: [Waiter]) {
    let ids = underWay
    return (ids.compactMap { flights[$0.index]?.load }, ids.flatMap { fail($0).waiters })
  }

  /// All flights under way, the oldest first.
  private var underWay: [FlightID] {
    ids.compactMap { $0 }.sorted { $0.number < $1.number }
  }

  func isUnderWay(_ id: FlightID) -> Bool {
    ids.indices.contains(id.index) && ids[id.index] == id
  }

  /// Reads or changes a flight's record in place, since it is large to copy; `nil` if the flight has
  /// ended.
  @discardableResult
  mutating func look<Answer>(
    at id: FlightID, _ body: (inout Flight) -> Answer
  ) -> Answer? {
    isUnderWay(id) ? flights[id.index]?.apply(body) : nil
  }

  private mutating func followWaiters(of id: FlightID) {
    let changed = look(at: id) { $0.followWaiters() ? (load: $0.load, priority: $0.priority) : nil }
    if case .some(.some(let changed)) = changed { moved.append(changed) }
  }

  private mutating func end(_ rendition: Int, of id: FlightID) -> [Waiter] {
    let listed = look(at: id) { $0.end(at: rendition) } ?? []
    return listed.compactMap { waiter in
      guard let record = waiters.removeValue(forKey: waiter) else { return nil }
      look(at: id) { $0.answer(waiter, at: rendition, priority: record.priority) }
      return record.waiter
    }
  }

  @discardableResult
  private mutating func remove(_ id: FlightID) -> Flight? {
    guard isUnderWay(id), let flight = flights[id.index].take() else { return nil }
    ids[id.index] = nil
    freeIndices.append(id.index)
    if let place = current.index(forKey: flight.origin), current[place].value == id {
      if let older = flight.older, isUnderWay(older) {
        current.values[place] = older
      } else {
        current.remove(at: place)
      }
    }
    for rendition in flight.renditions { dropped.append(rendition.request) }
    return flight
  }
}
