import ImageCodecs
import Locking
import Synchronization

/// The progress of one load, sent to its listeners.
///
/// Sources report from threads of their own. Unstructured tasks, one for each report, could run out of
/// order, so reports go straight into the streams: queued under one lock and delivered outside it.
///
/// Invariants:
/// 1. A listener that is added late hears the latest step first.
/// 2. A listener hears nothing after `end`. A cancellation tells it nothing.
/// 3. `fetch` is the number of the fetch under way if a listener wants more previews of it, and else 0. A fetch
///    that begins anew with other bytes gets another number. So a preview of a fetch that is over, or of bytes that
///    were thrown away, reaches nobody.
/// 4. A step of bytes is left out while the outbox is crowded. The latest one follows when nothing waits, so
///    nobody is left with an older one.
/// 5. A worker that computes takes no lock here: a request that joins takes it under the registry's.
final class FlightProgress: OutboxOwner {
  typealias Listener = StreamQueue<ImageProgress>

  private struct Step {
    let listener: Listener
    /// `nil` for an end without a last step.
    let progress: ImageProgress?
    let isLast: Bool
  }

  private struct State {
    var latest = ImageProgress.queued
    var listeners: [WaiterID: Listener] = [:]
    var outbox = Outbox<Step>()
    /// Whether the latest step was left out.
    var isBehind = false
    var wishes = PreviewWishes()
    var fetchCount = 0
    var isFetching = false
    var meter = LoadMeter()

    var previewedFetch: Int { isFetching && wishes.wantMore ? fetchCount : 0 }

    /// Tells all listeners the latest step.
    mutating func tellLatest() {
      isBehind = false
      for listener in listeners.values {
        outbox.append(Step(listener: listener, progress: latest, isLast: false))
      }
    }

    mutating func show(_ previews: [(waiter: WaiterID, progress: ImageProgress)]) {
      for (waiter, progress) in previews {
        guard let listener = listeners[waiter] else { continue }
        outbox.append(Step(listener: listener, progress: progress, isLast: false))
      }
    }
  }

  private let state = Lock(State())
  private let fetch = Atomic(0)
  /// Whether there are listeners.
  private let isHeard = Atomic(false)
  let clock: any PatienceClock

  init(clock: any PatienceClock) { self.clock = clock }

  /// A listener keeps one unread preview, whatever number of steps it misses.
  static func makeListener() -> Listener {
    Listener(
      size: 16,
      lasting: Listener.Lasting(holds: { $0.isPreview }, ends: { $0.endsPreviews }))
  }

  /// Tells all listeners of a step. A worker's step that has none when it begins may come to later ones as late
  /// as the end of its computing.
  func report(_ progress: ImageProgress) {
    if isHeard.load(ordering: .relaxed) {
      Worker.callOut { self.tell(progress) }
    } else {
      Worker.beforeFinish { self.tell(progress) }
    }
  }

  private func tell(_ progress: ImageProgress) {
    let isHeard = state.withLock { state in
      state.latest = progress
      state.meter.note(progress)
      if progress.isReceiving, state.outbox.isCrowded {
        state.isBehind = true
      } else {
        state.tellLatest()
      }
      return !state.listeners.isEmpty
    }
    if isHeard { flush() }
  }

  /// Adds a listener, which hears nothing before the next ``flush()``. So a caller can add it under a
  /// lock and flush outside.
  ///
  /// - Parameter wish: What the listener wants of previews. The newest one comes behind the latest step.
  func add(_ listener: Listener, for waiter: WaiterID, _ wish: PreviewWish? = nil) {
    change { state in
      state.outbox.append(Step(listener: listener, progress: state.latest, isLast: false))
      state.listeners[waiter] = listener
      guard let wish, let preview = state.wishes.add(wish, for: waiter) else { return }
      state.outbox.append(Step(listener: listener, progress: preview, isLast: false))
    }
  }

  /// Tells a listener its last step, if there is one, and ends its stream.
  ///
  /// The progress is moved all the way: when the listener has a picture, no reference to it is left
  /// here.
  func end(_ waiter: WaiterID, with progress: consuming ImageProgress?) {
    // Taken out first: later reports are not for this listener.
    let (listener, wish) = change { state in
      (state.listeners.removeValue(forKey: waiter), state.wishes.remove(waiter))
    }
    defer { withExtendedLifetime(wish) {} }
    guard let listener else { return }
    let step = Step(listener: listener, progress: consume progress, isLast: true)
    enqueue(consume step)
    flush()
  }

  /// Changes who listens, or what decides whether previews are wanted.
  private func change<Result>(_ body: (inout State) -> Result) -> Result {
    state.withLock { state in
      defer {
        fetch.store(state.previewedFetch, ordering: .relaxed)
        isHeard.store(!state.listeners.isEmpty, ordering: .relaxed)
      }
      return body(&state)
    }
  }

  private func enqueue(_ step: consuming Step) {
    var step = Optional(consume step)
    state.withLock { state in
      if let step = step.take() { state.outbox.append(consume step) }
    }
  }

  func deliverNext(isFlushing: Bool) -> Bool {
    // Bound once, or a picture that is delivered would have a second reference here.
    guard
      let step = state.withLock({ state in
        if state.isBehind, state.outbox.count == 0 { state.tellLatest() }
        return state.outbox.next(isFlushing: isFlushing)
      })
    else { return false }
    Self.deliver(consume step)
    return true
  }

  var waitingCount: Int { state.withLock { $0.outbox.count } }

  private static func deliver(_ step: consuming Step) {
    let (listener, isLast) = (step.listener, step.isLast)
    if let progress = (consume step).progress { listener.append(consume progress) }
    if isLast { listener.finish() }
  }
}

// MARK: Previews

extension FlightProgress {
  /// The fetch of which previews are wanted; 0 if there is none.
  var previewedFetch: Int { fetch.load(ordering: .relaxed) }

  /// The source is asked now.
  ///
  /// - Returns: The number of the fetch, from 1 on.
  func beginFetch() -> Int {
    change { state in
      state.fetchCount += 1
      state.isFetching = true
      return state.fetchCount
    }
  }

  /// The source begins anew with other bytes: nothing of the former ones is shown any more.
  ///
  /// - Returns: The fetch's number from now on; the same where a later fetch has begun.
  func restartFetch(_ number: Int) -> Int {
    let (next, forgotten) = change { state in
      guard state.fetchCount == number else { return (number, [CachedImage]()) }
      state.fetchCount += 1
      return (state.fetchCount, state.wishes.forget())
    }
    withExtendedLifetime(forgotten) {}
    return next
  }

  /// The source has answered, or failed: no more previews are shown, to those who come later neither.
  func endFetch() {
    let forgotten = change { state in
      state.isFetching = false
      return state.wishes.forget()
    }
    // A source may keep this object. Memory is given back outside the lock.
    withExtendedLifetime(forgotten) {}
  }

  /// What is wanted of stages; nothing if the fetch is over.
  ///
  /// - Parameter elapsed: The time since the fetch began.
  func want(
    _ stages: [PreviewStage.Kind: PreviewStage], in number: Int, after elapsed: Duration
  ) -> [PreviewStage.Kind: PreviewWant] {
    state.withLock { state in
      guard state.previewedFetch == number else { return [:] }
      return state.wishes.want(stages, after: elapsed)
    }
  }

  /// Shows the previews that there are to those who have become due, unless the fetch is over.
  func offer(in number: Int) {
    let isAny = change { state in
      guard state.previewedFetch == number else { return false }
      let previews = state.wishes.offer()
      state.show(previews)
      return !previews.isEmpty
    }
    if isAny { flush() }
  }

  /// Shows the previews of one stage, unless the fetch is over or nobody wants previews of it any more.
  ///
  /// - Parameter part: The part of the picture's pixels that they come from.
  /// - Returns: Whether the previews were taken; else nothing is known of them.
  func show(
    _ drawn: [DrawnPreview], of stage: PreviewStage, part: Double?, in number: Int
  ) -> Bool {
    let now = clock.now.ofProcess
    let isTaken = change { state in
      guard state.previewedFetch == number else { return false }
      if state.meter.firstPreview == nil { state.meter.firstPreview = now }
      state.show(state.wishes.show(drawn, of: stage, part: part))
      return true
    }
    flush()
    return isTaken
  }
}

// MARK: Figures

extension FlightProgress {
  /// The load's figures at this moment, and the number of its previews.
  var metered: (meter: LoadMeter, previewCount: Int) {
    state.withLock { ($0.meter, $0.wishes.drawnCount) }
  }

  /// Adds to the load's figures.
  func measure(_ change: (inout LoadMeter) -> Void) { state.withLock { change(&$0.meter) } }

  /// Adds to the load's figures what a worker has measured, before its job finishes at the latest.
  func measureOnWorker(_ change: @escaping @Sendable (inout LoadMeter) -> Void) {
    Worker.beforeFinish { self.measure(change) }
  }

  /// Notes that a wait or a fetch of the load begins: here, since in the frame of a suspended task the moment
  /// would cost each load memory.
  func begin() {
    let now = clock.now.ofProcess
    measure { $0.begun = now }
  }

  /// Adds the time since ``begin()`` to one of the load's figures.
  func end(_ duration: WritableKeyPath<LoadMeter, Duration>) {
    let now = clock.now.ofProcess
    measure { meter in
      if let begun = meter.begun.take() { meter[keyPath: duration] += now - begun }
    }
  }

  /// Adds the time since `start` to one of the load's figures.
  func measure(
    _ duration: WritableKeyPath<LoadMeter, Duration>, since start: ContinuousClock.Instant
  ) {
    let elapsed = clock.now - start
    measure { $0[keyPath: duration] += elapsed }
  }
}

extension ImageProgress {
  fileprivate var isReceiving: Bool { if case .receiving = self { true } else { false } }

  fileprivate var isPreview: Bool { if case .preview = self { true } else { false } }

  /// Whether an unread preview is worth nothing any more.
  fileprivate var endsPreviews: Bool {
    switch self {
    case .preview, .finished: true
    default: false
    }
  }
}
