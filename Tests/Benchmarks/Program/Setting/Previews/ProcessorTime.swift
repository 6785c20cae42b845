import Foundation

/// The time that the processor has worked.
enum ProcessorTime {
  /// For the calling thread.
  static var ofThread: Duration { time(CLOCK_THREAD_CPUTIME_ID) }

  /// For all threads of the process.
  static var ofProcess: Duration { time(CLOCK_PROCESS_CPUTIME_ID) }

  private static func time(_ clock: clockid_t) -> Duration {
    var time = timespec()
    clock_gettime(clock, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}
