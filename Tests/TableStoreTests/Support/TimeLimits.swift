import TestSupport
import Testing

extension TimeLimitTrait.Duration {
  /// Longer than a run of all tests: the time of a test counts while it waits for its turn on the
  /// threads that all tests share. That run takes a minute or two on two cores, several beside
  /// other work, and under a sanitizer ten times as long.
  static var wholeRun: Self {
    .minutes(Sanitizer.isPresent ? 15 : 8)
  }
}
