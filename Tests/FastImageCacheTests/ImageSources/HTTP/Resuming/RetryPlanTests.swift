import Foundation
import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A plan of retries", .timeLimit(.minutes(10)))
struct RetryPlanTests {
  private func decisions(
    _ steps: [(HTTPFailure.Remedy, Int)], _ policy: RetryPolicy = RetryPolicy(),
    fraction: Double = 1
  ) -> [RetryPlan.Decision] {
    var plan = RetryPlan(policy, byteCount: 0)
    return steps.map { plan.decide(after: $0.0, byteCount: $0.1, fraction: fraction) }
  }

  @Test("doubles a pause up to the largest one")
  func largest() {
    let steps = Array(repeating: (HTTPFailure.Remedy.again(), 0), count: 100)
    let decisions = decisions(steps, RetryPolicy(limit: 100))
    #expect(decisions[4] == .retry(after: .seconds(8)))
    #expect(decisions[5...].allSatisfy { $0 == .retry(after: .seconds(10)) })
  }

  @Test("never retries where it is told so, or where nothing would help")
  func never() {
    let much = 1 << 20
    #expect(decisions([(.again(), much)], .never) == [.fail])
    #expect(decisions([(.again(), much)], RetryPolicy(limit: -1)) == [.fail])
    #expect(decisions([(.none, much)]) == [.fail])
  }

  @Test("waits as long as the server says, up to 30 seconds, and not less than it would by itself")
  func serversDelay() {
    func first(_ delay: Duration) -> RetryPlan.Decision? {
      decisions([(.again(notBefore: delay), 0)]).first
    }
    #expect(first(.seconds(30)) == .retry(after: .seconds(30)))
    #expect(first(.seconds(31)) == .fail)
    #expect(first(.zero) == .retry(after: .milliseconds(500)))
  }

  @Test("counts no attempt that brought 64 KiB of new bytes, up to 20, nor lengthens the pause")
  func progress() {
    let steps = (1...30).map { (HTTPFailure.Remedy.again(), $0 * (64 << 10)) }
    let decisions = decisions(steps)
    #expect(decisions.count { $0 != .fail } == 22)
    #expect(decisions[..<20].allSatisfy { $0 == .goOn(after: .milliseconds(500)) })
    #expect(decisions[22...].allSatisfy { $0 == .fail })
  }

  @Test("counts an attempt that brought less, or bytes that had been there before")
  func noProgress() {
    #expect(
      decisions((1...4).map { (HTTPFailure.Remedy.again(), $0 * 65_535) }).count { $0 != .fail }
        == 2)
    // A server that knows no ranges sends the same first bytes again and again.
    let same = Array(repeating: (HTTPFailure.Remedy.again(), 1 << 20), count: 5)
    #expect(decisions(same).count { $0 != .fail } == 3)
    var resumed = RetryPlan(RetryPolicy(limit: 1), byteCount: 1 << 20)
    #expect(resumed.decide(after: .again(), byteCount: 1 << 20, fraction: 0) != .fail)
    #expect(resumed.decide(after: .again(), byteCount: 1 << 20, fraction: 0) == .fail)
    // Bytes that come again after a download began anew are not new either.
    var anew = RetryPlan(RetryPolicy(limit: 1), byteCount: 1 << 20)
    #expect(anew.decide(after: .again(), byteCount: 0, fraction: 0) == .retry(after: .zero))
    #expect(anew.decide(after: .again(), byteCount: 1 << 20, fraction: 0) == .fail)
  }

  @Test("sends again what was reset, as often as others, whatever its host can bear")
  func resets() {
    let steps = Array(repeating: (HTTPFailure.Remedy.resend, 0), count: 3)
    #expect(
      decisions(steps) == [
        .goOn(after: .milliseconds(500)), .goOn(after: .seconds(1)), .fail,
      ])
    #expect(decisions(steps, .never).first == .fail)
  }

  @Test("ends whatever happens", arguments: 0..<200)
  func ends(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    let limit = Int.random(in: 0...5, using: &random)
    var plan = RetryPlan(RetryPolicy(limit: limit), byteCount: 0)
    let remedies: [HTTPFailure.Remedy] = [.again(), .again(notBefore: .zero), .resend, .all, .rest]
    var (requestCount, byteCount) = (1, 0)
    while requestCount < 1000 {
      let remedy = remedies.randomElement(using: &random) ?? .none
      byteCount = Int.random(in: 0...(byteCount + 200_000), using: &random)
      guard plan.decide(after: remedy, byteCount: byteCount, fraction: 1) != .fail else { break }
      requestCount += 1
    }
    #expect(requestCount <= 2 + limit + RetryPlan.freeLimit)
  }
}

@Suite("The retries of a source", .timeLimit(.minutes(10)))
struct RetryBudgetTests {
  private func host(_ text: String) throws -> HTTPHost { HTTPHost(try #require(URL(string: text))) }

  @Test("are ten for each host, and one more for each ten loads")
  func budget() throws {
    var budget = RetryBudget()
    let (host, other) = (try host("https://a.example/"), try host("https://b.example/"))
    func taken() -> Int {
      var count = 0
      while count < 100, budget.takeRetry(host) { count += 1 }
      return count
    }
    budget.begin(host)
    #expect(taken() == 10)
    for _ in 0..<8 { budget.begin(host) }
    #expect(taken() == 0)
    for _ in 0..<21 { budget.begin(host) }
    #expect(taken() == 3)
    let isOtherFree = budget.takeRetry(other)
    #expect(isOtherFree)
  }

  @Test("are counted for no more than a thousand hosts at a time")
  func forgets() throws {
    var budget = RetryBudget()
    for number in 0..<2500 {
      budget.begin(try host("https://\(number).example/"))
      #expect(budget.hostCount <= 1000)
    }
  }
}
