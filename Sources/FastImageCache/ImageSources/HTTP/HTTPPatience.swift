/// The two time limits of one load, as arithmetic on instants.
///
/// Invariants:
/// 1. Time between `pause` and `resume`, which a load spends queued for a host, does not count.
/// 2. `nextCheck` is never later than the first moment at which a limit can be over, in whatever order
///    the calls come until then. So a task that sleeps until `nextCheck` misses nothing.
struct HTTPPatience: Sendable {
  typealias Instant = ContinuousClock.Instant

  let idleTimeout: Duration
  let totalTimeout: Duration

  /// The time that counted before the last pause.
  private var spent = Duration.zero
  /// The moment since which time counts; `nil` during a pause.
  private var start: Instant?
  private var lastSign: Instant

  init(idleTimeout: Duration, totalTimeout: Duration, now: Instant) {
    // Otherwise a queued request would be polled in a tight loop.
    self.idleTimeout = max(idleTimeout, .milliseconds(1))
    self.totalTimeout = totalTimeout
    start = now
    lastSign = now
  }

  /// Notes that bytes arrived.
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

/// The clock of a load's patience: the system's, or one that a test moves by hand.
protocol PatienceClock: Clock<Duration> where Instant == HTTPPatience.Instant {}

extension ContinuousClock: PatienceClock {}
