import Testing

@testable import ImageViewing

@Suite("The time for verifying on the main thread")
struct VerificationBudgetTests {
  private let start = ContinuousClock.now
  private var budget = VerificationBudget()

  private mutating func allows(after time: Duration, isInMemory: Bool = true) -> Bool {
    budget.allows(at: start + time, isInMemory: isInMemory)
  }

  @Test mutating func theFirstFrameHasNoLimit() {
    #expect(budget.isFresh)
    for _ in 0..<20 {
      #expect(allows(after: .zero, isInMemory: false))
      budget.note(.milliseconds(5))
    }
    #expect(!budget.isFresh)
    // However long its layout takes.
    #expect(allows(after: .seconds(1)))
    budget.firstFrameIsShown()
    #expect(!allows(after: .seconds(1)))
  }

  @Test mutating func theFirstFrameLastsAMoment() {
    #expect(allows(after: .zero))
    budget.firstFrameIsShown()
    budget.note(.milliseconds(5))
    #expect(allows(after: VerificationBudget.launch - .milliseconds(1)))
    #expect(!allows(after: VerificationBudget.launch))
  }

  @Test mutating func laterFramesVerifyForAMillisecond() {
    #expect(allows(after: .zero))
    budget.firstFrameIsShown()
    for frame in 1...3 {
      let now = Duration.seconds(frame)
      for _ in 0..<4 {
        #expect(allows(after: now))
        budget.note(.microseconds(250))
      }
      // The next one would end beyond the limit.
      #expect(!allows(after: now))
      #expect(!allows(after: now + VerificationBudget.frame - .nanoseconds(1)))
    }
  }

  @Test mutating func whatWaitsForTheDiskIsNotVerifiedThere() {
    #expect(allows(after: .zero))
    budget.firstFrameIsShown()
    #expect(!allows(after: .seconds(1), isInMemory: false))
    #expect(allows(after: .seconds(1)))
  }

  /// One that the system had interrupted says little about the next.
  @Test mutating func aSlowImageIsForgotten() {
    #expect(allows(after: .zero))
    budget.firstFrameIsShown()
    budget.note(.milliseconds(4))
    #expect(!allows(after: .seconds(1)))
    #expect(allows(after: .seconds(2)))
  }
}
