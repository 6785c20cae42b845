/// Whether threads that computed lately had to share their cores, and so the level at which the next job
/// computes; decides only.
///
/// A job that computes on a nicer thread finishes on another one. Where cores sleep, waking that one takes 30
/// µs; where they are busy, 5, and only there a nicer thread makes a difference.
///
/// A job that waits for a file, or for a lock, gives its core away of its own accord. That is no sign of others
/// who want the core; preemptions tell the two apart.
///
/// Invariant: one job that had to share is enough for all jobs of the next ``memory``. A busy window leaves
/// the cores alone between its frames, which come every 17 ms or less.
struct Crowding: Sendable {
  /// What a computing step has had of the cores.
  struct Share: Sendable {
    /// The time that it had a core.
    var processorTime: Duration
    /// The time that it took.
    var elapsed: Duration
    /// How often it lost its core to another thread while it wanted to go on.
    var preemptionCount: Int
  }

  static let memory = Duration.seconds(1)

  private var end: ContinuousClock.Instant?

  /// - Parameter end: Until when cores count as shared without any sign of it.
  init(until end: ContinuousClock.Instant? = nil) { self.end = end }

  /// A job has computed.
  mutating func computed(_ share: Share, at now: ContinuousClock.Instant) {
    let lost = share.elapsed - share.processorTime
    // Interrupts take some; a thread that wants the core takes half of it, at least a millisecond at once.
    guard share.preemptionCount > 0, lost * 8 > share.elapsed, lost > .microseconds(200) else {
      return
    }
    end = max(end ?? now, now.advanced(by: Self.memory))
  }

  /// Whether a job had to share its core lately.
  func isShared(at now: ContinuousClock.Instant) -> Bool { end.map { now < $0 } == true }

  /// The level at which a job of this priority computes.
  func level(for priority: Priority, at now: ContinuousClock.Instant) -> WorkLevel {
    if priority.isLow { return .behind }
    return isShared(at: now) ? .beside : .normal
  }
}
