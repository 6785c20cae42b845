import Dispatch
import Locking

/// Threads for work that blocks or computes, so that it never occupies Swift's cooperative pool.
///
/// A worker is a serial dispatch queue: it has a thread of its own as long as it works and none when
/// it is idle. The jobs of a concurrent queue would share the system's pool, where a few blocking
/// calls hold up all other tasks. On Linux a priority only orders the waiting jobs: lower thread
/// priorities would take threads of the pool's own, since libdispatch lends its threads to Swift's
/// pool too.
///
/// Invariants:
/// 1. A worker is idle again before its job is finished in `queue`. So there are always enough idle
///    workers for the jobs that `queue` admits.
/// 2. An admitted job starts on the thread that admitted it, without a turn of the cooperative pool.
///    So no worker stays idle while a job waits.
/// 3. When the caller of `run` goes on with a result, the job and the result are released here. Then
///    only the caller keeps a lease, or a whole table, that they held.
/// 4. After a guest that took some processor time no other begins until that time is ``guestLoad`` of the
///    time that has passed since the guest ended, whoever's they are.
final class WorkerPool: Sendable {
  typealias Job<Value, Failure: Error> =
    @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value

  /// The number of bytes that running jobs may have declared together.
  let byteBudget: Int
  private let queue: AdmissionQueue
  private let idleWorkers: Lock<[DispatchQueue]>
  /// The part of one core that all guests may take together.
  private let guestLoad: Double
  /// When the next guest may begin.
  private let guestsRestUntil = Lock<ContinuousClock.Instant?>(nil)

  /// - Parameters:
  ///   - name: Names the threads in debuggers.
  ///   - width: How many jobs may run at the same time.
  ///   - byteBudget: How many bytes the jobs that run may have declared together.
  ///   - guestLoad: The part of one core that guests may take, from 0, for none, to 1.
  init(name: String, width: Int, byteBudget: Int = .max, guestLoad: Double = 0.1) {
    self.byteBudget = byteBudget
    self.guestLoad = min(guestLoad, 1)
    queue = AdmissionQueue(width: width, byteBudget: byteBudget)
    idleWorkers = Lock((0..<width).map { DispatchQueue(label: "\(name).\($0)") })
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
  ///   - finish: Makes the value of what `body` returned, on the same worker. The job's bytes are given
  ///     back before, so `finish` may wait without keeping memory from other jobs.
  /// - Throws: ``JobError``, which tells errors of `body` from a cancellation.
  func run<Work: Sendable, Value: Sendable, Failure: Error>(
    urgency: Urgency, byteCount: Int = 0, _ body: @escaping Job<Work, Failure>,
    then finish: @escaping @Sendable (Work) -> Value
  ) async throws(JobError<Failure>) -> Value {
    defer { SanitizerWitness.didResume(at: self) }
    let result: Result<Value, JobError<Failure>> = await queue.enter(
      urgency, byteCount: byteCount
    ) { continuation, cancellation in
      // Emptied by the worker: the reply stays for a moment with the thread that gives the answer.
      let job = Lock<TwoSteps<Work, Value, Failure>?>(TwoSteps(body: body, finish: finish))
      return { answer in
        switch answer {
        case .admitted(let id):
          self.start(job, id, urgency.priority, cancellation, for: continuation)
        case .refused(let error): continuation.resume(returning: .failure(.refused(error)))
        case .cancelled: continuation.resume(returning: .failure(.cancelled))
        }
      }
    }
    return try result.get()
  }

  /// Runs `body` as above, which is the whole job.
  func run<Value: Sendable, Failure: Error>(
    urgency: Urgency, byteCount: Int = 0, _ body: @escaping Job<Value, Failure>
  ) async throws(JobError<Failure>) -> Value {
    try await run(urgency: urgency, byteCount: byteCount, body) { $0 }
  }

  /// Runs `body` as above, at a priority that stays as it is.
  func run<Value: Sendable, Failure: Error>(
    priority: Priority, byteCount: Int = 0, _ body: @escaping Job<Value, Failure>
  ) async throws(JobError<Failure>) -> Value {
    try await run(urgency: Urgency(priority), byteCount: byteCount, body)
  }

  /// Runs `body` on a worker that nobody needs, at once or not at all, and returns without waiting for it.
  ///
  /// - Parameters:
  ///   - clock: Tells how long no other guest begins afterwards.
  ///   - body: Its `isCancelled` is true as soon as another job comes to wait. It should end soon then.
  /// - Returns: Whether the job runs.
  @discardableResult
  func runAsGuest(
    byteCount: Int, clock: any PatienceClock,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) -> Void
  ) -> Bool {
    guard mayBeginGuest(at: clock.now),
      let (id, cancellation) = queue.enterAsGuest(byteCount: byteCount)
    else { return false }
    guard let worker = idleWorkers.withLock({ $0.popLast() }) else {
      preconditionFailure("An admitted job finds an idle worker.")
    }
    let load = guestLoad
    worker.async(qos: DispatchQoS(.low), flags: .enforceQoS) {
      let start = ThreadTime.now
      body { cancellation.isSet }
      let rest = (ThreadTime.now - start) * (1 / load - 1)
      self.guestsRestUntil.withLock { $0 = clock.now.advanced(by: rest) }
      self.idleWorkers.withLock { $0.append(worker) }
      self.queue.finish(id)
    }
    return true
  }

  /// Whether guests have rested for long enough; the workers may be busy all the same.
  func mayBeginGuest(at now: ContinuousClock.Instant) -> Bool {
    guestLoad > 0 && guestsRestUntil.withLock { $0.map { $0 <= now } ?? true }
  }

  /// Jobs that wait for a worker or for memory at this moment, and jobs that have a worker.
  var counts: (waiting: Int, inside: Int) { queue.counts }

  private struct TwoSteps<Work, Value, Failure: Error>: Sendable {
    let body: Job<Work, Failure>
    let finish: @Sendable (Work) -> Value
  }

  private func start<Work, Value: Sendable, Failure>(
    _ job: Lock<TwoSteps<Work, Value, Failure>?>, _ id: Admission.JobID, _ priority: Priority,
    _ cancellation: Cancellation,
    for continuation: CheckedContinuation<Result<Value, JobError<Failure>>, Never>
  ) {
    guard let worker = idleWorkers.withLock({ $0.popLast() }) else {
      preconditionFailure("An admitted job finds an idle worker.")
    }
    worker.async(qos: DispatchQoS(priority), flags: .enforceQoS) {
      let result = Self.result(of: job, cancellation) { self.queue.release(id) }
      // First the room, then the result: the caller may submit again at once.
      self.idleWorkers.withLock { $0.append(worker) }
      self.queue.finish(id)
      SanitizerWitness.willResume(at: self)
      // Moved, or it would be released at some time after the caller went on.
      continuation.resume(returning: consume result)
    }
  }

  /// A function of its own, at whose end the job is gone.
  private static func result<Work, Value, Failure>(
    of job: Lock<TwoSteps<Work, Value, Failure>?>, _ cancellation: Cancellation,
    between: () -> Void
  ) -> Result<Value, JobError<Failure>> {
    guard let job = job.withLock({ $0.take() }) else {
      preconditionFailure("A job is started once.")
    }
    do throws(Failure) {
      let work = try job.body { cancellation.isSet }
      between()
      return .success(job.finish(work))
    } catch {
      return .failure(cancellation.isSet ? .cancelled : .failed(error))
    }
  }
}

/// Why a job has no result.
enum JobError<Failure: Error>: Error {
  /// The caller's task was cancelled.
  case cancelled
  /// The job never ran.
  case refused(AdmissionError)
  /// The work threw.
  case failed(Failure)

  /// For callers that throw anything.
  var reason: any Error {
    switch self {
    case .cancelled: CancellationError()
    case .refused(let error): error
    case .failed(let error): error
    }
  }
}

extension JobError: Equatable where Failure: Equatable {}

extension DispatchQoS {
  fileprivate init(_ priority: Priority) {
    switch priority {
    case .high...: self = .userInitiated
    case .medium...: self = .default
    case .low...: self = .utility
    default: self = .background
    }
  }
}
