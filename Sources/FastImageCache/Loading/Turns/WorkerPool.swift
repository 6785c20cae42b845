import Dispatch
import Locking

/// Threads for work that blocks or computes, so that it never occupies Swift's cooperative pool.
///
/// A lane is a serial dispatch queue: it has a thread of its own as long as it works and none when
/// it is idle. Lanes of a concurrent queue would share the system's pool, where a few blocking
/// calls hold up everybody.
///
/// Invariants:
/// 1. `jobs` holds exactly the jobs that wait in `admission` or were handed to a lane a moment ago; who
///    takes a job out, under the lock, resumes its continuation, outside the lock, and so each is
///    resumed once.
/// 2. Running jobs and idle lanes add up to the width, so a job that is admitted finds a lane.
/// 3. When the caller of `run` goes on, its job and result are released here. What they hold, a lease
///    or a whole table, is then nobody's but the caller's.
/// 4. A job's cancellation is set before the lock is taken to withdraw it, and read under the lock
///    when it is submitted: so a cancelled job is either never submitted or withdrawn.
final class WorkerPool: Sendable {
  private struct State {
    var admission: Admission
    var jobs: [Admission.JobID: Job] = [:]
    var idleLanes: [DispatchQueue]

    mutating func launches(of started: [Admission.JobID]) -> [Launch] {
      started.map { id in
        guard let urgency = jobs[id]?.urgency, let lane = idleLanes.popLast() else {
          preconditionFailure("An admitted job has a lane and is launched once.")
        }
        return Launch(id: id, priority: urgency.priority, lane: lane)
      }
    }
  }

  private struct Job: Sendable {
    /// Does the work and gives back its result, to be delivered.
    let work: @Sendable () -> any Delivery
    /// Answers instead: with the reason, or with the caller's cancellation if there is none.
    let refuse: @Sendable (AdmissionError?) -> Void
    let urgency: Urgency
  }

  private struct Launch {
    let id: Admission.JobID
    let priority: Priority
    let lane: DispatchQueue
  }

  private let state: Lock<State>

  /// - Parameters:
  ///   - name: Names the threads in debuggers.
  ///   - width: How many jobs may run at the same time.
  ///   - byteBudget: How many bytes the jobs that run may have declared together.
  init(name: String, width: Int, byteBudget: Int = .max) {
    let lanes = (0..<width).map { DispatchQueue(label: "\(name).\($0)") }
    state = Lock(
      State(admission: Admission(width: width, byteBudget: byteBudget), idleLanes: lanes))
  }

  /// Runs `body` on a lane as soon as width and budget admit it.
  ///
  /// A task that is cancelled while its job waits leaves at once and the job never runs. Once the
  /// job runs it is told by `isCancelled` and is waited for; what it returns is returned, and
  /// whatever it throws after being cancelled reaches the caller as ``JobError/cancelled``.
  ///
  /// - Parameters:
  ///   - urgency: Orders the waiting jobs; it may change meanwhile.
  ///   - byteCount: The private memory that `body` takes at its peak.
  ///   - body: May block. `isCancelled` can be asked from any thread, at the cost of an atomic load.
  /// - Throws: ``JobError``, which tells what `body` throws from a cancellation.
  func run<Value: Sendable, Failure: Error>(
    urgency: Urgency, byteCount: Int = 0,
    _ body:
      @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value
  ) async throws(JobError<Failure>) -> Value {
    let id = state.withLock { $0.admission.makeJobID() }
    let cancellation = Cancellation()
    let observation = urgency.observe { self.move(id, urgency) }
    defer {
      urgency.endObservation(observation)
      SanitizerWitness.didResume(at: self)
    }

    let result: Result<Value, JobError<Failure>> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let job = Job(
          work: { Parcel(Self.result(of: body, cancellation), for: continuation) },
          refuse: { reason in
            continuation.resume(returning: .failure(reason.map { .refused($0) } ?? .cancelled))
          },
          urgency: urgency)
        submit(id, job, byteCount: byteCount, cancellation)
      }
    } onCancel: {
      cancellation.set()
      withdraw(id)
    }
    return try result.get()
  }

  /// Runs `body` as above, at a priority that stays as it is.
  func run<Value: Sendable, Failure: Error>(
    priority: Priority, byteCount: Int = 0,
    _ body:
      @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value
  ) async throws(JobError<Failure>) -> Value {
    try await run(urgency: Urgency(priority), byteCount: byteCount, body)
  }

  /// Jobs that wait for a lane or for memory at this moment.
  var waitingCount: Int { state.withLock { $0.admission.waitingCount } }

  private static func result<Value, Failure>(
    of body: (_ isCancelled: @escaping @Sendable () -> Bool) throws(Failure) -> Value,
    _ cancellation: Cancellation
  ) -> Result<Value, JobError<Failure>> {
    do throws(Failure) {
      return .success(try body { cancellation.isSet })
    } catch {
      return .failure(cancellation.isSet ? .cancelled : .failed(error))
    }
  }

  private func submit(
    _ id: Admission.JobID, _ job: Job, byteCount: Int, _ cancellation: Cancellation
  ) {
    let launches: [Launch]?
    do throws(AdmissionError) {
      launches = try state.withLock { state throws(AdmissionError) in
        if cancellation.isSet { return nil }
        // Read under the lock: a change either comes before and is seen here, or finds the job.
        let started = try state.admission.submit(
          id, priority: job.urgency.priority, byteCount: byteCount)
        state.jobs[id] = job
        return state.launches(of: started)
      }
    } catch {
      return job.refuse(error)
    }
    if let launches { launch(launches) } else { job.refuse(nil) }
  }

  private func move(_ id: Admission.JobID, _ urgency: Urgency) {
    launch(
      state.withLock { state in
        // Read under the lock, so that the last of several changes is the one that stays.
        state.launches(of: state.admission.move(id, to: urgency.priority))
      })
  }

  private func withdraw(_ id: Admission.JobID) {
    let (job, launches): (Job?, [Launch]) = state.withLock { state in
      guard let started = state.admission.withdraw(id) else { return (nil, []) }
      return (state.jobs.removeValue(forKey: id), state.launches(of: started))
    }
    launch(launches)
    job?.refuse(nil)
  }

  private func finish(_ launched: Launch) {
    launch(
      state.withLock { state in
        state.idleLanes.append(launched.lane)
        return state.launches(of: state.admission.finish(launched.id))
      })
  }

  private func launch(_ launches: [Launch]) {
    for next in launches {
      next.lane.async(qos: DispatchQoS(next.priority), flags: .enforceQoS) {
        let delivery = self.work(on: next.id)
        // First the room, then the result: whoever awaits it may submit again.
        self.finish(next)
        SanitizerWitness.willResume(at: self)
        delivery.deliver()
      }
    }
  }

  /// A function of its own, at whose end the job is gone.
  private func work(on id: Admission.JobID) -> any Delivery {
    guard let job = state.withLock({ $0.jobs.removeValue(forKey: id) }) else {
      preconditionFailure("A launched job is taken once.")
    }
    return job.work()
  }
}

/// Why a job has no result.
enum JobError<Failure: Error>: Error {
  /// The caller's task was cancelled.
  case cancelled
  /// The job never ran.
  case refused(AdmissionError)
  /// What the work threw.
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

private protocol Delivery: Sendable {
  /// Hands the result over, once.
  func deliver()
}

/// A result on its way: whoever is resumed with it has the only reference.
private final class Parcel<Content: Sendable>: Delivery {
  private let content: Lock<Content?>
  private let continuation: CheckedContinuation<Content, Never>

  init(_ content: Content, for continuation: CheckedContinuation<Content, Never>) {
    self.content = Lock(content)
    self.continuation = continuation
  }

  func deliver() {
    guard let content = content.withLock({ $0.take() }) else { return }
    // Moved, or it would be let go of at some time after the caller went on.
    continuation.resume(returning: consume content)
  }
}

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
