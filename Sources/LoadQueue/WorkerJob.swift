import Locking

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
final class AwaitedJob<Work: Sendable, Value: Sendable, Failure: Error>: WorkerJob {
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
    SanitizerWitness.willResume(at: pool)
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
final class IdleJob<Work: Sendable>: WorkerJob {
  typealias Body = @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Work
  typealias Conclusion = @Sendable (Work) -> Void

  private enum Step: Sendable {
    case computing(Body, then: Conclusion)
    /// With the body, which may hold the last reference to an entity or a table: they end on a normal thread.
    case finishing(Work, of: Body, took: Duration, then: Conclusion)
  }

  private let pool: WorkerPool
  private let cancellation: Cancellation
  private let clock: any PatienceClock
  /// Emptied by each step: nothing of the idle job is left when its worker takes the next job.
  private let step: Lock<Step?>

  init(
    in pool: WorkerPool, _ cancellation: Cancellation, _ clock: any PatienceClock,
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
