/// Whether threads that computed lately had to share their cores, and so the level at which the next job
/// computes; decides only.
///
/// A job that computes on a nicer thread finishes on another one. Where cores sleep, waking that one takes 30
/// µs; where they are busy, 5, and only there a nicer thread makes a difference.
///
/// Invariant: one job that had to share is enough for all jobs of the next ``memory``. A busy window leaves
/// the cores alone between its frames, which come every 17 ms or less.
struct Crowding: Sendable {
  static let memory = Duration.seconds(1)

  private var end: ContinuousClock.Instant?

  /// - Parameter end: Until when cores count as shared without any sign of it.
  init(until end: ContinuousClock.Instant? = nil) { self.end = end }

  /// A job has computed.
  ///
  /// - Parameters:
  ///   - processorTime: The time that it had a core.
  ///   - elapsed: The time that it took.
  mutating func computed(
    for processorTime: Duration, in elapsed: Duration, at now: ContinuousClock.Instant
  ) {
    let lost = elapsed - processorTime
    // Interrupts take some; a thread that wants the core takes half of it, at least a millisecond at once.
    guard lost * 8 > elapsed, lost > .microseconds(200) else { return }
    end = max(end ?? now, now.advanced(by: Self.memory))
  }

  /// The level at which a job of this priority computes.
  func level(for priority: Priority, at now: ContinuousClock.Instant) -> WorkLevel {
    if priority < .medium { return .behind }
    return end.map { now < $0 } == true ? .beside : .normal
  }
}
