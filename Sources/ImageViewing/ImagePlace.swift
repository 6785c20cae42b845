package import FastImageCache

/// One place on screen: does what its ``ImageDisplay`` decides.
///
/// Invariants:
/// 1. `image` is held while it is shown, or while a step is about to show it.
/// 2. `loading` is the task of the newest turn, while that loads.
/// 3. `places` has each place that lives, and keeps none.
/// 4. `fraction`, `priority` and `report` are those of the newest load; `reporting` waits for its report.
/// 5. `player` is there once a format that keeps frames was shown, or something was asked of it. Others cost nothing.
@MainActor package final class ImagePlace {
  /// What a place shows.
  package enum Sight: Sendable {
    case nothing
    /// Nothing has come yet.
    case placeholder
    case preview(CachedImage)
    /// An image, or the next frame of one that moves.
    ///
    /// - Parameter isLate: It was loaded while the place was seen, so it may fade in.
    case image(CachedImage, isLate: Bool)
    case failure(ImageCacheError)
  }

  /// Runs a closure on the main thread after this call, in the order of the calls, from any thread.
  package typealias Delivery = @Sendable (_ job: @escaping @MainActor @Sendable () -> Void) -> Void

  private let deliver: Delivery
  private let show: @MainActor (Sight) -> Void
  private var decisions = ImageDisplay<PlaceTarget>()
  package private(set) var request: Request?
  private(set) var image: CachedImage?
  private var error: ImageCacheError?
  private var loading: Task<Void, Never>?
  private var priority: RequestPriority?
  /// Whether the last look found an image that the next load verifies.
  private var findsUnverified = false
  private(set) var existingPlayer: PlacePlayer?

  /// The part of the bytes that has arrived, from 0 to 1, where the request wants to know it and a length is announced.
  package private(set) var fraction: Double?

  /// Whether what the place shows is what it was told to show: nothing is loaded, and nothing has failed.
  package var isSettled: Bool { !decisions.isLoading && !decisions.hasFailed }

  /// Called when ``fraction`` has changed while the placeholder is shown.
  package var fractionChanged: @MainActor () -> Void = {}

  /// How the image on screen was loaded; `nil` for an image that the table had, and until the report is there.
  package private(set) var report: LoadReport?
  private var reporting: Task<Void, Never>?

  /// Called when ``report`` has come.
  package var reportChanged: @MainActor () -> Void = {}

  /// Whether a load is under way.
  var isWaiting: Bool { decisions.isLoading }

  /// What becomes of a load when nobody sees the place any more, or it wants nothing.
  package var whenLeaving = DisappearBehavior.cancel

  /// Called with `true` when ``tick(at:)`` is to be called at each tick of the window's clock, the next one included,
  /// and with `false` when no more.
  package var setTicking: @MainActor (Bool) -> Void = { _ in }

  /// Called after an image was shown that was looked up or loaded, and not for the frames that follow it.
  package var onLoaded: @MainActor (CachedImage) -> Void = { _ in }
  /// Called after a load has failed, also where something else stays on screen.
  package var onFailed: @MainActor (ImageCacheError) -> Void = { _ in }

  private static var places: [Unheld] = []
  /// Those that are gone leave `places` when it has grown to this count.
  private static var roomCount = 64
  private struct Unheld { weak var place: ImagePlace? }

  /// With those that are gone and were not yet forgotten; for tests.
  static var placeCount: Int { places.count }

  /// Of all places: they share the main thread.
  static var verification = VerificationBudget()

  /// Whether the system had a network when the toolkit last reported it.
  private static var hasNetwork = true

  /// Whether the user saved data when the toolkit last reported it.
  package private(set) static var savesData = false

  /// Whether the image on screen is that of ``ImageEntity/lowDataURL(for:)``.
  private var isLowData = false

  /// Called when a load has failed, and its place waits for ``retryFailed()``; without the error where an image is
  /// there whose frames failed.
  package static var didFail: @MainActor (ImageCacheError?) -> Void = { _ in }

  /// Creates a place that shows nothing.
  ///
  /// - Parameters:
  ///   - deliver: Brings answers of loads to the main thread.
  ///   - show: Puts on screen what it is given, before it returns. It may hold an image until it is called
  ///     again.
  package init(deliver: @escaping Delivery, show: @escaping @MainActor (Sight) -> Void) {
    (self.deliver, self.show) = (deliver, show)
    if Self.places.count >= Self.roomCount {
      Self.places.removeAll { $0.place == nil }
      Self.roomCount = max(64, 2 * Self.places.count)
    }
    Self.places.append(Unheld(place: self))
  }

  deinit {
    reporting?.cancel()
    switch whenLeaving {
    case .cancel: loading?.cancel()
    case .lowerPriority: priority?.value = .low
    case .keepLoading: break
    }
  }

  /// Makes the place show this image from now on; the same as before changes nothing.
  package func want(_ request: Request?) {
    let target = request?.target
    if target == nil { leave() }
    // Before the steps, which ask for it.
    self.request = request
    report(.wanted(target))
  }

  /// Makes the place show an image that somebody has loaded for a request, as if the place had loaded it.
  package func want(_ request: Request, showing image: CachedImage) {
    (self.request, self.image, isLowData) = (request, image, false)
    report(.given(request.target))
    if decisions.sight == .nothing { self.image = nil }
  }

  /// Asks again for an image that failed, if the place can be seen.
  package func retry() { report(.recovered) }

  /// The place can be seen from now on.
  package func appear() { report(.appeared) }

  /// Nobody sees the place any more: it lets its image go, and gives up its load unless ``whenLeaving`` says otherwise.
  package func disappear() {
    leave()
    report(.disappeared)
  }

  /// Leaves a load that is to go on to itself: it ends by itself, and its image is a hit afterwards.
  private func leave() {
    guard whenLeaving != .cancel else { return }
    if whenLeaving == .lowerPriority { priority?.value = .low }
    loading = nil
  }

  /// Has all places that can be seen look again, because the cache may have other images now.
  ///
  /// - Parameters:
  ///   - id: Only places for this entity's image; `nil` for all of the cache.
  ///   - cache: Places of other caches do nothing.
  package static func reload(for id: ImageID?, in cache: ImageCache) {
    for place in places.compactMap(\.place) {
      guard let request = place.request, request.cache === cache else { continue }
      if id == nil || request.entity.imageID == id { place.report(.changed) }
    }
  }

  /// Asks again for all images that failed and can be seen.
  package static func retryFailed() {
    for place in places.compactMap(\.place) {
      if place.decisions.hasFailed, let request = place.request {
        request.cache.forgetFailures(of: request.entity.imageID)
      }
      place.report(.recovered)
      place.existingPlayer?.retry()
    }
  }

  /// Asks again for what failed if the network is back, and not when one network replaces another.
  package static func networkChanged(isThere: Bool) {
    let isBack = isThere && !hasNetwork
    hasNetwork = isThere
    if isBack { retryFailed() }
  }

  /// Asks for smaller images from now on, or for the real ones in place of those.
  package static func dataSavingChanged(to savesData: Bool) {
    guard savesData != Self.savesData else { return }
    Self.savesData = savesData
    if savesData { return }
    for place in places.compactMap(\.place) where place.isLowData { place.report(.changed) }
  }

  // MARK: Frames

  /// Whether images that move do; if not, the first frame is shown.
  package var isAnimated: Bool {
    get { existingPlayer?.animates ?? true }
    set { if newValue != isAnimated { player.animates = newValue } }
  }

  /// Stops at the frame on screen until ``resume()``, and other images at their first one.
  package func pause() { player.pause() }

  /// Goes on with the frame on screen, by a time of its own: other places of the same animation may be elsewhere.
  package func resume() { existingPlayer?.resume() }

  /// Shows the frame at a time since the start, and goes on from there unless paused; does nothing while the frames are
  /// not there.
  package func seek(to time: Duration) { existingPlayer?.seek(to: time) }

  /// Shows the next frame if its turn has come.
  ///
  /// - Parameter now: By one clock for all places of the process.
  /// - Returns: How long no tick need come; `nil` until ``setTicking`` is called.
  package func tick(at now: Duration) -> Duration? { existingPlayer?.tick(at: now) }

  /// Shows first frames only from now on, or moves again.
  package static func motionChanged(isReduced: Bool) {
    guard isReduced != PlacePlayer.isMotionReduced else { return }
    PlacePlayer.isMotionReduced = isReduced
    for place in places.compactMap(\.place) { place.existingPlayer?.motionChanged() }
  }

  private var player: PlacePlayer {
    if let existingPlayer { return existingPlayer }
    let player = PlacePlayer(
      deliver: deliver, show: { [weak self] in self?.show(.image($0, isLate: false)) },
      setTicking: { [weak self] in self?.setTicking($0) })
    existingPlayer = player
    return player
  }

  private func showImage(isLate: Bool) {
    guard let image else { return }
    show(.image(image, isLate: isLate))
    if let request, request.format.animation != .firstFrame, !isLowData {
      player.begin(request, image)
    } else {
      existingPlayer?.end()
    }
    // Last: it may make the place show something else.
    onLoaded(image)
  }

  // MARK: Decisions

  private func report(_ event: ImageDisplay<PlaceTarget>.Event) {
    for step in decisions.handle(event) { take(step) }
  }

  private func take(_ step: ImageDisplay<PlaceTarget>.Step) {
    switch step {
    case .look:
      let found = look()
      if let found { (image, report) = (found, nil) }
      report(.looked(isThere: found != nil))
    case .load(let turn): load(turn)
    case .cancel:
      loading?.cancel()
      loading = nil
    case .showImage(let isLate): showImage(isLate: isLate)
    case .showPreview: if let image { show(.preview(image)) }
    case .showPlaceholder:
      existingPlayer?.end()
      image = nil
      show(.placeholder)
    case .showFailure:
      existingPlayer?.end()
      if let error { show(.failure(error)) }
    case .clear:
      existingPlayer?.end()
      image = nil
      show(.nothing)
    }
  }

  private func look() -> CachedImage? {
    guard let request else { return nil }
    let real = find(request)
    let found = real ?? (Self.savesData && !findsUnverified ? request.cachedLowDataImage() : nil)
    if found != nil { isLowData = real == nil }
    return found
  }

  /// The image that the table has, if it is verified, or may be now.
  private func find(_ request: Request) -> CachedImage? {
    findsUnverified = false
    switch request.cache.find(request.entity, format: request.format) {
    case .image(let image): return image
    case .nothing: return nil
    case .unverified(let isInMemory):
      let start = ContinuousClock.now
      if Self.verification.isFresh { deliver { Self.verification.firstFrameIsShown() } }
      guard Self.verification.allows(at: start, isInMemory: isInMemory) else {
        findsUnverified = true
        return nil
      }
      defer { Self.verification.note(ContinuousClock.now - start) }
      return request.cache.cachedImage(for: request.entity, format: request.format)
    }
  }

  private func load(_ turn: ImageDisplay<PlaceTarget>.Turn) {
    guard let request else { return }
    (fraction, report) = (nil, nil)
    waitForReport(request, turn)
    priority = RequestPriority(.high)
    // Detached: the load belongs to no actor, so no step of it waits for the main thread.
    loading = Task.detached(name: "image on screen", priority: .high) {
      [deliver, priority, verifies = findsUnverified, savesData = Self.savesData, weak self] in
      if verifies,
        let image = await request.cache.storedImage(for: request.entity, format: request.format)
      {
        deliver { self?.came(image, .verified(turn)) }
        return
      }
      let tell = { @Sendable (step: Request.Step) in deliver { self?.take(step, turn) } }
      await savesData ? request.loadSavingData(priority, tell) : request.load(priority, tell)
    }
  }

  private func waitForReport(_ request: Request, _ turn: ImageDisplay<PlaceTarget>.Turn) {
    reporting?.cancel()
    guard request.wantsReport else { return }
    // Listens before the load begins.
    let events = request.cache.events()
    let (id, name) = (request.entity.imageID, request.format.name)
    reporting = Task.detached(name: "report on screen", priority: .utility) {
      [deliver, weak self] in
      for await event in events {
        guard case .loaded(id, name, let report) = event else { continue }
        deliver { self?.reported(report, turn) }
        return
      }
    }
  }

  private func reported(_ new: LoadReport, _ turn: ImageDisplay<PlaceTarget>.Turn) {
    guard decisions.turn == turn else { return }
    report = new
    reportChanged()
  }

  private func take(_ step: Request.Step, _ turn: ImageDisplay<PlaceTarget>.Turn) {
    switch step {
    case .fraction(let new):
      guard decisions.isLoading(turn), decisions.sight == .placeholder else { return }
      fraction = new
      fractionChanged()
    case .preview(let image): came(image, .previewed(turn))
    case .image(let image): came(image, .loaded(turn))
    case .lowDataImage(let image): came(image, .loaded(turn), isLowData: true)
    case .failure(let error): failed(error, turn)
    }
  }

  private func came(
    _ new: CachedImage, _ event: ImageDisplay<PlaceTarget>.Event, isLowData: Bool = false
  ) {
    let steps = decisions.handle(event)
    // An answer of an older turn is dropped.
    if !steps.isEmpty { (image, self.isLowData) = (new, isLowData) }
    for step in steps { take(step) }
  }

  private func failed(_ error: ImageCacheError, _ turn: ImageDisplay<PlaceTarget>.Turn) {
    self.error = error
    report(.failed(turn))
    guard decisions.hasFailed else { return }
    Self.didFail(error)
    onFailed(error)
  }
}
