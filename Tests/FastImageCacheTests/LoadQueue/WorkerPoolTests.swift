import Dispatch
import TestSupport
import Testing

@testable import FastImageCache
@testable import LoadQueue

@Suite("A worker pool", .timeLimit(.minutes(10)))
struct WorkerPoolTests {
  private struct Fault: Error, Equatable {}

  @Test("has let go of its work and result when the caller goes on", arguments: [false, true])
  func letsGo(computes: Bool) async throws {
    final class Thing: Sendable {}
    let pool = WorkerPool(name: "test", width: 1, computes: computes)
    try await InlineExecutor.run {
      let (result, used) = try await { () async throws -> (Thing, () -> Thing?) in
        let thing = Thing()
        let work = { @Sendable (_: @escaping @Sendable () -> Bool) in
          withExtendedLifetime(thing) { Thing() }
        }
        let result = try await pool.run(priority: .medium, work)
        weak let used = thing
        return (result, { used })
      }()
      #expect(used() == nil)
      weak let left = result
      _ = consume result
      #expect(left == nil)
    }
  }

  @Test("has room again when the caller goes on", arguments: [false, true])
  func roomFirst(computes: Bool) async throws {
    let pool = WorkerPool(name: "test", width: 1, computes: computes)
    for _ in 0..<20 {
      try await InlineExecutor.run {
        try await pool.run(priority: .medium) { _ in }
        #expect(pool.counts.inside == 0)
      }
    }
  }

  @Test("leaves the cooperative pool free while its work blocks")
  func blockingWork() async throws {
    // More blocked work than the cooperative pool has threads on a usual machine.
    let width = 64
    let pool = WorkerPool(name: "test", width: width)
    let door = DispatchSemaphore(value: 0)
    let started = Counter()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<width {
        group.addTask {
          try await pool.run(priority: .medium) { _ in
            started.increment()
            door.wait()
          }
        }
      }
      await started.reaches(width)
      #expect(await Task { 1 }.value == 1)
      for _ in 0..<width { door.signal() }
      try await group.waitForAll()
    }
  }

  @Test("releases a task that is cancelled while its work waits, and never runs that work")
  func cancelledWhileWaiting() async throws {
    let pool = WorkerPool(name: "test", width: 1)
    let occupied = try await Occupied(pool)
    let waiter = begun {
      try await pool.run(priority: .medium) { _ in Issue.record("Cancelled work ran.") }
    }
    #expect(pool.counts.waiting == 1)
    waiter.cancel()
    await #expect(throws: JobError<Never>.cancelled) { try await waiter.value }
    #expect(pool.counts.waiting == 0)
    try await occupied.leave()
  }

  @Test("never runs work of a task that is cancelled already")
  func cancelledBefore() async {
    let pool = WorkerPool(name: "test", width: 1)
    let gate = Gate()
    let task = Task {
      await gate.pass()
      _ = try await pool.run(priority: .medium) { _ in Issue.record("Cancelled work ran.") }
    }
    task.cancel()
    gate.open()
    await #expect(throws: JobError<Never>.cancelled) { try await task.value }
  }

  @Test("tells running work that its task was cancelled", arguments: [false, true])
  func cancelledWhileRunning(computes: Bool) async {
    let pool = WorkerPool(name: "test", width: 1, computes: computes)
    let (started, door) = (Counter(), Gate())
    let task = Task {
      try await pool.run(priority: .medium) { isCancelled throws(Fault) in
        #expect(!isCancelled())
        started.increment()
        door.waitBlocking()
        #expect(isCancelled())
        throw Fault()
      }
    }
    await started.reaches(1)
    task.cancel()
    door.open()
    await #expect(throws: JobError<Fault>.cancelled) { try await task.value }
  }

  @Test("answers every task once when some are cancelled or moved", arguments: [false, true])
  func storm(computes: Bool) async {
    let pool = WorkerPool(name: "test", width: 2, byteBudget: 8, computes: computes)
    let ran = Counter()
    let succeeded = Counter()
    let answered = Counter()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<500 {
        group.addTask {
          let urgency = Urgency(.low)
          let task = Task {
            try await pool.run(urgency: urgency, byteCount: index % 9) { _ in ran.increment() }
          }
          if index % 3 == 0 { urgency.set(.high)?() }
          if index % 5 == 0 { task.cancel() }
          switch await task.result {
          case .success: succeeded.increment()
          case .failure(let error): #expect(error as? JobError<Never> == .cancelled)
          }
          answered.increment()
        }
      }
    }
    #expect(answered.value == 500)
    // Work that ran was answered with its value: nothing ran twice or for nobody.
    #expect(ran.value == succeeded.value)
    #expect(pool.counts.waiting == 0)
  }
}
