import ImageSources
import LoadQueue

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
    /// Those that joined with another address, the newest last.
    var alternates: [Request] = []
    /// Orders the wishes; an image that is wanted anew comes last.
    var arrival: Int
    /// In the order of joining; waiters that left may still be among them.
    var waiters: [WaiterID] = []
    var waitingCount = 0
    var isTaken = false
    /// Whether the last waiters were answered, and did not leave.
    var isAnswered = false

    var isWanted: Bool { waitingCount > 0 }
  }

  private struct Subject: Hashable {
    let entity: ImageID
    let format: String

    init(_ key: ImageKey) { (entity, format) = (key.entity, key.format) }
  }

  let id: FlightID
  let origin: FlightOrigin
  let original: SharedOriginal?
  var load: Load
  var priority: Priority
  /// Whether a waiter has an image that was made of the flight's fetch.
  var hasDelivered = false
  /// The strength of the flight, and so of the requests that may join it.
  let policy: LoadOptions.CachePolicy
  /// Whether the source was asked: its answer may be older than a request that comes now.
  var hasAsked = false
  private(set) var renditions: [Rendition] = []
  private(set) var waiting = WaiterCounts()
  private var arrivalCount = 0
  private var openCount = 0
  /// Only in flights of many renditions: a few are found sooner one by one.
  private var indexBySubject: [Subject: Int]?

  init(
    id: FlightID, origin: FlightOrigin, original: SharedOriginal? = nil,
    policy: LoadOptions.CachePolicy, priority: Priority, load: Load
  ) {
    self.id = id
    (self.origin, self.original) = (origin, original)
    self.policy = policy
    self.priority = priority
    self.load = load
  }

  /// Whether this flight must end: it has no waiters, and it delivered no image, so no sibling needs
  /// drawing.
  var isAbandoned: Bool { waiting.isEmpty && !hasDelivered }

  /// The requests whose waiters left or still wait.
  var unansweredRequests: [Request] {
    var requests: [Request] = []
    for rendition in renditions where !rendition.isAnswered { requests.append(rendition.request) }
    return requests
  }

  /// Whether ``take()`` would hand out a request.
  var hasRequests: Bool { openCount > 0 }

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

  /// The index of the rendition of exactly this image, if it is wanted.
  func wantedIndex(of key: ImageKey) -> Int? {
    index(of: key).flatMap { renditions[$0].isWanted && renditions[$0].key == key ? $0 : nil }
  }

  /// Whether a waiter for this image, which knows its entity's other images in these versions, may
  /// join: if the flight asks at least as much as the waiter wants, and if its renditions are of the same versions.
  func accepts(_ key: ImageKey, _ versions: [ImageKey], _ policy: LoadOptions.CachePolicy) -> Bool {
    policy <= self.policy && !(policy == .reload && hasAsked) && versions.allSatisfy(agrees)
      && agrees(with: key)
  }

  private func agrees(with key: ImageKey) -> Bool {
    index(of: key).map { renditions[$0].key == key } ?? true
  }

  /// Adds a waiter for an image that the flight accepts.
  ///
  /// - Parameter isAlternate: Whether the request has another address than the flight.
  /// - Returns: The rendition's index, and the requests that give way to this one.
  mutating func add(
    _ waiter: WaiterID, for key: ImageKey, _ request: Request, priority: Priority,
    isAlternate: Bool = false
  ) -> (index: Int, dropped: [Request]) {
    let known = index(of: key)
    let index = known ?? append(key, request)
    var dropped: [Request] = []
    if renditions[index].isWanted {
      if isAlternate { renditions[index].alternates.append(request) }
    } else {
      if known != nil { dropped = renditions[index].alternates + [renditions[index].request] }
      renditions[index].request = request
      renditions[index].alternates = []
      arrivalCount += 1
      openCount += 1
      renditions[index].arrival = arrivalCount
      renditions[index].isTaken = false
      renditions[index].isAnswered = false
    }
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
    // Most loads serve one image: it is open, and nothing is to be ordered.
    if renditions.count == 1 {
      renditions[0].isTaken = true
      return [renditions[0].request]
    }
    var indices = wishes
    indices.removeAll { renditions[$0].isTaken }
    for index in indices { renditions[index].isTaken = true }
    return indices.map { renditions[$0].request }
  }

  /// Hands out the newest request that joined with another address.
  mutating func takeAlternate(at index: Int) -> Request? { renditions[index].alternates.popLast() }

  /// Ends a rendition; returns its waiters, and some that left before.
  mutating func end(at index: Int) -> [WaiterID] {
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

  /// Lets `body` read or change the record in place, even through an optional.
  @inline(__always)
  mutating func apply<Answer>(_ body: (inout Self) -> Answer) -> Answer { body(&self) }

  /// Counts out a waiter that is answered.
  mutating func answer(at priority: Priority) { count(-1, at: priority) }

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
  private var levels: [(priority: Priority, count: Int)] = []

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
