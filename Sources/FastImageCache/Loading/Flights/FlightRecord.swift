/// One flight on a ``FlightBoard``: its renditions, and how many waiters each has.
///
/// Invariants:
/// 1. `renditions` holds every rendition that was ever asked of the flight, so that a newer version of
///    an entity is told from an older one even when the older has no waiter left. No two renditions
///    are of the same entity and format, and a rendition keeps its index.
/// 2. The waiters of a rendition are the `waitingCount` of its `waiters` that still stand on the board.
/// 3. `waiting` counts all waiters of all renditions.
/// 4. `openCount` counts the renditions that are wanted and were not handed out.
struct FlightRecord<Request, Load> {
  struct Rendition {
    let key: ImageKey
    var request: Request
    /// Orders the wishes; a picture that is wanted anew comes last.
    var arrival: Int
    /// In the order of joining; waiters that left may still be among them.
    var waiters: ShortList<WaiterID> = []
    var waitingCount = 0
    var isTaken = false
    /// Whether the last waiters were answered, and did not leave.
    var isAnswered = false
    /// The number of the youngest waiter that was answered; 0 before the first.
    var lastAnswered = 0
    var storesResult = true
    /// Whether all waiters since the wish are content with a placeholder.
    var isPlaceholder = false

    var isWanted: Bool { waitingCount > 0 }

    /// The number of the last waiter that has not left; 0 for none.
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
  /// Whether a waiter has a picture that was made of the flight's fetch.
  var hasDelivered = false
  /// The flight of the same origin that was current before this one.
  let older: FlightID?
  /// Whether the flight began because joining the current one of its origin would have deadlocked.
  let isForRefused: Bool
  /// The strength of the flight, and so of the requests that may join it.
  let policy: LoadOptions.Policy
  /// Whether the source was asked: its answer may be older than a request that comes now.
  var hasAsked = false
  /// Whether another flight asked the same source anew, and has stored its answer: this one's is the
  /// older. No waiter joins any more, and no picture is stored.
  var isOutdated = false
  /// Whether a waiter wanted a real picture.
  private(set) var isForReal = false
  /// Whether a picture or the original of the flight was decided to be a placeholder.
  private var hasPlaceholder = false
  /// Whether the original that this flight fetches may be kept: not after that of a younger flight.
  var keepsOriginal = true
  /// The pictures that were removed, or stored by hand, while this flight was under way.
  private var forbidden = Removals()
  /// The removals among `forbidden`: a later request for such a picture wants the source's present
  /// answer, and not one that the flight may have fetched before.
  private var removed = Removals()
  /// The pictures that other flights stored of this flight's entities meanwhile: the version of each,
  /// and the youngest request.
  private var stored: [Subject: (version: ImageID, request: Int)] = [:]
  private(set) var renditions: [Rendition] = []
  private(set) var waiting = WaiterCounts()
  private var arrivalCount = 0
  private var openCount = 0
  /// Only in flights of many renditions: a few are found sooner one by one.
  private var indexBySubject: [Subject: Int]?

  init(
    id: FlightID, origin: FlightOrigin, policy: LoadOptions.Policy, older: FlightID?,
    isForRefused: Bool, priority: Priority, load: Load
  ) {
    self.id = id
    self.origin = origin
    self.policy = policy
    self.older = older
    self.isForRefused = isForRefused
    self.priority = priority
    self.load = load
  }

  /// Whether this flight must end: it has no waiters, and it delivered no picture, so no sibling needs
  /// drawing.
  var isAbandoned: Bool { waiting.isEmpty && !hasDelivered }

  /// The requests whose waiters left or still wait.
  var unansweredRequests: ShortList<Request> {
    var requests: ShortList<Request> = []
    for rendition in renditions where !rendition.isAnswered { requests.append(rendition.request) }
    return requests
  }

  /// Whether ``take()`` would hand out a request.
  var hasRequests: Bool { openCount > 0 }

  /// The number of the request for which the flight's picture may be stored; `nil` if the picture may
  /// not be stored.
  ///
  /// - Parameter isWaiting: Whether a waiter still stands on the board.
  func requestStored(by key: ImageKey, isWaiting: (WaiterID) -> Bool) -> Int? {
    // A sibling of an earlier request: the flight was asked for another version since.
    if let asked = self.index(of: key), renditions[asked].key != key { return nil }
    let index = wantedIndex(of: key)
    let isForbidden = index.map { !renditions[$0].storesResult } ?? forbidden.cover(key)
    if isForbidden || isOutdated { return nil }
    let request =
      index.map { renditions[$0].youngest(isWaiting) } ?? youngest(of: key.entity, isWaiting)
    if let other = stored[Subject(key)], other.version != key.version, other.request > request {
      return nil
    }
    return request
  }

  /// The number of the youngest request for an entity that waits or was answered.
  private func youngest(of entity: ImageID, _ isWaiting: (WaiterID) -> Bool) -> Int {
    renditions.reduce(0) { number, rendition in
      rendition.key.entity == entity
        ? max(number, rendition.youngest(isWaiting), rendition.lastAnswered) : number
    }
  }

  /// Notes that another flight stores a picture now. Only the entities of this flight matter: a later
  /// request for another entity is younger.
  mutating func noteStored(_ key: ImageKey, for request: Int) {
    guard renditions.contains(where: { $0.key.entity == key.entity }) else { return }
    let before = stored[Subject(key)].flatMap { $0.version == key.version ? $0.request : nil } ?? 0
    stored[Subject(key)] = (key.version, max(before, request))
  }

  /// The indices of the wanted renditions, the oldest wish first.
  var wishes: [Int] {
    let indices = renditions.indices.filter { renditions[$0].isWanted }
    return indices.count > 1
      ? indices.sorted { renditions[$0].arrival < renditions[$1].arrival } : indices
  }

  /// The index of the rendition of an entity in a format, of any version.
  func index(of key: ImageKey) -> Int? {
    if let indexBySubject { return indexBySubject[Subject(key)] }
    return renditions.firstIndex { $0.key.entity == key.entity && $0.key.format == key.format }
  }

  /// The index of the rendition of exactly this picture, if it is wanted.
  func wantedIndex(of key: ImageKey) -> Int? {
    index(of: key).flatMap { renditions[$0].isWanted && renditions[$0].key == key ? $0 : nil }
  }

  /// Whether a waiter for this picture, which knows its entity's other pictures in these versions, may
  /// join: if the flight asks at least as much as the waiter wants, if its renditions are of the same
  /// versions, if the picture was not removed since the flight began, and, where the waiter wants a real
  /// picture, if nothing of the flight was decided to be a placeholder.
  func accepts(
    _ key: ImageKey, _ versions: [ImageKey], _ policy: LoadOptions.Policy, isPlaceholder: Bool
  ) -> Bool {
    policy <= self.policy && (isPlaceholder || !hasPlaceholder)
      && !(policy == .reload && hasAsked) && !isOutdated
      && !removed.cover(key) && versions.allSatisfy(agrees) && agrees(with: key)
  }

  /// Whether the flight shows the original that was kept when it began, and has not asked its source.
  var showsKept: Bool { origin.beginsWithKept && !hasAsked }

  /// Whether the original of an entity may be kept: not if that of any entity of the flight was removed,
  /// or stored by hand, since the flight began. It is one original, whoever asks for it.
  func mayKeepOriginal(of entity: ImageID) -> Bool {
    keepsOriginal && !isOutdated && !forbidden.coverOriginals(of: entity)
      && !renditions.contains { forbidden.coverOriginals(of: $0.key.entity) }
  }

  /// Decides whether the picture of a request for a placeholder is one.
  mutating func settlesAsPlaceholder(_ key: ImageKey) -> Bool {
    let isPlaceholder = wantedIndex(of: key).map { renditions[$0].isPlaceholder } ?? true
    hasPlaceholder = hasPlaceholder || isPlaceholder
    return isPlaceholder
  }

  /// Decides whether the original is a placeholder.
  mutating func keepsAsPlaceholder() -> Bool {
    hasPlaceholder = hasPlaceholder || !isForReal
    return !isForReal
  }

  private func agrees(with key: ImageKey) -> Bool {
    index(of: key).map { renditions[$0].key == key } ?? true
  }

  /// Adds a waiter for a picture that the flight accepts.
  ///
  /// - Returns: The rendition's index, and the request that gives way to this one.
  mutating func add(
    _ waiter: WaiterID, for key: ImageKey, _ request: Request, isPlaceholder: Bool = false,
    priority: Priority
  ) -> (index: Int, dropped: Request?) {
    let known = index(of: key)
    let index = known ?? append(key, request)
    let isNewWish = !renditions[index].isWanted
    // The pictures that are drawn along with a real one are real, too.
    let isRealFirst =
      !isPlaceholder && renditions[index].isPlaceholder && !renditions[index].isTaken
    var dropped: Request?
    if isNewWish || isRealFirst {
      dropped = known.map { renditions[$0].request }
      renditions[index].request = request
    }
    if isNewWish {
      arrivalCount += 1
      openCount += 1
      renditions[index].arrival = arrivalCount
      renditions[index].isTaken = false
      renditions[index].isAnswered = false
      renditions[index].storesResult = !forbidden.cover(key)
      renditions[index].isPlaceholder = true
    }
    if !isPlaceholder { (renditions[index].isPlaceholder, isForReal) = (false, true) }
    renditions[index].waiters.append(waiter)
    renditions[index].waitingCount += 1
    count(+1, at: priority)
    return (index, dropped)
  }

  private mutating func append(_ key: ImageKey, _ request: Request) -> Int {
    renditions.append(Rendition(key: key, request: request, arrival: 0))
    let index = renditions.count - 1
    if indexBySubject != nil {
      indexBySubject?[Subject(key)] = index
    } else if renditions.count > 8 {
      indexBySubject = Dictionary(
        uniqueKeysWithValues: renditions.indices.map { (Subject(renditions[$0].key), $0) })
    }
    return index
  }

  /// Counts out a waiter that has left the board.
  ///
  /// - Parameter isWaiting: Whether a waiter still stands on the board.
  mutating func remove(
    at index: Int, priority: Priority, isAnswered: Bool, isWaiting: (WaiterID) -> Bool
  ) {
    renditions[index].waitingCount -= 1
    count(-1, at: priority)
    let (listed, waitingCount) = (renditions[index].waiters.count, renditions[index].waitingCount)
    // Rows may come and go while one stays: the ids of waiters that left must not pile up.
    if waitingCount == 0 {
      close(index)
      renditions[index].isAnswered = isAnswered
      renditions[index].waiters = []
    } else if listed > 32, listed > 2 * waitingCount {
      renditions[index].waiters.removeAll { !isWaiting($0) }
    }
  }

  /// Hands out the requests of wanted renditions that were not handed out, the oldest wish first.
  mutating func take() -> [Request] {
    guard hasRequests else { return [] }
    openCount = 0
    // Most loads serve one picture: it is open, and nothing is to be ordered.
    if renditions.count == 1 {
      renditions[0].isTaken = true
      return [renditions[0].request]
    }
    var indices = wishes
    indices.removeAll { renditions[$0].isTaken }
    for index in indices { renditions[index].isTaken = true }
    return indices.map { renditions[$0].request }
  }

  /// Ends a rendition; returns its waiters, and some that left before.
  mutating func end(at index: Int) -> ShortList<WaiterID> {
    close(index)
    renditions[index].isAnswered = true
    renditions[index].waitingCount = 0
    defer { renditions[index].waiters = [] }
    return renditions[index].waiters
  }

  /// Counts out a rendition that is wanted no more, whether it was handed out or not.
  private mutating func close(_ index: Int) {
    if !renditions[index].isTaken { openCount -= 1 }
  }

  mutating func forbidStoring(_ removal: Removal, andJoining: Bool) {
    forbidden.insert(removal)
    if andJoining { removed.insert(removal) }
    for index in renditions.indices where removal.covers(renditions[index].key) {
      renditions[index].storesResult = false
    }
  }

  /// Lets `body` read or change the record in place, even through an optional.
  @inline(__always)
  mutating func apply<Answer>(_ body: (inout Self) -> Answer) -> Answer { body(&self) }

  /// Counts out a waiter that is answered.
  mutating func answer(_ waiter: WaiterID, at index: Int, priority: Priority) {
    renditions[index].lastAnswered = max(renditions[index].lastAnswered, waiter.number)
    count(-1, at: priority)
  }

  /// Counts a waiter at another priority.
  mutating func move(from level: Priority, to other: Priority) {
    count(-1, at: level)
    count(+1, at: other)
  }

  private mutating func count(_ change: Int, at level: Priority) {
    waiting.count(change, at: level)
  }

  /// Takes the highest priority of the waiters; keeps its own without waiters.
  ///
  /// To be called after whole events only: waiters that are answered together have no order among them.
  ///
  /// - Returns: Whether the priority changed.
  mutating func followWaiters() -> Bool {
    let highest = waiting.highest ?? priority
    defer { priority = highest }
    return priority != highest
  }
}

/// The number of waiters at each priority: counted, so that neither joining nor leaving looks at
/// the other waiters, of which there may be thousands.
struct WaiterCounts {
  /// No level twice, and none of zero waiters.
  private var levels: ShortList<(priority: Priority, count: Int)> = []

  var isEmpty: Bool { levels.isEmpty }

  var highest: Priority? {
    var highest: Priority?
    // By indices: an iterator would copy the list.
    for index in levels.indices {
      highest = max(levels[index].priority, highest ?? levels[index].priority)
    }
    return highest
  }

  mutating func count(_ change: Int, at priority: Priority) {
    guard let index = levels.firstIndex(where: { $0.priority == priority }) else {
      return levels.append((priority, change))
    }
    levels[index].count += change
    if levels[index].count == 0 { levels.remove(at: index) }
  }
}
