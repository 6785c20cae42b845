/// Decides which requests share a load and what the end of each one's interest means.
///
/// A pure state machine: it neither waits nor resumes nor loads. ``InFlightRegistry`` applies an
/// event and then does what the answer says. What it hands back later (who waits, what was asked,
/// what runs) is opaque to it.
///
/// Invariants, true between any two calls:
/// 1. Each waiter stands in exactly one rendition of one flight, from `join` until the call that
///    returns it.
/// 2. When a flight's last waiter leaves and nothing that it fetched was delivered, the flight leaves
///    the board in the same call. One whose last waiter was answered is retired by its load.
/// 3. A rendition is wanted as long as it has a waiter; `finish` ends that too.
/// 4. `current[origin]` is the newest flight of its origin, or the one whose place that had taken,
///    if it has ended first; others finish for their own waiters but nobody joins them any more.
///    A flight that began because the current one was refused is never current; only those join
///    it whom the current one is refused, too.
/// 5. A flight's priority is the highest among its waiters; when none is left it stays as it was.
///    `moved` lists each flight whose priority changed since the last ``takeMoved()``.
/// 6. No flight waits for itself, be it through others: a waiter never joins a flight that waits for
///    one of its dependents.
/// 7. The flight numbered `id.number` stands at `flights[id.index]`, or nowhere; `ids` says which.
/// 8. No flight stores a picture after another flight stored a younger request's picture of the same
///    entity and format, in another version. Waiters' numbers tell the younger request; a picture counts
///    as the youngest request that it answers, and a sibling as the youngest of its entity. Hits are no
///    requests here, and what is stored by hand is younger than all that began before.
struct FlightBoard<Waiter, Request, Load> {
  private typealias Flight = FlightRecord<Request, Load>

  private struct WaiterRecord {
    let waiter: Waiter
    let flight: FlightID
    let rendition: Int
    var priority: Priority
    /// The flights that go on only after this waiter has its answer.
    let dependents: [FlightID]
  }

  /// What `join` did.
  struct Joined {
    /// That of the flight which the waiter belongs to now.
    let load: Load
    /// Whether that flight has begun with this waiter.
    let isNewFlight: Bool
  }

  /// What `leave` did.
  struct Left {
    let waiter: Waiter
    /// What must be cancelled, and all that had been asked of it, if that flight has left the board.
    let abandoned: (load: Load, requests: [Request])?
  }

  private var flights: [Flight?] = []
  private var ids: [FlightID?] = []
  private var freeIndices: [Int] = []
  private var current: [FlightOrigin: FlightID] = [:]
  private var waiters: [WaiterID: WaiterRecord] = [:]
  private var lastFlight = 0
  private var dropped: [Request] = []
  private var moved: [(load: Load, priority: Priority)] = []

  init() {}

  var flightCount: Int { flights.count - freeIndices.count }
  var waiterCount: Int { waiters.count }

  // MARK: Waiters

  /// Adds a waiter to the newest flight of its origin, or to a new one.
  ///
  /// - Parameters:
  ///   - versions: The waiter's own idea of its entity's source version in each format. It joins a
  ///     flight only if that idea agrees with all that the flight was asked for, and if its picture
  ///     was not removed since the flight began.
  ///   - dependents: Flights that wait until this waiter is answered.
  ///   - request: Handed out by ``take(_:)``, if nobody else wants the same picture.
  ///   - start: Begins a load; called if a flight is new.
  ///   - waiter: Made for the load that it waits for.
  mutating func join(
    _ id: WaiterID, key: ImageKey, origin: FlightOrigin, priority: Priority,
    versions: [ImageKey], dependents: [FlightID] = [], request: Request, start: (FlightID) -> Load,
    waiter: (Load) -> Waiter
  ) -> Joined {
    precondition(waiters[id] == nil, "A waiter joins once.")
    let waiting = flightsWaiting(forOneOf: dependents)
    let newest = current[origin]
    let isRefused = newest.map(waiting.contains) ?? false
    let found = isRefused ? newestFlight(of: origin, besides: waiting) : newest
    let flight = found.flatMap { found in
      look(at: found) { $0.accepts(key, versions) } == true ? found : nil
    }
    let isNewFlight = flight == nil
    let target = flight ?? begin(origin, priority, isCurrent: !isRefused, start)
    let joined = look(at: target) { flight in
      (load: flight.load, added: flight.add(id, for: key, request, priority: priority))
    }
    guard let joined else {
      preconditionFailure("A flight that was found or begun is under way.")
    }
    if let request = joined.added.dropped { dropped.append(request) }
    waiters[id] = WaiterRecord(
      waiter: waiter(joined.load), flight: target, rendition: joined.added.index,
      priority: priority, dependents: dependents)
    followWaiters(of: target)
    return Joined(load: joined.load, isNewFlight: isNewFlight)
  }

  /// Those that go on only when one of `others` does, and these.
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

  /// The last that began of those that a waiter may join whom the current one is refused: not the
  /// older ones whose place that has taken.
  private func newestFlight(
    of origin: FlightOrigin, besides refused: Set<FlightID>
  ) -> FlightID? {
    flights.compactMap { $0 }
      .filter { $0.isForRefused && $0.origin == origin && !refused.contains($0.id) }
      .max { $0.id.number < $1.id.number }?.id
  }

  private mutating func begin(
    _ origin: FlightOrigin, _ priority: Priority, isCurrent: Bool, _ start: (FlightID) -> Load
  ) -> FlightID {
    lastFlight += 1
    let index = freeIndices.popLast() ?? flights.count
    let id = FlightID(number: lastFlight, index: index)
    if index == flights.count {
      flights.append(nil)
      ids.append(nil)
    }
    ids[index] = id
    flights[index] = Flight(
      id: id, origin: origin, older: current[origin], isForRefused: !isCurrent, priority: priority,
      load: start(id))
    if isCurrent { current[origin] = id }
    return id
  }

  /// Replaces what is known of a flight's load; false if the flight has ended.
  mutating func setLoad(_ load: Load, of id: FlightID) -> Bool {
    look(at: id) { $0.load = load } != nil
  }

  /// A waiter became more or less urgent; one that has been answered is left alone.
  mutating func move(_ id: WaiterID, to priority: Priority) {
    guard let waiter = waiters[id] else { return }
    look(at: waiter.flight) { $0.move(from: waiter.priority, to: priority) }
    waiters[id]?.priority = priority
    followWaiters(of: waiter.flight)
  }

  /// Ends a waiter's interest; `nil` if it has been answered already.
  ///
  /// - Parameter isAnswered: Whether it has its picture from elsewhere.
  mutating func leave(_ id: WaiterID, isAnswered: Bool = false) -> Left? {
    guard let left = waiters.removeValue(forKey: id) else { return nil }
    let waiting = waiters
    let isAbandoned = look(at: left.flight) { flight in
      flight.remove(at: left.rendition, priority: left.priority, isAnswered: isAnswered) {
        waiting[$0] != nil
      }
      return flight.isAbandoned
    }
    var abandoned: (load: Load, requests: [Request])?
    if isAbandoned == true, let flight = remove(left.flight) {
      abandoned = (flight.load, flight.unansweredRequests)
    } else {
      followWaiters(of: left.flight)
    }
    return Left(waiter: left.waiter, abandoned: abandoned)
  }

  /// The requests that the board has forgotten since the last call, for the caller to let go of where
  /// their ends may do anything.
  mutating func takeDropped() -> [Request] {
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

  /// The pictures that somebody waits for and that were not handed out yet, oldest wish first.
  mutating func take(_ id: FlightID) -> [Request] {
    look(at: id) { $0.take() } ?? []
  }

  /// Whether this flight's result for `key` may be stored: not if it was removed meanwhile, nor if
  /// the flight was cancelled, nor if a younger request's picture would be lost by it.
  ///
  /// To be asked right before the store, in the order of the stores: when the answer is yes, older
  /// requests' pictures of other versions are not stored any more.
  mutating func storesResult(_ key: ImageKey, of id: FlightID) -> Bool {
    let waiting = waiters
    let request = look(at: id) { $0.requestStored(by: key) { waiting[$0] != nil } }
    guard case .some(.some(let request)) = request else { return false }
    for index in flights.indices where ids[index] != id {
      flights[index]?.noteStored(key, for: request)
    }
    return true
  }

  /// Whether somebody waits for a picture of the flight that was not handed out.
  mutating func hasRequests(_ id: FlightID) -> Bool {
    look(at: id) { $0.hasRequests } == true
  }

  /// Whether somebody waits for anything of the flight.
  mutating func isWanted(_ id: FlightID) -> Bool {
    look(at: id) { !$0.waiting.isEmpty } == true
  }

  /// Ends one picture of a flight, and says who has to be answered.
  ///
  /// - Parameter isFetched: Whether it was made of what the flight fetched: then there are siblings
  ///   to be drawn from the same bytes, and the flight goes on when nobody waits any more.
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

  /// Takes a flight off the board unless somebody waits for a picture that was not handed out.
  mutating func retire(_ id: FlightID) -> Bool {
    if hasRequests(id) { return false }
    remove(id)
    return true
  }

  /// Takes a failed flight off the board, and says who has to be told and what they waited for.
  mutating func fail(_ id: FlightID) -> (waiters: [Waiter], requests: [Request]) {
    let wished = look(at: id) { flight in
      flight.wishes.map { (rendition: $0, request: flight.renditions[$0].request) }
    }
    guard let wished else { return ([], []) }
    defer { remove(id) }
    return (wished.flatMap { end($0.rendition, of: id) }, wished.map(\.request))
  }

  // MARK: All flights

  /// Forbids flights under way to store pictures that are being removed or stored by hand now.
  ///
  /// - Parameter andJoining: Whether later requests for them start flights of their own.
  mutating func forbidStoring(_ removal: Removal, andJoining: Bool) {
    for index in flights.indices {
      flights[index]?.forbidStoring(removal, andJoining: andJoining)
    }
  }

  /// Ends one picture in every flight, because it was stored by hand: says who has to be answered,
  /// and what must be cancelled since nobody wants anything else of it.
  ///
  /// No flight stores it any more, not even one that has it in hand already or that began just before
  /// it could be found.
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

  /// Takes everything off the board, and says what has to be cancelled and who told.
  mutating func failAll() -> (loads: [Load], waiters: [Waiter]) {
    let ids = underWay
    return (ids.compactMap { flights[$0.index]?.load }, ids.flatMap { fail($0).waiters })
  }

  /// Those under way, the oldest first.
  private var underWay: [FlightID] {
    ids.compactMap { $0 }.sorted { $0.number < $1.number }
  }

  func isUnderWay(_ id: FlightID) -> Bool {
    ids.indices.contains(id.index) && ids[id.index] == id
  }

  /// Asks or changes a flight where it stands, since a record is large to copy; `nil` if it has ended.
  @discardableResult
  private mutating func look<Answer>(
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
    if current[flight.origin] == id {
      current[flight.origin] = flight.older.flatMap { isUnderWay($0) ? $0 : nil }
    }
    for rendition in flight.renditions { dropped.append(rendition.request) }
    return flight
  }
}
