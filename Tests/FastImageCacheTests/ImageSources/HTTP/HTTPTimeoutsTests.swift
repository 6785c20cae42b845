import TestSupport
import Testing

@testable import FastImageCache
@testable import ImageSources

@Suite("A load's timeouts", .timeLimit(.minutes(10)))
struct HTTPTimeoutsTests {
  private let start = ContinuousClock.now

  private func patience(idle: Int = 10, total: Int? = 60, rate: Int = 0) -> HTTPTimeouts {
    var options = HTTPOptions()
    options.idleTimeout = .seconds(idle)
    options.totalTimeout = total.map { .seconds($0) }
    options.lowestByteRate = rate
    return HTTPTimeouts(options, now: start)
  }

  private func at(_ seconds: Int) -> HTTPTimeouts.Instant { start + .seconds(seconds) }

  @Test("counts nothing while the load waits for its turn")
  func pause() {
    var patience = patience()
    patience.pause(at(5))
    #expect(patience.exceededLimit(at(1000)) == nil)
    patience.resume(at(1000))
    #expect(patience.exceededLimit(at(1009)) == nil)
    #expect(patience.exceededLimit(at(1010)) == .idle(.seconds(10)))
    patience.touch(at(1050))
    // Five seconds before the pause and 55 after it.
    #expect(patience.exceededLimit(at(1054)) == nil)
    #expect(patience.nextCheck(at(1050)) == at(1055))
    #expect(patience.exceededLimit(at(1055)) == .total(.seconds(60)))
  }

  @Test("judges no span by its rate in which nothing came, nor one before a pause")
  func silence() {
    var patience = patience(idle: 100, total: nil, rate: 100)
    #expect(patience.exceededLimit(at(99)) == nil)
    patience.touch(at(99), byteCount: 1)
    patience.pause(at(100))
    #expect(patience.exceededLimit(at(1000)) == nil)
    patience.resume(at(1000))
    #expect(patience.exceededLimit(at(1050)) == nil)
    patience.touch(at(1050), byteCount: 1)
    #expect(patience.exceededLimit(at(1079)) == nil)
    #expect(patience.exceededLimit(at(1080)) == .rate(.seconds(30)))
  }

  /// Whoever sleeps until each `nextCheck` in turn notices a limit in the second in which it is over,
  /// whatever happens meanwhile.
  @Test("lets nobody sleep past a limit", arguments: 0..<500)
  func nextCheck(_ seed: UInt64) {
    var random = SplitMix64(state: seed)
    var patience = patience(
      idle: .random(in: 1...50, using: &random), total: .random(in: 1...90, using: &random),
      rate: Bool.random(using: &random) ? 1 : 0)
    var check = patience.nextCheck(start)
    for second in 1...120 {
      let now = at(second)
      if patience.exceededLimit(now) != nil {
        #expect(check <= now)
        return
      }
      if now >= check { check = patience.nextCheck(now) }
      #expect(check > now)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: patience.touch(now)
      case 3: patience.touch(now, byteCount: .random(in: 0...4, using: &random))
      case 1: patience.pause(now)
      case 2: patience.resume(now)
      default: break
      }
    }
  }
}
