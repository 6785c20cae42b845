import Foundation

/// The time that the processor has worked for the calling thread.
package enum ThreadTime {
  /// Comparable on one thread only.
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}

/// The clock of time limits: the system's, or one that a test moves by hand.
package protocol PatienceClock: Clock<Duration> where Instant == ContinuousClock.Instant {}

extension ContinuousClock: PatienceClock {}
