import TestSupport
import Testing

@testable import FastImageCache

@Suite("A load's patience", .timeLimit(.minutes(10)))
struct HTTPPatienceTests {
  private let start = ContinuousClock.now

  private func patience(idle: Int = 10, total: Int = 60) -> HTTPPatience {
    HTTPPatience(idleTimeout: .seconds(idle), totalTimeout: .seconds(total), now: start)
  }

  private func at(_ seconds: Int) -> HTTPPatience.Instant { start + .seconds(seconds) }

  @Test("ends when nothing arrives for the idle time, and begins anew with each sign")
  func idle() {
    var patience = patience()
    #expect(patience.exceededLimit(at(9)) == nil)
    #expect(patience.exceededLimit(at(10)) == .seconds(10))
    patience.touch(at(9))
    #expect(patience.exceededLimit(at(18)) == nil)
    #expect(patience.nextCheck(at(9)) == at(19))
    #expect(patience.exceededLimit(at(19)) == .seconds(10))
  }

  @Test("ends after the total time whatever arrives")
  func total() {
    var patience = patience()
    for second in 0..<60 {
      patience.touch(at(second))
      #expect(patience.exceededLimit(at(second)) == nil)
    }
    #expect(patience.nextCheck(at(59)) == at(60))
    #expect(patience.exceededLimit(at(60)) == .seconds(60))
  }

  @Test("counts nothing while the load waits for its turn")
  func pause() {
    var patience = patience()
    patience.pause(at(5))
    #expect(patience.exceededLimit(at(1000)) == nil)
    patience.resume(at(1000))
    #expect(patience.exceededLimit(at(1009)) == nil)
    #expect(patience.exceededLimit(at(1010)) == .seconds(10))
    patience.touch(at(1050))
    // Five seconds before the pause and 55 after it.
    #expect(patience.exceededLimit(at(1054)) == nil)
    #expect(patience.nextCheck(at(1050)) == at(1055))
    #expect(patience.exceededLimit(at(1055)) == .seconds(60))
  }

  /// Whoever sleeps until each `nextCheck` in turn notices a limit in the second in which it is over,
  /// whatever happens meanwhile.
  @Test("lets nobody sleep past a limit", arguments: 0..<500)
  func nextCheck(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    var patience = patience(
      idle: .random(in: 1...12, using: &random), total: .random(in: 1...30, using: &random))
    var check = patience.nextCheck(start)
    for second in 1...60 {
      let now = at(second)
      if patience.exceededLimit(now) != nil {
        #expect(check <= now)
        return
      }
      if now >= check { check = patience.nextCheck(now) }
      #expect(check > now)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: patience.touch(now)
      case 1: patience.pause(now)
      case 2: patience.resume(now)
      default: break
      }
    }
  }
}
