/// What a ``FlightBoard`` knows of one flight: who wants which pictures of it.
///
/// Invariants:
/// 1. `renditions` holds whatever was ever asked of the flight, so that a newer version of an entity
///    is told from an older one even when nobody waits for the older any more. No two renditions are
///    of the same entity and format, and a rendition keeps its place.
/// 2. Those who wait for a rendition are the `waitingCount` of its `waiters` that still stand on the
///    board.
/// 3. `waiting` counts all waiters of all renditions.
/// 4. `openCount` counts the renditions that are wanted and were not handed out.
struct FlightRecord<Request, Load> {
  struct Rendition {
    let key: ImageKey
    var request: Request
    /// Orders the wishes; a picture that is wanted anew comes last.
    var arrival: Int
    /// In the order of their coming; who left may still be among them.
    var waiters: [WaiterID] = []
    var waitingCount = 0
    var isTaken = false
    /// Whether those who waited last were answered, and did not leave.
    var isAnswered = false
    /// The youngest waiter that was answered; 0 before the first.
    var lastAnswered = 0
    var storesResult = true

    var isWanted: Bool { waitingCount > 0 }

    /// The number of the waiter that came last and has not left; 0 if none waits.
    func youngest(_ isWaiting: (WaiterID) -> Bool) -> Int {
      waiters.last(where: isWaiting)?.number ?? 0
    }
  }

  private struct Subject: Hashable {
    let entity: ImageID
    let format: String

    init(_ key: ImageKey) { (entity, format) = (key.entity, key.format) }
  }

  let id: FlightID
  let origin: FlightOrigin
  var load: Load
  var priority: Priority
  /// Whether somebody has a picture that was made of what the flight fetched.
  var hasDelivered = false
  /// The flight of the same origin that this one took the place of.
  let older: FlightID?
  /// Whether it began because the current one of its origin was refused.
  let isForRefused: Bool
  /// What was removed, or stored by hand, while this flight was under way.
  private var forbidden = Removals()
  /// The part of that which was removed: whoever asks for it afterwards wants what the source has
  /// now, not what it had before.
  private var removed = Removals()
  /// What other flights stored of this one's entities meanwhile: which version, for which waiter.
  private var stored: [Subject: (version: ImageID, request: Int)] = [:]
  private(set) var renditions: [Rendition] = []
  private(set) var waiting = WaiterCounts()
  private var arrivalCount = 0
  private var openCount = 0
  /// Only for flights of many renditions: the few of the others are found sooner one by one.
  private var index: [Subject: Int]?

  init(
    id: FlightID, origin: FlightOrigin, older: FlightID?, isForRefused: Bool, priority: Priority,
    load: Load
  ) {
    self.id = id
    self.origin = origin
    self.older = older
    self.isForRefused = isForRefused
    self.priority = priority
    self.load = load
  }

  /// Whether this flight must end: nobody wants anything, and nothing was delivered to whose
  /// siblings it could go on.
  var isAbandoned: Bool { waiting.isEmpty && !hasDelivered }

  /// What was asked for by people who have left or still wait.
  var unansweredRequests: [Request] {
    renditions.compactMap { $0.isAnswered ? nil : $0.request }
  }

  /// Whether somebody waits for a picture that was not handed out.
  var hasRequests: Bool { openCount > 0 }

  /// The number of the request for which the flight's result for a picture may be stored; `nil` if it
  /// may not.
  ///
  /// - Parameter isWaiting: Who still stands on the board.
  func requestStored(by key: ImageKey, isWaiting: (WaiterID) -> Bool) -> Int? {
    let place = wantedPlace(of: key)
    let isForbidden = place.map { !renditions[$0].storesResult } ?? forbidden.cover(key)
    if isForbidden { return nil }
    let request =
      place.map { renditions[$0].youngest(isWaiting) } ?? youngest(of: key.entity, isWaiting)
    if let other = stored[Subject(key)], other.version != key.version, other.request > request {
      return nil
    }
    return request
  }

  /// The youngest request for an entity that was answered or waits.
  private func youngest(of entity: ImageID, _ isWaiting: (WaiterID) -> Bool) -> Int {
    renditions.reduce(0) { number, rendition in
      rendition.key.entity == entity
        ? max(number, rendition.youngest(isWaiting), rendition.lastAnswered) : number
    }
  }

  /// Another flight stores a picture now. Only entities that this one has matter: whoever asks for
  /// another later is younger.
  mutating func noteStored(_ key: ImageKey, for request: Int) {
    guard renditions.contains(where: { $0.key.entity == key.entity }) else { return }
    let before = stored[Subject(key)].flatMap { $0.version == key.version ? $0.request : nil } ?? 0
    stored[Subject(key)] = (key.version, max(before, request))
  }

  /// Where the pictures are that somebody waits for, the oldest wish first.
  var wishes: [Int] {
    let places = renditions.indices.filter { renditions[$0].isWanted }
    return places.count > 1
      ? places.sorted { renditions[$0].arrival < renditions[$1].arrival } : places
  }

  /// Where the picture of an entity in a format is among the renditions, of whatever version.
  func place(of key: ImageKey) -> Int? {
    if let index { return index[Subject(key)] }
    return renditions.firstIndex { $0.key.entity == key.entity && $0.key.format == key.format }
  }

  /// Where this very picture is, if somebody waits for it.
  func wantedPlace(of key: ImageKey) -> Int? {
    place(of: key).flatMap { renditions[$0].isWanted && renditions[$0].key == key ? $0 : nil }
  }

  /// Whether somebody who wants this picture, and knows these versions of others, may join: if all
  /// that was asked is of the same versions, and nothing of it was removed since.
  func accepts(_ key: ImageKey, _ versions: [ImageKey]) -> Bool {
    !removed.cover(key) && agrees(with: versions + [key])
  }

  private func agrees(with keys: [ImageKey]) -> Bool {
    keys.allSatisfy { key in place(of: key).map { renditions[$0].key == key } ?? true }
  }

  /// Adds somebody who wants a picture that the flight agrees with.
  ///
  /// - Returns: Where the rendition stands, whether nobody wanted it before, and the request of whoever
  ///   had wanted it last, which is forgotten.
  mutating func add(
    _ waiter: WaiterID, for key: ImageKey, _ request: Request, priority: Priority
  ) -> (place: Int, isNew: Bool, dropped: Request?) {
    let known = place(of: key)
    let place = known ?? append(key, request)
    let isNew = !renditions[place].isWanted
    var dropped: Request?
    if isNew {
      arrivalCount += 1
      openCount += 1
      dropped = known.map { renditions[$0].request }
      renditions[place].request = request
      renditions[place].arrival = arrivalCount
      renditions[place].isTaken = false
      renditions[place].isAnswered = false
      renditions[place].storesResult = !forbidden.cover(key)
    }
    renditions[place].waiters.append(waiter)
    renditions[place].waitingCount += 1
    count(+1, at: priority)
    return (place, isNew, dropped)
  }

  private mutating func append(_ key: ImageKey, _ request: Request) -> Int {
    renditions.append(Rendition(key: key, request: request, arrival: 0))
    let place = renditions.count - 1
    if index != nil {
      index?[Subject(key)] = place
    } else if renditions.count > 8 {
      index = Dictionary(
        uniqueKeysWithValues: renditions.indices.map { (Subject(renditions[$0].key), $0) })
    }
    return place
  }

  /// Counts somebody out who has left the board.
  ///
  /// - Parameter isWaiting: Who still stands on the board.
  mutating func remove(
    at place: Int, priority: Priority, isAnswered: Bool, isWaiting: (WaiterID) -> Bool
  ) {
    renditions[place].waitingCount -= 1
    count(-1, at: priority)
    let (listed, waitingCount) = (renditions[place].waiters.count, renditions[place].waitingCount)
    // Rows may come and go while one stays: those who left are not kept for ever.
    if waitingCount == 0 {
      close(place)
      renditions[place].isAnswered = isAnswered
      renditions[place].waiters = []
    } else if listed > 32, listed > 2 * waitingCount {
      renditions[place].waiters.removeAll { !isWaiting($0) }
    }
  }

  /// Hands out what is wanted and was not handed out, the oldest wish first.
  mutating func take() -> [Request] {
    guard hasRequests else { return [] }
    var places = wishes
    places.removeAll { renditions[$0].isTaken }
    for place in places { renditions[place].isTaken = true }
    openCount = 0
    return places.map { renditions[$0].request }
  }

  /// Forgets that anybody wants a rendition; its waiters, and some that had left.
  mutating func end(at place: Int) -> [WaiterID] {
    close(place)
    renditions[place].isAnswered = true
    renditions[place].waitingCount = 0
    defer { renditions[place].waiters = [] }
    return renditions[place].waiters
  }

  /// Notes that nobody wants a rendition any more, whether it was handed out or not.
  private mutating func close(_ place: Int) {
    if !renditions[place].isTaken { openCount -= 1 }
  }

  mutating func forbidStoring(_ removal: Removal, andJoining: Bool) {
    forbidden.insert(removal)
    if andJoining { removed.insert(removal) }
    for place in renditions.indices where removal.covers(renditions[place].key) {
      renditions[place].storesResult = false
    }
  }

  /// Has `body` ask or change the record in place: called by way of an optional, too.
  @inline(__always)
  mutating func apply<Answer>(_ body: (inout Self) -> Answer) -> Answer { body(&self) }

  /// Counts somebody out who is answered.
  mutating func answer(_ waiter: WaiterID, at place: Int, priority: Priority) {
    renditions[place].lastAnswered = max(renditions[place].lastAnswered, waiter.number)
    count(-1, at: priority)
  }

  /// A waiter has another priority now.
  mutating func move(from level: Priority, to other: Priority) {
    count(-1, at: level)
    count(+1, at: other)
  }

  private mutating func count(_ change: Int, at level: Priority) {
    waiting.count(change, at: level)
  }

  /// Takes the highest priority of those who wait; keeps its own when nobody does.
  ///
  /// After whole events only: those who are answered together have no order among them.
  ///
  /// - Returns: Whether that is another one.
  mutating func followWaiters() -> Bool {
    let highest = waiting.highest ?? priority
    defer { priority = highest }
    return priority != highest
  }
}

/// How many wait at each priority: counted, so that neither joining nor leaving looks at the other
/// waiters, of whom there may be thousands.
struct WaiterCounts {
  /// No level twice, and none of zero waiters.
  private var levels: [(priority: Priority, count: Int)] = []

  var isEmpty: Bool { levels.isEmpty }

  var highest: Priority? {
    levels.lazy.map(\.priority).max()
  }

  mutating func count(_ change: Int, at priority: Priority) {
    guard let place = levels.firstIndex(where: { $0.priority == priority }) else {
      return levels.append((priority, change))
    }
    levels[place].count += change
    if levels[place].count == 0 { levels.remove(at: place) }
  }
}
