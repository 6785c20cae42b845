import Dispatch
import ImageSources
import LoadQueue
import Locking
import Synchronization

/// Joins requests by source URL, or by the original that several URLs lead to: one load, whatever the number of
/// entities, formats and subscribers.
///
/// ``LoadRegistry`` decides; this class holds the continuations, streams and tasks, which no decision
/// depends on. It is no actor: joining, leaving and answering happen at once, on the thread that calls,
/// and wait for no turn. So a row that scrolls away is gone from here before `cancel()` returns. It
/// starts loads and does not know what a load does.
///
/// Invariants, true whenever the lock is free:
/// 1. The thread that takes a subscriber out of the registry answers it, outside the lock, at once and only once.
/// 2. A load works as long as it is in the registry. A task that goes on after its load has left finds its
///    results unwanted, since loads' numbers are never used again.
/// 3. Code under the lock asks no entity, source or table, ends no entity, sends no event and resumes
///    no task: cancellation handlers take this lock too.
/// 4. The subscribers of a load get the only references to its image, unless it was stored by hand. So
///    its slot can be evicted as soon as they release it.
final class InFlightRegistry: Sendable {
  typealias Outcome = Result<CachedImage, ImageCacheError>

  /// A stale original that a load has shown.
  struct ShownOriginal {
    let entity: ImageID
    let load: LoadID
  }

  /// The call that answers a subscriber. Compilers do not know the layouts of continuations and streams,
  /// which would make the whole registry slow to move.
  ///
  /// A closure that generic code stores only borrows its argument. The struct around it lets the outcome
  /// be moved, for invariant 4.
  struct Subscriber: Sendable {
    let reply: @Sendable (consuming Outcome) -> Void
    /// Ends with the answer.
    var followed: FollowedPriority?
    /// Made before the answer.
    var report: RequestReporter.Pending?
    /// The load that holds no permit until the answer.
    var asking: Load?
    /// Given before the answer.
    var animation: AnimationAnswer?

    func answer(_ outcome: consuming Outcome, _ facts: AnswerFacts) {
      followed?.end()
      asking?.permit.endWait()
      if let report, case .success = outcome { report.make(of: facts) }
      reply(outcome)
    }
  }

  struct Handle {
    let load: Load
    /// `nil` for the moment in which it is made.
    var task: Task<Void, Never>?

    /// Ends a load that has left the registry.
    func end() { task?.cancel() }
  }

  struct State {
    var registry = LoadRegistry<Subscriber, ImageRequest, Handle>()
    var isClosed = false
    /// `nil` where failures are not remembered.
    var failures: FailureMemory?
    /// The numbers of stores by hand that work.
    var stores: [Int] = []

    /// The lowest number that lives.
    var oldest: Int { min(registry.oldestLoad ?? .max, stores.min() ?? .max) }
  }

  let state: Lock<State>
  /// Has each load, until its task has returned.
  let tasks = DispatchGroup()
  let recorder: CacheRecorder
  let resources: LoadResources
  /// Tells which requests may share a load.
  let planner: LoadPlanner
  /// Measures loads, and tells when previews are due.
  let clock: any TimeoutClock
  private let run: @Sendable (Load) async -> Void

  /// - Parameters:
  ///   - failureMemory: How long a definite failure answers requests; `nil` for not at all.
  ///   - run: Serves one load, until it has failed or retired.
  init(
    _ resources: LoadResources, recorder: CacheRecorder, planner: LoadPlanner,
    clock: any TimeoutClock, failureMemory: Duration? = nil,
    run: @escaping @Sendable (Load) async -> Void
  ) {
    state = Lock(State(failures: failureMemory.map { FailureMemory(for: $0) }))
    (self.resources, self.recorder, self.planner) = (resources, recorder, planner)
    (self.clock, self.run) = (clock, run)
  }

  // MARK: Waiting

  /// Waits for an image, starting its load if none is under way; stays on the caller's actor.
  ///
  /// A task that is cancelled before it goes on gets ``ImageCacheError/cancelled``, whatever the answer.
  ///
  /// - Parameters:
  ///   - chosen: The priority of the request; `nil` for the task's own, with which it rises. A
  ///     ``RequestPriority`` of the request takes the place of either.
  ///   - reporter: Has the report when an image is returned.
  ///   - round: Gives the request up when it ends.
  nonisolated(nonsending) func image(
    for request: ImageRequest, priority chosen: Priority? = nil, reporter: RequestReporter? = nil,
    in round: ImageRound? = nil
  ) async -> Outcome {
    if Task.isCancelled { return .failure(.cancelled) }
    let subscriber = request.subscriber
    let priority = chosen ?? .current
    let followsTask = chosen == nil && request.priority == nil
    let timer = startTimer(of: request)
    defer {
      timer?.task.cancel()
      SanitizerWitness.didResume()
    }
    let outcome = await Escalation.following {
      await withTaskCancellationHandler {
        // Unchecked, for a check takes memory for each request: a subscriber is answered once, by invariant 1, and
        // one that found the registry closed never joined.
        await withUnsafeContinuation { continuation in
          let refusal = enter(request, priority, reporter: reporter, in: round) { _ in
            Subscriber { (outcome: consuming Outcome) in continuation.resume(returning: outcome) }
          }
          if let refusal { return continuation.resume(returning: .failure(refusal)) }
          // A cancellation, an end of the time or an escalation that came before the subscriber joined found
          // no subscriber.
          if Task.isCancelled { leave(subscriber) }
          if timer?.isOver.isSet == true { leave(subscriber, with: .failure(.timedOut(request))) }
          if followsTask, .current > priority { escalate(subscriber, to: .current) }
        }
      } onCancel: {
        leave(subscriber)
      }
    } onEscalation: { priority in
      if followsTask { escalate(subscriber, to: priority) }
    }
    // Last of all: the answer may have come first, and waited for a busy actor while the task was
    // cancelled.
    return Task.isCancelled ? .failure(.cancelled) : outcome
  }

  /// A stream of the load's steps, which counts as a subscriber until it can no longer be read.
  ///
  /// It keeps what is newest, and nothing follows the last step: so that is never lost.
  ///
  /// - Parameter first: The step before all those of the load.
  func progress(
    of request: ImageRequest, priority: Priority, after first: consuming ImageProgress? = nil
  ) -> AsyncStream<ImageProgress> {
    let subscriber = request.subscriber
    let listener = LoadProgress.makeListener()
    // Asked before the lock is taken: an entity answers.
    let wish = first?.outranksFrames == true ? nil : PreviewRequest(request, isFirst: first == nil)
    if let first { listener.add(first) }
    let refusal = enter(request, priority) { handle in
      // Under the lock, so that the answer, which ends the listener, comes later.
      let progress = handle.load.progress
      progress.add(listener, for: subscriber, wish)
      return Subscriber { (outcome: consuming Outcome) in
        progress.end(subscriber, with: ImageProgress(outcome))
      }
    }
    if let refusal {
      listener.add(.failed(refusal))
      listener.finish()
    }
    return listener.makeStream { [weak self] in self?.leave(subscriber) }
  }

  /// Waits for images without a task. No load begins before all requests stand in the registry: so those of one source
  /// share one load.
  ///
  /// - Parameters:
  ///   - requests: Each may be given up by ``leave(_:with:)``, which may come before this call returns.
  ///   - shown: What the requests revalidate. Where that was removed the answer is that of a closed
  ///     registry.
  ///   - round: Gives the requests up when it ends.
  ///   - answer: Called once for each, on the thread that has the outcome, which may be this one.
  func join(
    _ requests: [ImageRequest], _ priority: Priority, revalidating shown: ShownOriginal? = nil,
    in round: ImageRound? = nil,
    answer: @escaping @Sendable (SubscriberID, consuming Outcome) -> Void
  ) {
    var begun: [Load] = []
    for request in requests {
      let subscriber = request.subscriber
      let refusal = enter(
        request, priority, revalidating: shown, in: round, begin: { begun.append($0) },
        as: { _ in Subscriber { (outcome: consuming Outcome) in answer(subscriber, outcome) } })
      if let refusal { answer(subscriber, .failure(refusal)) }
    }
    for load in begun { start(load) }
  }

  /// - Parameter begin: Has a new load started, at once or later; ``start(_:)`` if `nil`.
  /// - Returns: Why there is no load for the request: the registry is closed, nothing is left to be revalidated, its
  ///   round is over, or a failure is remembered. `nil` for a subscriber that waits.
  // Inlined, it would have its variables in the frame of each task that waits, which costs an allocation.
  @inline(never)
  private func enter(
    _ request: ImageRequest, _ priority: Priority, revalidating shown: ShownOriginal? = nil,
    reporter: RequestReporter? = nil, in round: ImageRound? = nil, begin: ((Load) -> Void)? = nil,
    as subscriber: (Handle) -> Subscriber
  ) -> ImageCacheError? {
    // Asked before the lock is taken, since entities answer with code of their own.
    let versions = request.versionsElsewhere()
    let identity = planner.identity(of: request)
    let version = request.explicitVersion
    let loadKey: LoadKey =
      request.url.map { .url(planner.address(of: $0), identity, version: version) }
      ?? .entity(request.key.entity, identity, version: version)
    let delivered = identity?.beginsWithKept == true ? loadKey.asFetched : nil
    let original = planner.sharedOriginal(of: request, version, identity)
    let followed = FollowedPriority.begin(request, priority, in: self)
    let reporter = reporter ?? RequestReporter.forListeners(of: request, in: self)
    let asking = request.callback?.load
    asking?.permit.beginWait()
    var isCoalesced = true
    var refusal = ImageCacheError.closed
    let joined = step { state -> LoadRegistry<Subscriber, ImageRequest, Handle>.Joined? in
      if state.isClosed { return nil }
      if let round, !round.add(request.subscriber) {
        refusal = .cancelled
        return nil
      }
      if let failure = failure(of: request, loadKey, in: &state) {
        refusal = failure
        return nil
      }
      // In this step: a removal that comes later finds the subscriber.
      if let shown, !state.registry.mayBeRevalidated(request.key, shown.entity, of: shown.load) {
        return nil
      }
      // Read under the lock: an earlier change is seen here, and a later one finds the subscriber.
      let priority = followed?.priority ?? priority
      return state.registry.join(
        request.subscriber, key: request.key, loadKey: loadKey, orDelivered: delivered,
        of: original, priority: priority, versions: versions,
        policy: request.policy, storage: request.storage, lifetime: request.originalLifetime,
        after: asking?.id.number ?? -1, request: request,
        start: {
          isCoalesced = false
          return Handle(
            load: Load(
              id: $0, url: request.url, loadKey, versions, policy: request.policy,
              priority: priority, registry: self))
        },
        subscriber: {
          var subscriber = subscriber($0)
          (subscriber.followed, subscriber.asking) = (followed, asking)
          subscriber.animation = request.animation
          let progress = $0.load.progress
          subscriber.report = reporter.map {
            .init(reporter: $0, isCoalesced: isCoalesced, progress: progress)
          }
          return subscriber
        })
    }
    guard let joined else {
      followed?.end()
      asking?.permit.endWait()
      switch refusal {
      case .closed, .cancelled: break
      default: recorder.failed(request.key, refusal)
      }
      return refusal
    }
    if joined.isNewLoad {
      if let begin { begin(joined.handle.load) } else { start(joined.handle.load) }
    } else {
      recorder.coalesced(request.key)
      request.whenLoading?()
      // The image may have been stored since the caller looked, and the load may take long.
      if request.policy == .useCache, let image = request.storedImage() {
        recorder.hitLate()
        leave(request.subscriber, with: .success(consume image))
      }
    }
    return nil
  }

  /// Begins the task of a load. The registry owns it, and cancels it when the last subscriber leaves or at `close()`.
  ///
  /// Called outside the lock, since making a task takes longer than all steps under it.
  private func start(_ load: Load) {
    tasks.enter()
    // Without a name, which costs each load an allocation.
    let task = ActiveCallback.outside {
      Task(priority: load.taskPriority.task) { [self] in
        await run(load)
        tasks.leave()
      }
    }
    let handle = Handle(load: load, task: task)
    let isWanted = state.withLock { $0.registry.setHandle(handle, of: load.id) }
    // A subscriber that left meanwhile, or `close()`, found no task to cancel.
    if !isWanted { task.cancel() }
  }

  /// Makes a subscriber as urgent as the request's ``RequestPriority``, or as the load whose entity or source
  /// made the request.
  func follow(_ id: SubscriberID, _ urgency: Urgency) {
    step { $0.registry.move(id, to: urgency.priority) }
  }

  /// Makes a subscriber at least as urgent as its task has become.
  @inline(never)  // As `enter`.
  private func escalate(_ id: SubscriberID, to priority: Priority) {
    step { $0.registry.escalate(id, to: priority) }
  }

  /// Takes a subscriber out of the registry and answers it; harmless for one that is not there. An image is the
  /// table's.
  @inline(never)  // As `enter`.
  func leave(_ id: SubscriberID, with outcome: consuming Outcome = .failure(.cancelled)) {
    let isAnswered = if case .success = outcome { true } else { false }
    guard let left = step({ $0.registry.leave(id, isAnswered: isAnswered) }) else { return }
    left.subscriber.answer(outcome, .table)
    guard let abandoned = left.abandoned else { return }
    abandoned.handle.end()
    for request in abandoned.requests { recorder.cancelled(request.key) }
  }

  /// Takes subscribers out of the registry in one step, and answers them: none of their loads begins in the place of
  /// another.
  ///
  /// - Parameter subscribers: Called under the lock. A subscriber that is not there changes nothing.
  func leaveTogether(_ subscribers: () -> [SubscriberID]) {
    let left = step { state in
      let left = subscribers().compactMap { state.registry.leave($0) }
      Self.refuse(left.compactMap(\.abandoned?.handle))
      return left
    }
    for left in left { left.subscriber.answer(.failure(.cancelled), .table) }
    for abandoned in left.compactMap(\.abandoned) {
      abandoned.handle.end()
      for request in abandoned.requests { recorder.cancelled(request.key) }
    }
  }

  /// Lets no load that leaves the registry go on with the permit that another one returns.
  ///
  /// Called under the lock: a load whose task is not noted yet is cancelled by the thread that made the task.
  private static func refuse(_ handles: [Handle]) {
    for handle in handles { handle.load.permit.refuse() }
  }

  // MARK: The cache's side

  /// Answers all subscribers for an image that was stored by hand.
  func satisfy(_ key: ImageKey, with image: CachedImage, isStored: Bool) {
    let (subscribers, abandoned) = step { state in
      let number = Generation.next()
      state.failures?.forget(key.entity, at: number)
      let superseded = state.registry.supersede(key, at: number)
      Self.refuse(superseded.abandoned)
      return superseded
    }
    answer(subscribers, .success(image), AnswerFacts(side: .table, isStored: isStored))
    for handle in abandoned { handle.end() }
  }

  /// Notes a removal: later requests for these images join no load under way.
  ///
  /// - Parameter other: One at the same number.
  /// - Returns: Their number, for the table.
  func remove(_ removal: Removal, and other: Removal? = nil) -> Generation.Removal {
    state.withLock { state in
      let number = Generation.next()
      state.registry.remove(removal, at: number)
      state.failures?.forget(removal.entity, at: number)
      if let other { state.registry.remove(other, at: number) }
      return Generation.Removal(number: number, oldest: state.oldest)
    }
  }

  /// Forgets the failures that an entity's requests met, or all.
  func forgetFailures(of entity: ImageID? = nil) {
    state.withLock { $0.failures?.forget(entity, at: Generation.next()) }
  }

  /// Remembers the error of a load for its requests.
  func remember(
    _ error: ImageCacheError, of requests: [ImageRequest], _ loadKey: LoadKey, load: Int
  ) {
    state.withLock { state in
      for request in requests where state.failures != nil {
        state.failures?.note(
          error, of: request.failureName(loadKey), for: request.key.entity, load: load,
          at: clock.now)
      }
    }
  }

  /// The remembered failure that answers a request.
  private func failure(
    of request: ImageRequest, _ loadKey: LoadKey, in state: inout State
  ) -> ImageCacheError? {
    guard state.failures != nil else { return nil }
    let name = request.failureName(loadKey)
    guard request.policy == .useCache else {
      state.failures?.forget(name, at: request.generation)
      return nil
    }
    return state.failures?.refusal(of: name, for: request.key.entity, at: clock.now)
  }

  /// The lowest number of a load, or of a store by hand, that lives.
  var oldest: Int { state.withLock { $0.oldest } }

  /// Notes that a store by hand works, until ``endStore(_:)``; false if the registry is closed.
  func beginStore(_ number: Int) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.stores.append(number) }
      return !state.isClosed
    }
  }

  func endStore(_ number: Int) {
    state.withLock { state in state.stores.removeAll { $0 == number } }
  }

  /// Cancels all loads and answers all subscribers; later ones are refused.
  func close() {
    let (loads, subscribers) = step { state in
      state.isClosed = true
      let all = state.registry.failAll()
      Self.refuse(all.handles)
      return all
    }
    for handle in loads { handle.end() }
    answer(subscribers, .failure(.closed))
  }

  /// Waits until no load works any more, on its original and what has arrived neither: its task goes
  /// on after the load has left the registry.
  func loadsHaveEnded() async {
    await withCheckedContinuation { continuation in
      tasks.notify(queue: .global()) { continuation.resume() }
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Loads and subscribers under way; both are zero when nothing was left behind.
  var counts: (loads: Int, subscribers: Int) {
    state.withLock { ($0.registry.loadCount, $0.registry.subscriberCount) }
  }

  /// The loads under way, in the order in which they began.
  var loads: [LoadRecord<ImageRequest, Handle>] {
    state.withLock { $0.registry.records.compactMap { $0 } }.sorted { $0.id.number < $1.id.number }
  }

  /// Changes the registry. The requests that it drops are released outside the lock, and with them perhaps
  /// entities, whose deinitialisers may do anything, such as cancel another request.
  ///
  /// Priorities are set under the lock, in the order in which the registry decided them. Their observers
  /// are called outside it.
  func step<Result>(_ change: (inout State) -> Result) -> Result {
    var dropped: [ImageRequest] = []
    var tellings: [@Sendable () -> Void] = []
    // Returned as it is: a copy of what a large event answers would cost more than the event.
    let result = state.withLock { state in
      defer {
        dropped = state.registry.takeDropped()
        tellings = state.registry.takeMoved().compactMap {
          $0.handle.load.urgency.set($0.priority)
        }
      }
      return change(&state)
    }
    for tell in tellings { tell() }
    withExtendedLifetime(dropped) {}
    return result
  }

  func answer(
    _ subscribers: [Subscriber], _ outcome: consuming Outcome, _ facts: AnswerFacts = .table
  ) {
    guard let last = subscribers.last else { return }
    for subscriber in subscribers.dropLast() { subscriber.answer(copy outcome, facts) }
    last.answer(outcome, facts)
  }
}

extension ImageRequest {
  /// What a failure of its load counts for.
  fileprivate func failureName(_ loadKey: LoadKey) -> FailureMemory.Name {
    FailureMemory.Name(loadKey: loadKey.plain, version: realKey.version)
  }
}

extension ImageProgress {
  /// The last step of a load; none for a cancellation, which ends a stream without one.
  fileprivate init?(_ outcome: consuming InFlightRegistry.Outcome) {
    switch consume outcome {
    case .success(let image): self = .finished(consume image)
    case .failure(.cancelled): return nil
    case .failure(let error): self = .failed(consume error)
    }
  }
}
