/// Stops trying after failures in a row, for a number of attempts instead of a time: a test needs
/// no clock, and a program that stores nothing waits for nothing.
struct BackOff {
  private static let tolerated = 3
  private static let firstPause = 16
  private static let longestPause = 1024

  private var failures = 0
  private var pause = Self.firstPause
  private var attemptsLeft = 0

  /// Throws `paused` while attempts are to be refused.
  mutating func admit() throws(TableError) {
    guard attemptsLeft == 0 else {
      attemptsLeft -= 1
      throw .paused(attemptsLeft: attemptsLeft)
    }
  }

  mutating func succeed() { self = BackOff() }

  mutating func fail() {
    failures += 1
    guard failures >= Self.tolerated else { return }
    attemptsLeft = pause
    pause = min(pause * 2, Self.longestPause)
  }
}
