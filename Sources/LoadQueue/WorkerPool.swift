import Foundation
import Locking

/// Threads for work that blocks or computes, so that it never occupies Swift's cooperative pool.
///
/// Jobs that compute leave the processor to other threads where both want it: on Linux their first step runs on
/// nicer threads ([0031](../../../../Docs/Decisions/0031-computing-on-nicer-threads.md)).
///
/// Invariants:
/// 1. A worker is idle again before its job is finished in `queue`. So there are always enough idle
///    workers for the jobs that `queue` admits.
/// 2. An admitted job starts on the thread that admitted it, without a turn of the cooperative pool.
///    So no worker stays idle while a job waits.
/// 3. When the caller of `run` goes on with a result, the job and the result are released here. Then
///    only the caller keeps a lease, or a whole table, that they held.
/// 4. After an idle job that took some processor time no other begins until that time is ``idleLoad`` of the
///    time that has passed since the idle job ended, whoever's they are.
/// 5. A job is admitted, and so a thread begun, on normal threads only.
package final class WorkerPool: Sendable {
  package typealias Job<Value, Failure: Error> =
    @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value

  /// The number of bytes that running jobs may have declared together.
  package let byteBudget: Int
  private let queue: AdmissionQueue
  private let idleWorkers: Lock<[Worker]>
  /// The part of one core that all idle jobs may take together.
  private let idleLoad: Double
  /// When the next idle job may begin.
  private let idleJobsRestUntil = Lock<ContinuousClock.Instant?>(nil)

  /// - Parameters:
  ///   - name: Names the threads in debuggers.
  ///   - width: How many jobs may run at the same time.
  ///   - byteBudget: How many bytes the jobs that run may have declared together.
  ///   - computes: Whether jobs take the processor in their first step, rather than wait.
  ///   - idleLoad: The part of one core that idle jobs may take, from 0, for none, to 1.
  package init(
    name: String, width: Int, byteBudget: Int = .max, computes: Bool = false,
    idleLoad: Double = 0.1
  ) {
    self.byteBudget = byteBudget
    self.idleLoad = min(idleLoad, 1)
    queue = AdmissionQueue(width: width, byteBudget: byteBudget)
    idleWorkers = Lock((0..<width).map { Worker(name: "\(name) \($0)", computes: computes) })
  }

  /// Runs `body` on a worker as soon as width and budget admit it.
  ///
  /// A task that is cancelled while its job waits goes on at once, and the job never runs. A running
  /// job learns of the cancellation from `isCancelled` and is waited for: its value is returned, and
  /// any error that it throws then reaches the caller as ``JobError/cancelled``.
  ///
  /// - Parameters:
  ///   - urgency: Orders the waiting jobs; it may change meanwhile.
  ///   - byteCount: The private memory that `body` takes at its peak.
  ///   - body: May block. `isCancelled` can be asked from any thread, at the cost of an atomic load.
  ///   - finish: Makes the value of what `body` returned, on the same worker, but perhaps on another thread
  ///     of it. The job's bytes are given back before, so `finish` may wait without keeping memory from
  ///     other jobs.
  /// - Throws: ``JobError``, which tells errors of `body` from a cancellation.
  package func run<Work: Sendable, Value: Sendable, Failure: Error>(
    urgency: Urgency, byteCount: Int = 0, _ body: @escaping Job<Work, Failure>,
    then finish: @escaping @Sendable (Work) -> Value
  ) async throws(JobError<Failure>) -> Value {
    defer { SanitizerWitness.didResume() }
    let result: Result<Value, JobError<Failure>> = await queue.enter(
      urgency, byteCount: byteCount
    ) { continuation, isCancelled in
      let job = AwaitedJob(in: self, isCancelled, body, then: finish, for: continuation)
      return { answer in
        switch answer {
        case .admitted(let id, let priority): self.start(job, id, priority)
        case .refused(let error): job.refuse(.refused(error))
        case .cancelled: job.refuse(.cancelled)
        }
      }
    }
    return try result.get()
  }

  /// Runs `body` as above, which is the whole job.
  package func run<Value: Sendable, Failure: Error>(
    urgency: Urgency, byteCount: Int = 0, _ body: @escaping Job<Value, Failure>
  ) async throws(JobError<Failure>) -> Value {
    try await run(urgency: urgency, byteCount: byteCount, body) { $0 }
  }

  /// Runs `body` as above, at a priority that stays as it is.
  package func run<Value: Sendable, Failure: Error>(
    priority: Priority, byteCount: Int = 0, _ body: @escaping Job<Value, Failure>
  ) async throws(JobError<Failure>) -> Value {
    try await run(urgency: Urgency(priority), byteCount: byteCount, body)
  }

  /// Runs `body` on a worker that nobody needs, at once or not at all, and returns without waiting for it.
  ///
  /// - Parameters:
  ///   - clock: Tells how long no other idle job begins afterwards.
  ///   - body: Its `isCancelled` is true as soon as another job comes to wait. It should end soon then.
  ///   - finish: Takes what `body` returned, as in ``run(urgency:byteCount:_:then:)``.
  /// - Returns: Whether the job runs.
  @discardableResult
  package func runWhenIdle<Work: Sendable>(
    byteCount: Int, clock: any TimeoutClock,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Work,
    then finish: @escaping @Sendable (Work) -> Void = { _ in }
  ) -> Bool {
    guard mayBeginIdleJob(at: clock.now),
      let (id, cancellation) = queue.enterWhenIdle(byteCount: byteCount)
    else { return false }
    start(IdleJob(in: self, cancellation, clock, body, then: finish), id, .low)
    return true
  }

  /// Whether idle jobs have rested for long enough; the workers may be busy all the same.
  package func mayBeginIdleJob(at now: ContinuousClock.Instant) -> Bool {
    idleLoad > 0 && idleJobsRestUntil.withLock { $0.map { $0 <= now } ?? true }
  }

  /// Jobs that wait for a worker or for memory at this moment, and jobs that have a worker.
  package var counts: (waiting: Int, inside: Int) { queue.counts }

  private func start(_ job: any WorkerJob, _ id: Admission.JobID, _ priority: Priority) {
    guard let worker = idleWorkers.withLock({ $0.popLast() }) else {
      preconditionFailure("An admitted job finds an idle worker.")
    }
    worker.start(WorkerTask(job: job, id: id, priority: priority, worker: worker))
  }

  // MARK: For jobs

  /// A job has no more need of its bytes.
  fileprivate func release(_ task: WorkerTask) { queue.release(task.id) }

  /// A job has nothing left to do but to answer.
  fileprivate func end(_ task: WorkerTask) {
    idleWorkers.withLock { $0.append(task.worker) }
    queue.finish(task.id)
  }

  /// An idle job took so much of the processor.
  fileprivate func restIdleJobs(after worked: Duration, _ clock: any TimeoutClock) {
    let rest = worked * (1 / idleLoad - 1)
    idleJobsRestUntil.withLock { $0 = clock.now.advanced(by: rest) }
  }
}

/// Why a job has no result.
package enum JobError<Failure: Error>: Error {
  /// The caller's task was cancelled.
  case cancelled
  /// The job never ran.
  case refused(AdmissionError)
  /// The work threw.
  case failed(Failure)

  /// For callers that throw anything.
  package var reason: any Error {
    switch self {
    case .cancelled: CancellationError()
    case .refused(let error): error
    case .failed(let error): error
    }
  }
}

extension JobError: Equatable where Failure: Equatable {}

/// One job of a ``WorkerPool``, in two steps that one thread or two threads run one after the other.
protocol WorkerJob: AnyObject, Sendable {
  /// Runs on a thread that is nicer than others on Linux. Nothing in here resumes a task or begins a thread: a
  /// thread that is begun by a nicer one is as nice, for good, and libdispatch and Swift's pool begin
  /// theirs on the thread that needs them. Nor does anything take a lock of other loads, but for those around
  /// memory: that is for ``Worker/beforeFinish(_:)``.
  func compute()

  /// Runs on a normal thread, which may block.
  func finish(_ task: WorkerTask)
}

/// A job that was admitted, and its worker.
struct WorkerTask: Sendable {
  let job: any WorkerJob
  let id: Admission.JobID
  let priority: Priority
  let worker: Worker
}

/// A job for which a task waits.
private final class AwaitedJob<Work: Sendable, Value: Sendable, Failure: Error>: WorkerJob {
  typealias Answer = Result<Value, JobError<Failure>>
  typealias Finish = @Sendable (Work) -> Value

  private enum Step: Sendable {
    case computing(WorkerPool.Job<Work, Failure>, then: Finish)
    case finishing(Work, Finish)
    case failing(JobError<Failure>)
  }

  private let pool: WorkerPool
  private let isCancelled: @Sendable () -> Bool
  private let continuation: UnsafeContinuation<Answer, Never>
  /// Emptied by each step: the reply of the pool's queue keeps the job for a moment longer.
  private let step: Lock<Step?>

  init(
    in pool: WorkerPool, _ isCancelled: @escaping @Sendable () -> Bool,
    _ body: @escaping WorkerPool.Job<Work, Failure>, then finish: @escaping Finish,
    for continuation: UnsafeContinuation<Answer, Never>
  ) {
    (self.pool, self.isCancelled, self.continuation) = (pool, isCancelled, continuation)
    step = Lock(.computing(body, then: finish))
  }

  func compute() {
    guard case .computing(let body, let finish)? = step.withLock({ $0.take() }) else {
      preconditionFailure("A job is started once.")
    }
    let next: Step
    do throws(Failure) {
      next = .finishing(try body(isCancelled), finish)
    } catch {
      next = .failing(isCancelled() ? .cancelled : .failed(error))
    }
    step.withLock { $0 = next }
  }

  func finish(_ task: WorkerTask) {
    let answer = makeAnswer(task)
    // First the room, then the result: the caller may submit again at once.
    pool.end(task)
    // Moved, or it would be released at some time after the caller went on.
    continuation.resume(returning: consume answer)
  }

  /// Ends a job that never runs.
  func refuse(_ error: JobError<Failure>) {
    _ = step.withLock { $0.take() }
    continuation.resume(returning: .failure(error))
  }

  /// A function of its own, at whose end the job is gone.
  private func makeAnswer(_ task: WorkerTask) -> Answer {
    switch step.withLock({ $0.take() }) {
    case .finishing(let work, let finish)?:
      pool.release(task)
      return .success(finish(work))
    case .failing(let error)?: return .failure(error)
    default: preconditionFailure("A job is finished once, after its computing.")
    }
  }
}

/// A job that nothing waits for.
private final class IdleJob<Work: Sendable>: WorkerJob {
  typealias Body = @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Work
  typealias Conclusion = @Sendable (Work) -> Void

  private enum Step: Sendable {
    case computing(Body, then: Conclusion)
    /// With the body, which may hold the last reference to an entity or a table: they end on a normal thread.
    case finishing(Work, of: Body, took: Duration, then: Conclusion)
  }

  private let pool: WorkerPool
  private let cancellation: Cancellation
  private let clock: any TimeoutClock
  /// Emptied by each step: nothing of the idle job is left when its worker takes the next job.
  private let step: Lock<Step?>

  init(
    in pool: WorkerPool, _ cancellation: Cancellation, _ clock: any TimeoutClock,
    _ body: @escaping Body, then conclude: @escaping Conclusion
  ) {
    (self.pool, self.cancellation, self.clock) = (pool, cancellation, clock)
    step = Lock(.computing(body, then: conclude))
  }

  func compute() {
    guard case .computing(let body, let conclude)? = step.withLock({ $0.take() }) else {
      preconditionFailure("An idle job is started once.")
    }
    let start = ThreadTime.now
    let work = body { [cancellation] in cancellation.isSet }
    let took = ThreadTime.now - start
    step.withLock { $0 = .finishing(work, of: body, took: took, then: conclude) }
  }

  func finish(_ task: WorkerTask) {
    pool.restIdleJobs(after: concluded(), clock)
    pool.end(task)
  }

  /// - Returns: The processor time of both steps.
  private func concluded() -> Duration {
    guard case .finishing(let work, _, let took, let conclude)? = step.withLock({ $0.take() })
    else {
      preconditionFailure("An idle job is finished once, after its computing.")
    }
    let start = ThreadTime.now
    conclude(work)
    return took + (ThreadTime.now - start)
  }
}

/// The time that the processor has worked for the calling thread.
package enum ThreadTime {
  /// Comparable on one thread only.
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
  }
}

/// The clock of time limits: the system's, or one that a test moves by hand.
package protocol TimeoutClock: Clock<Duration> where Instant == ContinuousClock.Instant {}

extension ContinuousClock: TimeoutClock {}
