import Foundation
import Locking

/// What the thread and the address sanitizer change for tests that take long.
public enum Sanitizer {
  public static let isPresent = ["__tsan_init", "__asan_init"].contains { (name: String) in
    dlsym(LinkedSymbols.everywhere, name) != nil
  }

  /// From call to call of a sweep over all of them. The plain build sweeps each call; a sanitizer, which
  /// looks at how they are made and not at when they fail, sees the same code at a few.
  public static let sweepStep = isPresent ? 7 : 1
}
