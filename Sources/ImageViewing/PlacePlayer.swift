import FastImageCache

/// Plays the animation of one place, once that shows the first frame.
///
/// Invariants:
/// 1. `playback` is there from the moment at which all frames are known, until the place lets its image go.
/// 2. `wantsTicks` is true from any change of `playback` on, until that needs no tick any more.
/// 3. Nothing is asked for, and nothing held, while frames are not wanted: `animates` is false, or motion is reduced.
@MainActor final class PlacePlayer {
  private let deliver: ImagePlace.Delivery
  private let show: (CachedImage) -> Void
  private let setTicking: (Bool) -> Void
  private var request: ImagePlace.Request?
  private var first: CachedImage?
  private var playback: Playback?
  private var shown: CachedImage?
  private var loading: Task<Void, Never>?
  private var turn = 0
  private var hasFailed = false
  private var isPaused = false
  private var wantsTicks = false {
    // Again, too: what the clock knows of the player's rest is over.
    didSet { if wantsTicks || oldValue { setTicking(wantsTicks) } }
  }

  var animates = true { didSet { if animates != oldValue { motionChanged() } } }

  /// Whether the system asks for less motion, as the toolkit last reported it.
  static var isMotionReduced = false

  private var wantsFrames: Bool { animates && !Self.isMotionReduced }

  /// - Parameters:
  ///   - show: Puts a frame on screen.
  ///   - setTicking: Has `tick` called at each tick of the window's clock, or no more.
  init(
    deliver: @escaping ImagePlace.Delivery, show: @escaping (CachedImage) -> Void,
    setTicking: @escaping (Bool) -> Void
  ) {
    (self.deliver, self.show, self.setTicking) = (deliver, show, setTicking)
  }

  deinit { loading?.cancel() }

  // MARK: The place

  /// The place shows the image of a request, which is the first frame.
  func begin(_ request: ImagePlace.Request, _ first: CachedImage) {
    (self.request, self.first, shown) = (request, first, first)
    ask()
  }

  /// The place shows something else.
  func end() {
    (request, first, shown) = (nil, nil, nil)
    ask()
  }

  /// Plays what the cache has, or what it loads, of the request.
  private func ask() {
    loading?.cancel()
    (loading, hasFailed) = (nil, false)
    turn += 1
    guard let request, wantsFrames else { return stop() }
    if let animation = request.cache.cachedAnimation(for: request.entity, format: request.format) {
      return play(animation)
    }
    stop()
    load(request)
  }

  private func stop() {
    playback = nil
    wantsTicks = false
  }

  private func load(_ request: ImagePlace.Request) {
    // Under the conditions of the first frame, which is there: what a reload was to bring has come, in time.
    var options = request.options ?? LoadOptions()
    (options.cachePolicy, options.timeout) = (.useCache, nil)
    loading = Task.detached(name: "frames on screen", priority: .high) {
      [deliver, turn, options, weak self] in
      do throws(ImageCacheError) {
        let animation = try await request.cache.animation(
          for: request.entity, format: request.format, options: options)
        deliver { self?.came(animation, turn) }
      } catch { deliver { self?.failed(turn) } }
    }
  }

  private func came(_ animation: CachedAnimation, _ turn: Int) {
    if turn == self.turn { play(animation) }
  }

  private func failed(_ turn: Int) {
    guard turn == self.turn else { return }
    hasFailed = true
    ImagePlace.didFail(nil)
  }

  /// Asks again for frames that failed.
  func retry() { if hasFailed { ask() } }

  /// Frames are wanted from now on, or the first one only.
  func motionChanged() {
    if let first, !wantsFrames { put(first) }
    ask()
  }

  // MARK: Frames

  private func play(_ animation: CachedAnimation) {
    if playback?.animation != animation || playback?.animation.isBroken == true {
      playback = .of(animation)
      if isPaused { playback = playback?.ownCopy { $0.pause() } }
    }
    putFrame()
    wantsTicks = true
  }

  /// - Returns: How long nothing need be asked; `nil` until the place asks for ticks again.
  func tick(at now: Duration) -> Duration? {
    guard let playback else { return nil }
    if playback.animation.isBroken {
      if playback.animation.isStreamed {
        // Its file is at fault: what another load brings would break at the same frame.
        stop()
        failed(turn)
      } else {
        ask()
      }
      return wantsTicks ? .zero : nil
    }
    let rest = playback.tick(at: now)
    putFrame()
    if rest == nil { wantsTicks = false }
    return rest
  }

  private func putFrame() { if let playback { put(playback.frame.image) } }

  private func put(_ image: CachedImage) {
    guard image != shown else { return }
    shown = image
    show(image)
  }

  func pause() {
    isPaused = true
    change { $0.pause() }
  }

  func resume() {
    guard isPaused else { return }
    isPaused = false
    change { $0.resume() }
  }

  func seek(to time: Duration) { change { $0.seek(to: time) } }

  private func change(_ change: (inout AnimationPlayer) -> Void) {
    guard let playback else { return }
    self.playback = playback.ownCopy(change)
    putFrame()
    wantsTicks = true
  }
}
