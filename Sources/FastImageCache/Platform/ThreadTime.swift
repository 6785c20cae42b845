import Foundation

/// The time that the processor has worked for the calling thread.
enum ThreadTime {
  /// Comparable on one thread only.
  static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
