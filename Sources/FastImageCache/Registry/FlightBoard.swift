import ImageSources
import LoadQueue

/// Decides which requests share a load, and when a load has lost its last waiter.
///
/// A pure state machine: it neither waits nor resumes nor loads. ``InFlightRegistry`` applies an
/// event and then does what the answer says. Waiters, requests and loads are opaque to the board,
/// which only hands them back.
///
/// Invariants, true between any two calls:
/// 1. Each waiter stands in exactly one rendition of one flight, from `join` until the call that
///    returns it.
/// 2. A flight leaves the board in the call in which its last waiter leaves, unless it has delivered an
///    image of its fetch. A flight whose last waiter was answered stays until its load retires it.
/// 3. A rendition is wanted exactly as long as it has a waiter; `finish` takes all its waiters.
/// 4. `current[origin]` is the newest flight of the origin, as long as that is under way: the one that new waiters
///    join. A flight stands there under its original, too, for waiters of other origins that want no more pixels.
/// 5. A flight's priority is the highest among its waiters; a flight without waiters keeps its last
///    one. `moved` lists each flight whose priority changed since the last ``takeMoved()``.
/// 6. No flight waits for itself, not even through others: a waiter joins no flight that is older than one that
///    waits for the waiter's answer. So every flight waits for younger ones only.
/// 7. A flight under way has its record at `flights[id.index]` and its id at `ids[id.index]`.
/// 8. A waiter joins no flight that began before the last removal of its image. `removals` has those that a flight
///    under way is older than.
/// 9. A waiter joins a flight of its own policy or of a stronger one; a reload joins no flight that has
///    asked its source. The flight that begins instead takes the older one's place, as after a removal.
struct FlightBoard<Waiter, Request, Load> {
  typealias Flight = FlightRecord<Request, Load>

  private struct WaiterRecord {
    let waiter: Waiter
    let flight: FlightID
    let rendition: Int
    /// What it was given, by ``join(_:key:origin:priority:versions:policy:after:request:start:waiter:)``
    /// or by ``move(_:to:)``.
    var given: Priority
    /// What its task was escalated to, if it was.
    var escalated: Priority?

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
    let abandoned: (load: Load, requests: [Request])?
  }

  var flights: [Flight?] = []
  private(set) var ids: [FlightID?] = []
  private var freeIndices: [Int] = []
  private var current: [FlightOrigin: FlightID] = [:]
  private var waiters: [WaiterID: WaiterRecord] = [:]
  private var removals: [Removal: Int] = [:]
  private var dropped: [Request] = []
  private var moved: [(load: Load, priority: Priority)] = []

  init() {}

  var flightCount: Int { flights.count - freeIndices.count }
  var waiterCount: Int { waiters.count }

  func isWaiting(_ id: WaiterID) -> Bool { waiters[id] != nil }

  // MARK: Waiters

  /// Adds a waiter to the newest flight of its origin, or to a new one.
  ///
  /// - Parameters:
  ///   - original: That of the origin, where others may lead to it.
  ///   - versions: The versions of its entity in each format, as the waiter knows them. The waiter
  ///     joins a flight only if they agree with all requests of that flight, and if its image was not
  ///     removed since the flight began.
  ///   - policy: How much the waiter wants of a load.
  ///   - asker: The number of the youngest flight that goes on only after this waiter has its answer; -1 for none.
  ///   - request: Handed out by ``take(_:)``, unless the same image is wanted already.
  ///   - start: Makes the load of a new flight.
  ///   - waiter: Makes the waiter, for the load that it waits for.
  mutating func join(
    _ id: WaiterID, key: ImageKey, origin: FlightOrigin, of original: SharedOriginal? = nil,
    priority: Priority, versions: [ImageKey], policy: LoadOptions.CachePolicy = .useCache,
    after asker: Int = -1, request: Request, start: (FlightID) -> Load, waiter: (Load) -> Waiter
  ) -> Joined {
    let oldest = max(asker, lastRemoval(of: key))
    func find(_ origin: FlightOrigin, covering original: SharedOriginal? = nil) -> FlightID? {
      guard let newest = current[origin], newest.number > oldest else { return nil }
      let accepts = look(at: newest) { flight in
        flight.accepts(key, versions, policy)
          && original.map { flight.original?.covers($0) == true } ?? true
      }
      return accepts == true ? newest : nil
    }
    let own = find(origin)
    let found = own ?? original.flatMap { find($0.origin, covering: $0) }
    let isNewFlight = found == nil
    let target = found ?? begin(origin, original, policy, priority, for: id, start)
    let joined = look(at: target) { flight in
      (
        load: flight.load,
        added: flight.add(
          id, for: key, request, priority: priority, isAlternate: own == nil && !isNewFlight)
      )
    }
    guard let joined else {
      preconditionFailure("A flight that was found or begun is under way.")
    }
    dropped += joined.added.dropped
    let former = waiters.updateValue(
      WaiterRecord(
        waiter: waiter(joined.load), flight: target, rendition: joined.added.index,
        given: priority),
      forKey: id)
    precondition(former == nil, "A waiter joins once.")
    followWaiters(of: target)
    return Joined(load: joined.load, isNewFlight: isNewFlight)
  }

  private mutating func begin(
    _ origin: FlightOrigin, _ original: SharedOriginal?, _ policy: LoadOptions.CachePolicy,
    _ priority: Priority, for waiter: WaiterID, _ start: (FlightID) -> Load
  ) -> FlightID {
    let index = freeIndices.popLast() ?? flights.count
    let id = FlightID(number: waiter.number, index: index)
    if index == flights.count {
      flights.append(nil)
      ids.append(nil)
      // Cancelling a request, which frees an index, takes no memory.
      freeIndices.reserveCapacity(flights.capacity)
    }
    ids[index] = id
    flights[index] = Flight(
      id: id, origin: origin, original: original, policy: policy, priority: priority,
      load: start(id))
    current[origin] = id
    if let original { current[original.origin] = id }
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
  /// - Parameter isAnswered: Whether the waiter has its image from elsewhere.
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

  /// The requests that the board has forgotten since the last call. The caller releases them outside
  /// its lock, since entities may end with them and run any code.
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

  /// Hands out the requests for the wanted images that were not handed out yet, the oldest first.
  mutating func take(_ id: FlightID) -> [Request] {
    look(at: id) { $0.take() } ?? []
  }

  /// Hands out a request for an image that joined with another address than the flight's, the newest first.
  mutating func takeAlternate(_ key: ImageKey, of id: FlightID) -> Request? {
    let request = look(at: id) { flight in
      flight.wantedIndex(of: key).flatMap { flight.takeAlternate(at: $0) }
    }
    return request ?? nil
  }

  /// Whether ``take(_:)`` would hand out a request.
  mutating func hasRequests(_ id: FlightID) -> Bool {
    look(at: id) { $0.hasRequests } == true
  }

  /// Whether the flight has waiters, for any image or for one.
  mutating func isWanted(_ id: FlightID, for key: ImageKey? = nil) -> Bool {
    look(at: id) { flight in
      key.map { flight.wantedIndex(of: $0) != nil } ?? !flight.waiting.isEmpty
    } == true
  }

  /// Ends one rendition of a flight.
  ///
  /// - Parameter isFetched: Whether the image was made of the flight's fetch: then its siblings can be
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

  /// Ends one rendition in every flight, because its image was stored by hand; later waiters for it join none of
  /// these flights.
  ///
  /// - Returns: The waiters to answer, and the loads to cancel, since they have no other waiters.
  mutating func supersede(
    _ key: ImageKey, at number: Int
  ) -> (waiters: [Waiter], abandoned: [Load]) {
    var waiters: [Waiter] = []
    var abandoned: [Load] = []
    remove(.entity(key.entity, format: key.format), at: number)
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

  /// Notes a removal.
  mutating func remove(_ removal: Removal, at number: Int) {
    guard let oldest = oldestFlight else { return }
    removals[removal] = max(number, removals[removal] ?? 0)
    if removals.count > 64 { removals = removals.filter { $0.value > oldest } }
  }

  /// The number of the oldest flight under way.
  var oldestFlight: Int? {
    ids.reduce(nil) { oldest, id in
      id.map { min($0.number, oldest ?? $0.number) } ?? oldest
    }
  }

  private func lastRemoval(of key: ImageKey) -> Int {
    if removals.isEmpty { return -1 }
    return max(
      removals[.format(key.format)] ?? -1, removals[.entity(key.entity, format: key.format)] ?? -1)
  }

  /// Notes that a flight asks its source now.
  mutating func noteAsked(_ id: FlightID) { look(at: id) { $0.hasAsked = true } }

  /// Whether this flight's original may be kept as that of an entity: not if that of any entity of the flight was
  /// removed since the flight began. It is one original, whoever asks for it.
  func keepsOriginal(of entity: ImageID, _ id: FlightID) -> Bool {
    guard isUnderWay(id), let flight = flights[id.index] else { return false }
    func isKept(_ entity: ImageID) -> Bool { removals[.originals(entity)] ?? -1 < id.number }
    return removals.isEmpty
      || isKept(entity) && flight.renditions.allSatisfy { isKept($0.key.entity) }
  }

  /// Whether another flight may revalidate what this one has shown: not if its image or its original was removed
  /// since, or stored by hand.
  func mayBeRevalidated(_ key: ImageKey, _ entity: ImageID, of id: FlightID) -> Bool {
    keepsOriginal(of: entity, id) && lastRemoval(of: key) < id.number
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
      look(at: id) { $0.answer(at: record.priority) }
      return record.waiter
    }
  }

  @discardableResult
  private mutating func remove(_ id: FlightID) -> Flight? {
    guard isUnderWay(id), let flight = flights[id.index].take() else { return nil }
    ids[id.index] = nil
    freeIndices.append(id.index)
    if current[flight.origin] == id { current[flight.origin] = nil }
    if let origin = flight.original?.origin, current[origin] == id { current[origin] = nil }
    if flightCount == 0 { removals = [:] }
    for rendition in flight.renditions {
      dropped.append(rendition.request)
      dropped += rendition.alternates
    }
    return flight
  }
}
