import ImageSources
import LoadQueue

/// What a ``LoadRegistry`` knows of a load: its outputs, and how many subscribers each has.
///
/// Invariants:
/// 1. `outputs` holds every output that was ever asked of the load, so that a newer version of
///    an entity is told from an older one even when the older has no subscriber left. No two outputs
///    are of the same entity and format, but for an image and all frames of it, and an output keeps its index.
/// 2. The subscribers of an output are the `waitingCount` of its `subscribers` that still stand in the registry.
/// 3. `waiting` counts all subscribers of all outputs.
/// 4. `openCount` counts the outputs that are wanted and were not handed out.
struct LoadRecord<Request, Handle> {
  struct Output {
    let key: ImageKey
    var request: Request
    /// Those that joined with another address, the newest last.
    var alternates: [Request] = []
    /// Orders the wishes; an image that is wanted anew comes last.
    var arrival: Int
    /// In the order of joining; subscribers that left may still be among them.
    var subscribers: [SubscriberID] = []
    var waitingCount = 0
    /// The most that any of its subscribers wanted to be kept.
    var storage = LoadOptions.Storage.none
    /// Whether it was drawn to be kept so.
    var isSettled = false
    var isTaken = false
    /// Whether the last subscribers were answered, and did not leave.
    var isAnswered = false

    var isWanted: Bool { waitingCount > 0 }
  }

  private struct Subject: Hashable {
    let entity: ImageID
    let format: String
    let isAnimation: Bool

    init(_ key: ImageKey) {
      (entity, format, isAnimation) = (key.entity, key.format, key.isAnimation)
    }
  }

  let id: LoadID
  let loadKey: LoadKey
  let original: SharedOriginal?
  var handle: Handle
  var priority: Priority
  /// Whether a subscriber has an image that was made of the load's fetch, and the load has gone to no other address
  /// since.
  var hasDelivered = false
  /// The strength of the load, and so of the requests that may join it.
  let policy: LoadOptions.CachePolicy
  /// Whether the source was asked: its answer may be older than a request that comes now.
  var hasAsked = false
  private(set) var outputs: [Output] = []
  private(set) var waiting = SubscriberCounts()
  private(set) var originalLifetime = SharedOriginalLifetime()
  private var hasAnimations = false
  private var hasSettled = false
  private var arrivalCount = 0
  private var openCount = 0
  /// Only in loads of many outputs: a few are found sooner one by one.
  private var indexBySubject: [Subject: Int]?

  init(
    id: LoadID, loadKey: LoadKey, original: SharedOriginal? = nil,
    policy: LoadOptions.CachePolicy, priority: Priority, handle: Handle
  ) {
    self.id = id
    (self.loadKey, self.original) = (loadKey, original)
    self.policy = policy
    self.priority = priority
    self.handle = handle
  }

  /// Whether this load must end: it has no subscribers, and it delivered no image, so no sibling needs
  /// drawing.
  var isAbandoned: Bool { waiting.isEmpty && !hasDelivered }

  /// The requests whose subscribers left or still wait.
  var unansweredRequests: [Request] {
    var requests: [Request] = []
    for output in outputs where !output.isAnswered { requests.append(output.request) }
    return requests
  }

  /// Whether ``take()`` would hand out a request.
  var hasRequests: Bool { openCount > 0 }

  /// The indices of the wanted outputs, the oldest wish first.
  var wishes: [Int] {
    let indices = outputs.indices.filter { outputs[$0].isWanted }
    return indices.count > 1
      ? indices.sorted { outputs[$0].arrival < outputs[$1].arrival } : indices
  }

  /// The index of the output of an entity in a format, of any version.
  func index(of key: ImageKey) -> Int? {
    if let indexBySubject { return indexBySubject[Subject(key)] }
    return outputs.firstIndex {
      $0.key.entity == key.entity && $0.key.format == key.format
        && $0.key.isAnimation == key.isAnimation
    }
  }

  /// The index of the output of exactly this image, if it is wanted.
  func wantedIndex(of key: ImageKey) -> Int? {
    index(of: key).flatMap { outputs[$0].isWanted && outputs[$0].key == key ? $0 : nil }
  }

  /// Whether a subscriber for this image, which knows its entity's other images in these versions, may
  /// join: if the load began for the subscriber's explicit version, if it asks and keeps at least as much as the
  /// subscriber wants, and if its outputs are of the same versions.
  func accepts(
    _ key: ImageKey, _ versions: [ImageKey], of wanted: LoadKey,
    _ policy: LoadOptions.CachePolicy, _ storage: LoadOptions.Storage
  ) -> Bool {
    policy <= self.policy && !(policy > .useCache && hasAsked)
      && (!wanted.isExplicit || wanted.version == loadKey.version) && versions.allSatisfy(agrees)
      && agrees(with: key) && !(hasSettled && isSettled(key, below: storage))
  }

  private func isSettled(_ key: ImageKey, below storage: LoadOptions.Storage) -> Bool {
    indices(of: key).contains { outputs[$0].isSettled && outputs[$0].storage < storage }
  }

  /// Those of an image and of all frames of it, which are drawn together.
  private func indices(of key: ImageKey) -> [Int] {
    [key.image, key.animation].compactMap { index(of: $0) }
  }

  /// The most that the subscribers of an image, or of any, want to be kept.
  func storage(for key: ImageKey? = nil) -> LoadOptions.Storage {
    let meant = key.map { indices(of: $0) } ?? Array(outputs.indices)
    return meant.map { outputs[$0].storage }.max() ?? .none
  }

  /// The same when the image is drawn: from now on nobody joins that wants more.
  mutating func settleStorage(for key: ImageKey) -> LoadOptions.Storage {
    hasSettled = true
    for index in indices(of: key) { outputs[index].isSettled = true }
    return storage(for: key)
  }

  private func agrees(with key: ImageKey) -> Bool {
    func agrees(_ key: ImageKey) -> Bool { index(of: key).map { outputs[$0].key == key } ?? true }
    return agrees(key.image) && (!hasAnimations || agrees(key.animation))
  }

  /// Adds a subscriber for an image that the load accepts.
  ///
  /// - Parameter isAlternate: Whether the request has another address than the load.
  /// - Returns: The output's index, and the requests that give way to this one.
  mutating func add(
    _ subscriber: SubscriberID, for key: ImageKey, _ request: Request, priority: Priority,
    storage: LoadOptions.Storage = .all, lifetime: LoadOptions.OriginalLifetime? = nil,
    isAlternate: Bool = false
  ) -> (index: Int, dropped: [Request]) {
    let known = index(of: key)
    let index = known ?? append(key, request)
    var dropped: [Request] = []
    if outputs[index].isWanted {
      if isAlternate { outputs[index].alternates.append(request) }
    } else {
      if known != nil { dropped = outputs[index].alternates + [outputs[index].request] }
      outputs[index].request = request
      outputs[index].alternates = []
      arrivalCount += 1
      openCount += 1
      outputs[index].arrival = arrivalCount
      outputs[index].isTaken = false
      outputs[index].isAnswered = false
    }
    outputs[index].storage = max(storage, outputs[index].storage)
    originalLifetime.add(lifetime)
    outputs[index].subscribers.append(subscriber)
    outputs[index].waitingCount += 1
    count(+1, at: priority)
    return (index, dropped)
  }

  private mutating func append(_ key: ImageKey, _ request: Request) -> Int {
    outputs.append(Output(key: key, request: request, arrival: 0))
    if key.isAnimation { hasAnimations = true }
    let index = outputs.count - 1
    if indexBySubject != nil {
      indexBySubject?[Subject(key)] = index
    } else if outputs.count > 8 {
      indexBySubject = Dictionary(
        uniqueKeysWithValues: outputs.indices.map { (Subject(outputs[$0].key), $0) })
    }
    return index
  }

  /// Counts out a subscriber that has left the registry.
  ///
  /// - Parameter isWaiting: Whether a subscriber still stands in the registry.
  mutating func remove(
    at index: Int, priority: Priority, isAnswered: Bool, isWaiting: (SubscriberID) -> Bool
  ) {
    outputs[index].waitingCount -= 1
    count(-1, at: priority)
    let (listed, waitingCount) = (outputs[index].subscribers.count, outputs[index].waitingCount)
    // Rows may come and go while one stays: the ids of subscribers that left must not pile up.
    if waitingCount == 0 {
      close(index)
      outputs[index].isAnswered = isAnswered
      outputs[index].subscribers = []
    } else if listed > 32, listed > 2 * waitingCount {
      outputs[index].subscribers.removeAll { !isWaiting($0) }
    }
  }

  /// Hands out the requests of wanted outputs that were not handed out, the oldest wish first.
  mutating func take() -> [Request] {
    guard hasRequests else { return [] }
    openCount = 0
    // Most loads serve one image: it is open, and nothing is to be ordered.
    if outputs.count == 1 {
      outputs[0].isTaken = true
      return [outputs[0].request]
    }
    var indices = wishes
    indices.removeAll { outputs[$0].isTaken }
    for index in indices { outputs[index].isTaken = true }
    return indices.map { outputs[$0].request }
  }

  /// Hands out the newest request for an image that joined with another address than the load's.
  mutating func takeAlternate(for key: ImageKey) -> Request? {
    wantedIndex(of: key).flatMap { outputs[$0].alternates.popLast() }
  }

  /// Ends an output; returns its subscribers, and some that left before.
  mutating func end(at index: Int) -> [SubscriberID] {
    close(index)
    outputs[index].isAnswered = true
    outputs[index].waitingCount = 0
    defer { outputs[index].subscribers = [] }
    return outputs[index].subscribers
  }

  /// Counts out an output that is wanted no more, whether it was handed out or not.
  private mutating func close(_ index: Int) {
    if !outputs[index].isTaken { openCount -= 1 }
  }

  /// Lets `body` read or change the record in place, even through an optional.
  @inline(__always)
  mutating func apply<Answer>(_ body: (inout Self) -> Answer) -> Answer { body(&self) }

  /// Counts out a subscriber that is answered.
  mutating func answer(at priority: Priority) { count(-1, at: priority) }

  /// Counts a subscriber at another priority.
  mutating func move(from level: Priority, to other: Priority) {
    count(-1, at: level)
    count(+1, at: other)
  }

  private mutating func count(_ change: Int, at level: Priority) {
    waiting.count(change, at: level)
  }

  /// Takes the highest priority of the subscribers; keeps its own without subscribers.
  ///
  /// To be called after whole events only: subscribers that are answered together have no order among them.
  ///
  /// - Returns: Whether the priority changed.
  mutating func followSubscribers() -> Bool {
    let highest = waiting.highest ?? priority
    defer { priority = highest }
    return priority != highest
  }
}

/// The number of subscribers at each priority: counted, so that neither joining nor leaving looks at
/// the other subscribers, of which there may be thousands.
struct SubscriberCounts {
  /// No level twice, and none of zero subscribers.
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
