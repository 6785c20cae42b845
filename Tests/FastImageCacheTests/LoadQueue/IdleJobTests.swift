import Foundation
import Locking
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

@Suite("An idle job of a worker pool", .timeLimit(.minutes(10)))
struct IdleJobTests {
  @Test("starts only while a worker is free, its bytes fit and no other idle job runs")
  func admission() throws {
    var admission = Admission(width: 3, byteBudget: 10)
    let jobs = (0..<3).map { _ in admission.makeJobID() }
    #expect(try admission.submit(jobs[0], priority: .high, byteCount: 4) == [jobs[0]])
    #expect(admission.startIdleJob(byteCount: 7) == nil)
    let started = admission.startIdleJob(byteCount: 6)
    let idleJob = try #require(started)
    #expect(admission.startIdleJob(byteCount: 0) == nil)
    #expect(admission.idleJob == idleJob && admission.runningCount == 2)
    // A job that the idle job leaves no memory for waits for the idle job's end.
    #expect(try admission.submit(jobs[1], priority: .high, byteCount: 1) == [])
    #expect(admission.finish(idleJob) == [jobs[1]])
    #expect(admission.idleJob == nil)
    #expect(try admission.submit(jobs[2], priority: .high, byteCount: 0) == [jobs[2]])
    #expect(admission.startIdleJob(byteCount: 0) == nil)
  }

  @Test("is not admitted while a job waits, be it for memory alone")
  func waiting() throws {
    var admission = Admission(width: 3, byteBudget: 10)
    let jobs = (0..<2).map { _ in admission.makeJobID() }
    #expect(try admission.submit(jobs[0], priority: .high, byteCount: 4) == [jobs[0]])
    #expect(try admission.submit(jobs[1], priority: .low, byteCount: 10) == [])
    #expect(admission.startIdleJob(byteCount: 0) == nil)
    #expect(admission.withdraw(jobs[1]) == [])
    #expect(admission.startIdleJob(byteCount: 0) != nil)
  }

  @Test("is cancelled as soon as a job comes to wait, and not by one that finds a worker")
  func cancelled() async throws {
    let pool = WorkerPool(name: "test", width: 2)
    let (looked, doors, seen) = (Counter(), [Gate(), Gate()], Lock<[Bool]>([]))
    pool.runWhenIdle(byteCount: 0, clock: ManualClock()) { isCancelled in
      for door in doors {
        door.waitBlocking()
        seen.withLock { $0.append(isCancelled()) }
        looked.increment()
      }
    }
    let occupied = try await Occupied(pool)
    doors[0].open()
    await looked.reaches(1)
    let next = begun { try await pool.run(priority: .low) { _ in } }
    doors[1].open()
    try await next.value
    #expect(seen.withLock { $0 } == [false, true])
    try await occupied.leave()
  }

  @Test("is followed by no other for nine times as long as it has worked")
  func rest() async throws {
    let pool = WorkerPool(name: "test", width: 1)
    let clock = ManualClock()
    let worked = Lock(Duration.zero)
    pool.runWhenIdle(byteCount: 0, clock: clock) { _ in
      let start = ThreadTime.now
      while ThreadTime.now - start < .milliseconds(2) {}
      worked.withLock { $0 = ThreadTime.now - start }
    }
    try await pool.run(priority: .low) { _ in }
    clock.advance(by: worked.withLock { $0 } * 9)
    #expect(!pool.runWhenIdle(byteCount: 0, clock: clock) { _ in })
    clock.advance(by: .seconds(1000))
    #expect(pool.runWhenIdle(byteCount: 0, clock: clock) { _ in })
    try await pool.run(priority: .low) { _ in }
  }

  @Test("has let go of its closures when the next job may begin")
  func letsGo() async throws {
    final class Thing: Sendable {}
    final class Watch: TimeoutClock {
      let left = Lock<(@Sendable () -> Thing?)?>(nil)
      let seen = Lock<[Bool]>([])

      /// Asked before an idle job begins, and when both of its steps are over.
      var now: ContinuousClock.Instant {
        if let left = left.withLock({ $0 }) { seen.withLock { $0.append(left() != nil) } }
        return .now
      }
      var minimumResolution: Duration { .zero }
      func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) {}
    }
    let (pool, clock) = (WorkerPool(name: "test", width: 1), Watch())
    let door = Gate()
    func start() {
      let (work, conclusion) = (Thing(), Thing())
      weak let first = work
      weak let last = conclusion
      clock.left.withLock { $0 = { first ?? last } }
      pool.runWhenIdle(byteCount: 0, clock: clock) { _ in
        door.waitBlocking()
        withExtendedLifetime(work) {}
      } then: { _ in
        withExtendedLifetime(conclusion) {}
      }
    }
    start()
    // This thread holds the closures no more.
    door.open()
    try await pool.run(priority: .low) { _ in }
    #expect(clock.seen.withLock { $0 } == [true, false])
  }
}
