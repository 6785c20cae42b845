/// Decides whether a place may read and verify an image on the main thread: pure.
///
/// The first frame shows all that the cache has, however long that takes: no placeholder flashes at a launch. Later
/// frames verify for at most ``limit`` in all, and show the rest one frame later.
struct VerificationBudget {
  typealias Instant = ContinuousClock.Instant

  static let limit = Duration.milliseconds(1)
  /// A frame of the fastest screens.
  static let frame = Duration.microseconds(8333)
  /// A first frame takes at least so long.
  static let launch = Duration.milliseconds(100)

  private var launchEnd: Instant?
  private var isFirstFrameShown = false
  private var frameStart: Instant?
  private var spent = Duration.zero
  /// What the last image took.
  private var last = Duration.zero

  /// Whether nothing was verified yet; the first frame ends with ``firstFrameIsShown()`` then.
  var isFresh: Bool { launchEnd == nil }

  /// Whether an image may be verified now.
  ///
  /// - Parameter isInMemory: Whether reading it waits for no disk.
  mutating func allows(at now: Instant, isInMemory: Bool) -> Bool {
    let end = launchEnd ?? now + Self.launch
    launchEnd = end
    if !isFirstFrameShown || now < end { return true }
    if frameStart.map({ now - $0 >= Self.frame }) ?? true {
      // Halved, so that one image that took long does not keep the others waiting for good.
      (frameStart, spent, last) = (now, .zero, last / 2)
    }
    return isInMemory && spent + last <= Self.limit
  }

  /// Notes that an image was verified.
  mutating func note(_ duration: Duration) {
    spent += duration
    last = duration
  }

  /// The main thread has gone on after the first look.
  mutating func firstFrameIsShown() { isFirstFrameShown = true }
}
