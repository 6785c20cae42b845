import ImageCodecs
import LoadQueue
import Locking
import Synchronization

/// The progress of one load, sent to its listeners.
///
/// Sources report from threads of their own, so all reports go into the listeners' queues under one lock, outside of
/// which the readers are woken.
///
/// Invariants:
/// 1. A listener that is added late hears the latest step first. One that is slow misses steps, as
///    ``ImageProgress/supersedes(_:)`` says.
/// 2. A listener hears nothing after `end`. A cancellation tells it nothing.
/// 3. `fetch` is the number of the fetch under way if a listener wants more previews of it, and else 0. A fetch
///    that begins anew with other bytes gets another number. So a preview of a fetch that is over, or of bytes that
///    were thrown away, reaches nobody.
/// 4. A worker that computes takes no lock here: a request that joins takes it under the registry's.
final class LoadProgress: Sendable {
  typealias Listener = StreamQueue<ImageProgress>

  private struct State {
    var latest = ImageProgress.queued
    var listeners: [SubscriberID: Listener] = [:]
    var previews = LatestPreview()
    var fetchCount = 0
    var isFetching = false
    var meter = LoadMeter()

    var previewedFetch: Int { isFetching && previews.wantMore ? fetchCount : 0 }

    /// Shows each listener its preview.
    ///
    /// - Returns: The listeners to be woken.
    func show(_ previews: [(subscriber: SubscriberID, progress: ImageProgress)]) -> [Listener] {
      previews.compactMap { subscriber, progress in
        listeners[subscriber]?.add(progress)
        return listeners[subscriber]
      }
    }
  }

  private let state = Lock(State())
  private let fetch = Atomic(0)
  /// Whether there are listeners.
  private let isHeard = Atomic(false)
  let clock: any TimeoutClock
  /// The number at which the source was asked last, 0 for never.
  var asked: Int { lastAsked.load(ordering: .relaxed) }
  private let lastAsked = Atomic(0)

  init(clock: any TimeoutClock) { self.clock = clock }

  /// Notes that the source is asked now: what it answers is at least as new as this moment.
  func noteAsked() { lastAsked.store(Generation.next(), ordering: .relaxed) }

  static func makeListener() -> Listener { Listener { $0.supersedes($1) } }

  /// Tells all listeners of a step. A worker's step that has none when it begins may come to later ones as late
  /// as the end of its computing.
  func report(_ progress: ImageProgress) {
    if isHeard.load(ordering: .relaxed) {
      Worker.runCallback { self.tell(progress) }
    } else {
      Worker.beforeFinish { self.tell(progress) }
    }
  }

  private func tell(_ progress: ImageProgress) {
    let listeners = state.withLock { state in
      state.latest = progress
      state.meter.note(progress)
      for listener in state.listeners.values { listener.add(progress) }
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.wake() }
  }

  /// Adds a listener that nobody reads yet, perhaps under a lock of the caller's.
  ///
  /// - Parameter wish: What the listener wants of previews. The newest one comes behind the latest step.
  func add(_ listener: Listener, for subscriber: SubscriberID, _ wish: PreviewRequest? = nil) {
    change { state in
      listener.add(state.latest)
      state.listeners[subscriber] = listener
      guard let wish, let preview = state.previews.add(wish, for: subscriber) else { return }
      listener.add(preview)
    }
  }

  /// Tells a listener its last step, if there is one, and ends its stream.
  ///
  /// The progress is moved all the way: when the listener has an image, no reference to it is left
  /// here.
  func end(_ subscriber: SubscriberID, with progress: consuming ImageProgress?) {
    // Taken out first: later reports are not for this listener.
    let (listener, wish) = change { state in
      (state.listeners.removeValue(forKey: subscriber), state.previews.remove(subscriber))
    }
    defer { withExtendedLifetime(wish) {} }
    guard let listener else { return }
    if let progress = consume progress { listener.add(consume progress) }
    listener.finish()
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
}

// MARK: Previews

extension LoadProgress {
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
      return (state.fetchCount, state.previews.forget())
    }
    withExtendedLifetime(forgotten) {}
    return next
  }

  /// The source has answered, or failed: no more previews are shown, to those who come later neither.
  func endFetch() {
    let forgotten = change { state in
      state.isFetching = false
      return state.previews.forget()
    }
    // A source may keep this object. Memory is given back outside the lock.
    withExtendedLifetime(forgotten) {}
  }

  /// What is wanted of stages; nothing if the fetch is over.
  ///
  /// - Parameter elapsed: The time since the fetch began.
  func want(
    _ stages: [PreviewStage.Kind: PreviewStage], in number: Int, after elapsed: Duration
  ) -> [PreviewStage.Kind: PreviewJob] {
    state.withLock { state in
      guard state.previewedFetch == number else { return [:] }
      return state.previews.want(stages, after: elapsed)
    }
  }

  /// Shows the previews that there are to those who have become due, unless the fetch is over.
  func offer(in number: Int) {
    let listeners = change { state in
      state.previewedFetch == number ? state.show(state.previews.offer()) : []
    }
    for listener in listeners { listener.wake() }
  }

  /// Shows the previews of one stage, unless the fetch is over or nobody wants previews of it any more.
  ///
  /// - Parameter part: The part of the image's pixels that they come from.
  /// - Returns: Whether the previews were taken; else nothing is known of them.
  func show(
    _ drawn: [DrawnPreview], of stage: PreviewStage, part: Double?, in number: Int
  ) -> Bool {
    let now = now
    let listeners = change { state -> [Listener]? in
      guard state.previewedFetch == number else { return nil }
      if state.meter.firstPreview == nil { state.meter.firstPreview = now }
      return state.show(state.previews.show(drawn, of: stage, part: part))
    }
    for listener in listeners ?? [] { listener.wake() }
    return listeners != nil
  }
}

// MARK: Figures

extension LoadProgress {
  /// The load's figures at this moment, and the number of its previews.
  var metered: (meter: LoadMeter, previewCount: Int) {
    state.withLock { ($0.meter, $0.previews.drawnCount) }
  }

  /// Adds to the load's figures.
  func measure(_ change: (inout LoadMeter) -> Void) { state.withLock { change(&$0.meter) } }

  /// Adds to the load's figures what a worker has measured, before its job finishes at the latest.
  func measureOnWorker(_ change: @escaping @Sendable (inout LoadMeter) -> Void) {
    Worker.beforeFinish { self.measure(change) }
  }

  /// The moment at which a step of the load begins, for ``measure(_:since:)``.
  var now: Duration { clock.now.ofProcess }

  /// Adds the time since `start` to one of the load's figures.
  func measure(_ duration: WritableKeyPath<LoadMeter, Duration>, since start: Duration) {
    let elapsed = now - start
    measure { $0[keyPath: duration] += elapsed }
  }
}
