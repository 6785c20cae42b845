import Testing

@testable import FastImageCache

@Suite("A plan of previews", .timeLimit(.minutes(10)))
struct PreviewPlanTests {
  private let start = ContinuousClock.now

  private func plan(
    total: Int? = 1000, isResumed: Bool = false, lookedAfter milliseconds: Int = 0,
    byteCount: Int = 0
  ) -> PreviewPlan {
    PreviewPlan(
      total: total, isResumed: isResumed, fetchStart: start, byteCount: byteCount,
      now: after(milliseconds))
  }

  private func after(_ milliseconds: Int) -> ContinuousClock.Instant {
    start.advanced(by: .milliseconds(milliseconds))
  }

  private func draws(_ plan: PreviewPlan, _ byteCount: Int, at milliseconds: Int) -> Bool {
    plan.kind(of: [.frame], byteCount: byteCount, now: after(milliseconds)) != nil
  }

  @Test("draws none where the rest is due in 200 milliseconds at the rate so far")
  func due() {
    // A byte each millisecond.
    #expect(draws(plan(total: 1201), 1000, at: 1000))
    #expect(!draws(plan(total: 1200), 1000, at: 1000))
    #expect(!draws(plan(total: 1000), 1000, at: 1000))
    // The rate is that of the bytes that were seen to come.
    #expect(draws(plan(total: 1200, lookedAfter: 800, byteCount: 900), 1000, at: 1000))
    #expect(!draws(plan(total: 1100, lookedAfter: 800, byteCount: 900), 1000, at: 1000))
  }

  @Test("knows no rate before bytes have come in some time, and no rest without a length")
  func unknown() {
    #expect(draws(plan(lookedAfter: 500, byteCount: 900), 900, at: 500))
    #expect(draws(plan(lookedAfter: 500, byteCount: 900), 900, at: 900))
    #expect(draws(plan(lookedAfter: 500, byteCount: 900), 950, at: 500))
    #expect(draws(plan(total: nil), 1000, at: 1000))
  }
}
