import ImageSources
import LoadQueue

/// Decides which requests share a load, and when a load has lost its last subscriber.
///
/// A pure state machine: it neither waits nor resumes nor loads. ``InFlightRegistry`` applies an
/// event and then does what the answer says. Subscribers, requests and handles are opaque to the registry,
/// which only hands them back.
///
/// Invariants, true between any two calls:
/// 1. Each subscriber stands in exactly one output of one load, from `join` until the call that
///    returns it.
/// 2. A load leaves the registry in the call in which its last subscriber leaves, unless it has delivered an
///    image of its fetch. A load whose last subscriber was answered stays until ``retire(_:)``.
/// 3. An output is wanted exactly as long as it has a subscriber; `finish` takes all its subscribers.
/// 4. `current[key]` is the newest load of the key, as long as that is under way: the one that new subscribers
///    join. A load stands there under its original, too, for subscribers of other keys that want no more pixels.
/// 5. A load's priority is the highest among its subscribers; a load without subscribers keeps its last
///    one. `moved` lists each load whose priority changed since the last ``takeMoved()``.
/// 6. No load waits for itself, not even through others: a subscriber joins no load that is older than one that
///    waits for the subscriber's answer. So every load waits for younger ones only.
/// 7. A load under way has its record at `records[id.index]` and its id at `ids[id.index]`.
/// 8. A subscriber joins no load that began before the last removal of its image. `removals` has those that a load
///    under way is older than.
/// 9. A subscriber joins a load of its own policy or of a stronger one; a reload or revalidation joins no load that
///    has asked its source. The load that begins instead takes the older one's place, as after a removal.
/// 10. A subscriber joins no load that has drawn its image to keep less of it than the subscriber wants.
/// 11. A subscriber of an explicit version joins only a load that one of the same version began. One of the default
///     version joins a load that another began, or else the newest of any version. `explicitCount` counts the loads
///     of explicit versions.
struct LoadRegistry<Subscriber, Request, Handle> {
  typealias Record = LoadRecord<Request, Handle>

  private struct SubscriberRecord {
    let subscriber: Subscriber
    let load: LoadID
    let output: Int
    /// What it was given, by
    /// ``join(_:key:loadKey:orDelivered:of:priority:versions:policy:storage:lifetime:after:request:start:subscriber:)``
    /// or by ``move(_:to:)``.
    var given: Priority
    /// What its task was escalated to, if it was.
    var escalated: Priority?

    var priority: Priority { max(given, escalated ?? given) }
  }

  /// The outcome of `join`.
  struct Joined {
    /// The handle of the load that the subscriber belongs to now.
    let handle: Handle
    /// Whether that load has begun with this subscriber.
    let isNewLoad: Bool
  }

  /// The outcome of `leave`.
  struct Left {
    let subscriber: Subscriber
    /// The load to cancel, and its unanswered requests, if the load left the registry with its subscriber.
    let abandoned: (handle: Handle, requests: [Request])?
  }

  var records: [Record?] = []
  private(set) var ids: [LoadID?] = []
  private var freeIndices: [Int] = []
  private var current: [LoadKey: LoadID] = [:]
  private var explicitCount = 0
  private var subscribers: [SubscriberID: SubscriberRecord] = [:]
  private var removals: [Removal: Int] = [:]
  private var dropped: [Request] = []
  private var moved: [(handle: Handle, priority: Priority)] = []

  init() {}

  var loadCount: Int { records.count - freeIndices.count }
  var subscriberCount: Int { subscribers.count }

  func isWaiting(_ id: SubscriberID) -> Bool { subscribers[id] != nil }

  // MARK: Subscribers

  /// Adds a subscriber to the newest load of its key, or to a new one.
  ///
  /// - Parameters:
  ///   - delivered: The key of a load that serves as well while it has the image that it delivered.
  ///   - original: That of the key, where others may lead to it.
  ///   - versions: The versions of its entity in each format, as the subscriber knows them. The subscriber
  ///     joins a load only if they agree with all requests of that load, and if its image was not
  ///     removed since the load began.
  ///   - policy: How much the subscriber wants of a load.
  ///   - storage: How much of it the subscriber wants to be kept.
  ///   - lifetime: How long the subscriber wants the original to be kept.
  ///   - asker: The number of the youngest load that goes on only after this subscriber has its answer; -1 for none.
  ///   - request: Handed out by ``LoadRecord/take()``, unless the same image is wanted already.
  ///   - start: Makes the handle of a new load.
  ///   - subscriber: Makes the subscriber, for the handle of its load.
  mutating func join(
    _ id: SubscriberID, key: ImageKey, loadKey: LoadKey, orDelivered delivered: LoadKey? = nil,
    of original: SharedOriginal? = nil, priority: Priority, versions: [ImageKey],
    policy: LoadOptions.CachePolicy = .useCache, storage: LoadOptions.Storage = .all,
    lifetime: LoadOptions.OriginalLifetime? = nil, after asker: Int = -1, request: Request,
    start: (LoadID) -> Handle,
    subscriber: (Handle) -> Subscriber
  ) -> Joined {
    let (wanted, oldest) = (loadKey, max(asker, lastRemoval(of: key)))
    func find(
      _ loadKey: LoadKey, hasDelivered: Bool = false, covering original: SharedOriginal? = nil
    ) -> LoadID? {
      let any = explicitCount > 0 && !wanted.isExplicit ? newestVersion(of: loadKey) : nil
      guard let newest = current[loadKey] ?? any, newest.number > oldest else { return nil }
      let accepts = look(at: newest) { load in
        load.accepts(key, versions, of: wanted, policy, storage)
          && (load.hasDelivered || !hasDelivered)
          && original.map { load.original?.covers($0) == true } ?? true
      }
      return accepts == true ? newest : nil
    }
    let own = find(loadKey) ?? delivered.flatMap { find($0, hasDelivered: true) }
    let found = own ?? original.flatMap { find($0.loadKey, covering: $0) }
    let isNewLoad = found == nil
    let target = found ?? begin(loadKey, original, policy, priority, for: id, start)
    let joined = look(at: target) { load in
      (
        handle: load.handle,
        added: load.add(
          id, for: key, request, priority: priority, storage: storage,
          lifetime: lifetime, isAlternate: own == nil && !isNewLoad)
      )
    }
    guard let joined else {
      preconditionFailure("A load that was found or begun is under way.")
    }
    dropped += joined.added.dropped
    let former = subscribers.updateValue(
      SubscriberRecord(
        subscriber: subscriber(joined.handle), load: target, output: joined.added.index,
        given: priority),
      forKey: id)
    precondition(former == nil, "A subscriber joins once.")
    followSubscribers(of: target)
    return Joined(handle: joined.handle, isNewLoad: isNewLoad)
  }

  private mutating func begin(
    _ loadKey: LoadKey, _ original: SharedOriginal?, _ policy: LoadOptions.CachePolicy,
    _ priority: Priority, for subscriber: SubscriberID, _ start: (LoadID) -> Handle
  ) -> LoadID {
    let index = freeIndices.popLast() ?? records.count
    let id = LoadID(number: subscriber.number, index: index)
    if index == records.count {
      records.append(nil)
      ids.append(nil)
      // Cancelling a request, which frees an index, takes no memory.
      freeIndices.reserveCapacity(records.capacity)
    }
    ids[index] = id
    records[index] = Record(
      id: id, loadKey: loadKey, original: original, policy: policy, priority: priority,
      handle: start(id))
    current[loadKey] = id
    if loadKey.isExplicit { explicitCount += 1 }
    if let original { current[original.loadKey] = id }
    return id
  }

  /// The newest load of an explicit version, for a subscriber of the default one.
  private func newestVersion(of loadKey: LoadKey) -> LoadID? {
    underWay.last { records[$0.index]?.loadKey.isVersion(of: loadKey) == true }
  }

  /// Replaces a load's handle; `false` if the load has ended.
  mutating func setHandle(_ handle: Handle, of id: LoadID) -> Bool {
    look(at: id) { $0.handle = handle } != nil
  }

  /// Gives a subscriber another priority; does nothing for a subscriber that was answered or left.
  mutating func move(_ id: SubscriberID, to priority: Priority) {
    change(id) { $0.given = priority }
  }

  /// Gives a subscriber at least this priority from now on, whatever it is given, since its task has it.
  mutating func escalate(_ id: SubscriberID, to priority: Priority) {
    change(id) { $0.escalated = max(priority, $0.escalated ?? priority) }
  }

  private mutating func change(_ id: SubscriberID, _ body: (inout SubscriberRecord) -> Void) {
    guard var subscriber = subscribers[id] else { return }
    let before = subscriber.priority
    body(&subscriber)
    subscribers[id] = subscriber
    guard subscriber.priority != before else { return }
    look(at: subscriber.load) { $0.move(from: before, to: subscriber.priority) }
    followSubscribers(of: subscriber.load)
  }

  /// Takes a subscriber out of the registry; `nil` if it was answered already.
  ///
  /// - Parameter isAnswered: Whether the subscriber has its image from elsewhere.
  mutating func leave(_ id: SubscriberID, isAnswered: Bool = false) -> Left? {
    guard let left = subscribers.removeValue(forKey: id) else { return nil }
    let waiting = subscribers
    let isAbandoned = look(at: left.load) { load in
      load.remove(at: left.output, priority: left.priority, isAnswered: isAnswered) {
        waiting[$0] != nil
      }
      return load.isAbandoned
    }
    var abandoned: (handle: Handle, requests: [Request])?
    if isAbandoned == true, let load = remove(left.load) {
      abandoned = (load.handle, load.unansweredRequests)
    } else {
      followSubscribers(of: left.load)
    }
    return Left(subscriber: left.subscriber, abandoned: abandoned)
  }

  /// The requests that the registry has forgotten since the last call. The caller releases them outside
  /// its lock, since entities may end with them and run any code.
  mutating func takeDropped() -> [Request] {
    defer { dropped = [] }
    return dropped
  }

  /// The loads whose priority has changed since the last call, in the order of the changes.
  mutating func takeMoved() -> [(handle: Handle, priority: Priority)] {
    if moved.isEmpty { return [] }
    defer { moved = [] }
    return moved
  }

  // MARK: Loads

  /// Ends one output of a load.
  ///
  /// - Parameter isFetched: Whether the image was made of the load's fetch: then its siblings can be
  ///   drawn from the same bytes, and the load goes on without subscribers.
  /// - Returns: The subscribers to answer.
  mutating func finish(
    _ key: ImageKey, of id: LoadID, isFetched: Bool
  ) -> [Subscriber] {
    let output = look(at: id) { load in
      let output = load.wantedIndex(of: key)
      if isFetched, output != nil { load.hasDelivered = true }
      return output
    }
    guard case .some(.some(let output)) = output else { return [] }
    defer { followSubscribers(of: id) }
    return end(output, of: id)
  }

  /// Takes a load out of the registry unless ``LoadRecord/take()`` would hand out a request.
  mutating func retire(_ id: LoadID) -> Bool {
    if look(at: id, { $0.hasRequests }) == true { return false }
    remove(id)
    return true
  }

  /// The key of a load under way.
  func loadKey(of id: LoadID) -> LoadKey? { isUnderWay(id) ? records[id.index]?.loadKey : nil }

  /// Takes a failed load out of the registry.
  ///
  /// - Returns: The subscribers to answer, and the requests that fail with them.
  mutating func fail(_ id: LoadID) -> (subscribers: [Subscriber], requests: [Request]) {
    let wished = look(at: id) { load in
      load.wishes.map { (output: $0, request: load.outputs[$0].request) }
    }
    guard let wished else { return ([], []) }
    defer { remove(id) }
    return (wished.flatMap { end($0.output, of: id) }, wished.map(\.request))
  }

  // MARK: All loads

  /// Ends one output in every load, because its image was stored by hand; later subscribers for it join none of
  /// these loads.
  ///
  /// - Returns: The subscribers to answer, and the loads to cancel, since they have no other subscribers.
  mutating func supersede(
    _ key: ImageKey, at number: Int
  ) -> (subscribers: [Subscriber], abandoned: [Handle]) {
    var subscribers: [Subscriber] = []
    var abandoned: [Handle] = []
    remove(.entity(key.entity, format: key.format), at: number)
    for id in underWay {
      let output = look(at: id) { $0.wantedIndex(of: key) }
      guard case .some(.some(let output)) = output else { continue }
      subscribers += end(output, of: id)
      if look(at: id, { $0.isAbandoned }) == true, let load = remove(id) {
        abandoned.append(load.handle)
      } else {
        followSubscribers(of: id)
      }
    }
    return (subscribers, abandoned)
  }

  /// Notes a removal.
  mutating func remove(_ removal: Removal, at number: Int) {
    guard let oldest = oldestLoad else { return }
    removals[removal] = max(number, removals[removal] ?? 0)
    if removals.count > 64 { removals = removals.filter { $0.value > oldest } }
  }

  /// The number of the oldest load under way.
  var oldestLoad: Int? {
    ids.reduce(nil) { oldest, id in
      id.map { min($0.number, oldest ?? $0.number) } ?? oldest
    }
  }

  private func lastRemoval(of key: ImageKey) -> Int {
    if removals.isEmpty { return -1 }
    return max(
      removals[.format(key.format)] ?? -1, removals[.entity(key.entity, format: key.format)] ?? -1)
  }

  /// Whether this load's original may be kept as that of an entity: not if that of any entity of the load was
  /// removed since the load began. It is one original, whoever asks for it.
  func keepsOriginal(of entity: ImageID, _ id: LoadID) -> Bool {
    guard isUnderWay(id), let load = records[id.index] else { return false }
    func isKept(_ entity: ImageID) -> Bool { removals[.originals(entity)] ?? -1 < id.number }
    return removals.isEmpty
      || isKept(entity) && load.outputs.allSatisfy { isKept($0.key.entity) }
  }

  /// Whether another load may revalidate what this one has shown: not if its image or its original was removed
  /// since, or stored by hand.
  func mayBeRevalidated(_ key: ImageKey, _ entity: ImageID, of id: LoadID) -> Bool {
    keepsOriginal(of: entity, id) && lastRemoval(of: key) < id.number
  }

  /// Takes all loads out of the registry.
  ///
  /// - Returns: The loads to cancel, and the subscribers to answer.
  mutating func failAll() -> (handles: [Handle], subscribers: [Subscriber]) {
    let ids = underWay
    return (ids.compactMap { records[$0.index]?.handle }, ids.flatMap { fail($0).subscribers })
  }

  /// All loads under way, the oldest first.
  private var underWay: [LoadID] {
    ids.compactMap { $0 }.sorted { $0.number < $1.number }
  }

  func isUnderWay(_ id: LoadID) -> Bool {
    ids.indices.contains(id.index) && ids[id.index] == id
  }

  /// Reads or changes a load's record in place, since it is large to copy; `nil` if the load has
  /// ended.
  @discardableResult
  mutating func look<Answer>(
    at id: LoadID, _ body: (inout Record) -> Answer
  ) -> Answer? {
    isUnderWay(id) ? records[id.index]?.apply(body) : nil
  }

  private mutating func followSubscribers(of id: LoadID) {
    let changed = look(at: id) {
      $0.followSubscribers() ? (handle: $0.handle, priority: $0.priority) : nil
    }
    if case .some(.some(let changed)) = changed { moved.append(changed) }
  }

  private mutating func end(_ output: Int, of id: LoadID) -> [Subscriber] {
    let listed = look(at: id) { $0.end(at: output) } ?? []
    return listed.compactMap { subscriber in
      guard let record = subscribers.removeValue(forKey: subscriber) else { return nil }
      look(at: id) { $0.answer(at: record.priority) }
      return record.subscriber
    }
  }

  @discardableResult
  private mutating func remove(_ id: LoadID) -> Record? {
    guard isUnderWay(id), let load = records[id.index].take() else { return nil }
    ids[id.index] = nil
    freeIndices.append(id.index)
    if load.loadKey.isExplicit { explicitCount -= 1 }
    if current[load.loadKey] == id { current[load.loadKey] = nil }
    if let loadKey = load.original?.loadKey, current[loadKey] == id { current[loadKey] = nil }
    if loadCount == 0 { removals = [:] }
    for output in load.outputs {
      dropped.append(output.request)
      dropped += output.alternates
    }
    return load
  }
}
