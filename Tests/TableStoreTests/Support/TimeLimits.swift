import Foundation
import Locking
import Testing

/// What the thread and the address sanitizer change for tests that take long.
enum Sanitizer {
  static let isPresent = ["__tsan_init", "__asan_init"].contains { (name: String) in
    dlsym(LinkedSymbols.everywhere, name) != nil
  }

  /// From call to call of a sweep over all of them. The plain build sweeps each call; a sanitizer, which
  /// looks at how they are made and not at when they fail, sees the same code at a few.
  static let sweepStep = isPresent ? 7 : 1
}

extension TimeLimitTrait.Duration {
  /// Longer than a run of all tests: the time of a test counts while it waits for its turn on the
  /// threads that all tests share. That run takes a minute or two on two cores, several beside
  /// other work, and under a sanitizer ten times as long.
  static var wholeRun: Self {
    .minutes(Sanitizer.isPresent ? 15 : 8)
  }
}
