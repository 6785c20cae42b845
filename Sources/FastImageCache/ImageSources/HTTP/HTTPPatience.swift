/// The two time limits of one load, as arithmetic on instants.
///
/// Invariants:
/// 1. Nothing counts between `pause` and `resume`: a load that waits for its turn with a host is not
///    answered for the slowness of those before it.
/// 2. `nextCheck` is never later than the first moment at which a limit can be over, whatever is
///    called until then; so whoever sleeps until it misses nothing.
struct HTTPPatience: Sendable {
  typealias Instant = ContinuousClock.Instant

  let idleTimeout: Duration
  let totalTimeout: Duration

  /// What counted before the last pause.
  private var spent = Duration.zero
  /// Since when it counts; `nil` during a pause.
  private var start: Instant?
  private var lastSign: Instant

  init(idleTimeout: Duration, totalTimeout: Duration, now: Instant) {
    // Or who waits for its turn would be looked after without a pause.
    self.idleTimeout = max(idleTimeout, .milliseconds(1))
    self.totalTimeout = totalTimeout
    start = now
    lastSign = now
  }

  /// Something arrived.
  mutating func touch(_ now: Instant) { lastSign = max(lastSign, now) }

  mutating func pause(_ now: Instant) {
    if let start { spent += now - start }
    start = nil
  }

  mutating func resume(_ now: Instant) {
    start = start ?? now
    touch(now)
  }

  /// The limit that is over, if one is.
  func exceededLimit(_ now: Instant) -> Duration? {
    if counted(now) >= totalTimeout { return totalTimeout }
    return start != nil && now - lastSign >= idleTimeout ? idleTimeout : nil
  }

  func nextCheck(_ now: Instant) -> Instant {
    let end = now + (totalTimeout - counted(now))
    return min(end, (start == nil ? now : lastSign) + idleTimeout)
  }

  private func counted(_ now: Instant) -> Duration {
    start.map { spent + (now - $0) } ?? spent
  }
}

/// What tells the time to a load's patience: the system, or a test, which moves it by hand.
protocol PatienceClock: Clock<Duration> where Instant == HTTPPatience.Instant {}

extension ContinuousClock: PatienceClock {}
