import Locking
import Synchronization

/// A limiter of jobs by number and bytes: callers wait until an ``Admission`` lets their jobs start, the most urgent
/// first.
///
/// Invariants:
/// 1. `waiting` holds exactly the jobs that wait in `admission`, by the indices of their ids. Each thread takes jobs
///    out under the lock and answers them outside it, so each job is answered once.
/// 2. A caller's cancellation is noted before the lock is taken to withdraw the job, and read under
///    the lock when the job is submitted. So a cancelled job is withdrawn, and perhaps never submitted.
/// 3. A job's priority is read under the lock. So the last of several changes stays, in any order of
///    their observers.
/// 4. The caller finishes each admitted job exactly once, with ``finish(_:)``.
/// 5. An idle job is cancelled in the step in which another job comes to wait.
package final class AdmissionQueue: Sendable {
  package typealias JobID = Admission.JobID

  enum Answer: Sendable {
    /// With the priority that decided.
    case admitted(JobID, Priority)
    case refused(AdmissionError)
    /// The caller's task was cancelled before the job was admitted.
    case cancelled
  }

  /// Takes a job's answer, outside the lock and on any thread.
  typealias Reply = @Sendable (Answer) -> Void

  /// A job's reply. Bare closures would be wrapped anew, in memory of their own, each time that a
  /// collection takes or gives one.
  private struct Job {
    let reply: Reply

    func answered(_ answer: Answer) -> Answered { Answered(reply: reply, answer: answer) }
  }

  private struct Answered {
    let reply: Reply
    let answer: Answer
  }

  /// The place of one job: the flag of its cancellation, and the way to both ends of its wait.
  final class Place: Sendable {
    fileprivate let id: JobID
    fileprivate let isCancelled = Atomic(false)
    fileprivate let urgency: Urgency
    private let queue: AdmissionQueue

    fileprivate init(_ id: JobID, _ urgency: Urgency, in queue: AdmissionQueue) {
      (self.id, self.urgency, self.queue) = (id, urgency, queue)
    }

    /// Queues the job, once.
    ///
    /// - Parameters:
    ///   - byteCount: The job's part of the budget.
    ///   - reply: Has the answer if the job waits for it.
    /// - Returns: The answer if it is there at once.
    func enter(byteCount: Int = 0, reply: @escaping Reply) -> Answer? {
      queue.submit(self, byteCount, reply)
    }

    /// To be called after each change of the urgency.
    func followUrgency() {
      queue.apply { $0.admitted($0.admission.move(id, to: urgency.priority)) }
    }

    /// Withdraws a job that waits, or is not queued yet; harmless for any other.
    func cancel() {
      isCancelled.store(true, ordering: .releasing)
      queue.withdraw(id)
    }
  }

  private struct State {
    var admission: Admission
    var waiting: [Job?] = []
    /// Of the running idle job, or of one that has finished.
    var idleJobCancellation: Cancellation?

    mutating func wait(_ job: Job, as id: JobID) {
      while waiting.count <= id.index { waiting.append(nil) }
      waiting[id.index] = job
    }

    mutating func admitted(_ ids: [JobID]) -> [Answered] {
      var answers: [Answered] = []
      for id in ids {
        guard let job = waiting[id.index].take() else {
          preconditionFailure("A job that is admitted has waited.")
        }
        answers.append(job.answered(.admitted(id, admission.running(id).priority)))
      }
      return answers
    }
  }

  private let state: Lock<State>

  /// - Parameters:
  ///   - width: How many jobs run at the same time.
  ///   - byteBudget: How many bytes they have together.
  ///   - reservesPlace: Whether one place of several is not for jobs below medium priority.
  package init(width: Int, byteBudget: Int = .max, reservesPlace: Bool = false) {
    state = Lock(
      State(
        admission: Admission(
          width: width, byteBudget: byteBudget, reservesPlace: reservesPlace)))
  }

  /// Jobs that wait at this moment, and jobs that were admitted and have not finished.
  package var counts: (waiting: Int, inside: Int) {
    state.withLock { ($0.admission.waitingCount, $0.admission.runningCount) }
  }

  /// Queues a job, which is answered in the order of urgency, and waits for the value of its reply.
  ///
  /// - Parameters:
  ///   - urgency: Orders the waiting jobs; it may change meanwhile.
  ///   - byteCount: The job's part of the budget.
  ///   - willWait: Called if the job is not answered at once.
  ///   - makeReply: Makes the job's reply, which resumes the continuation once, then or later. The reply may
  ///     outlive that moment on another thread. The other argument tells whether the caller's task was
  ///     cancelled.
  func enter<Value: Sendable>(
    _ urgency: Urgency, byteCount: Int = 0, willWait: () -> Void = {},
    reply makeReply: (UnsafeContinuation<Value, Never>, @escaping @Sendable () -> Bool) -> Reply
  ) async -> Value {
    let place = makePlace(urgency)
    // A closure around one object, here and below, takes no memory of its own.
    let observation = urgency.observe { place.followUrgency() }
    defer { urgency.endObservation(observation) }
    return await withTaskCancellationHandler {
      // Unchecked, for a check takes memory at each limiter: a job is answered once, by invariant 1.
      await withUnsafeContinuation { continuation in
        let reply = makeReply(continuation) { place.isCancelled.load(ordering: .acquiring) }
        if let answer = place.enter(byteCount: byteCount, reply: reply) {
          reply(answer)
        } else {
          willWait()
        }
      }
    } onCancel: {
      place.cancel()
    }
  }

  /// Waits until a job without bytes is admitted, the most urgent first; the caller ends the job with ``finish(_:)``.
  ///
  /// - Parameter willWait: Called if the job is not admitted at once.
  /// - Throws: `CancellationError` when the task is cancelled while it waits.
  package func enter(_ urgency: Urgency, willWait: () -> Void = {}) async throws -> JobID {
    let answer = await enter(urgency, willWait: willWait) { continuation, _ in
      { continuation.resume(returning: $0) }
    }
    guard case .admitted(let id, _) = answer else { throw CancellationError() }
    return id
  }

  /// The place of a job that is to be queued.
  func makePlace(_ urgency: Urgency) -> Place {
    Place(state.withLock { $0.admission.makeJobID() }, urgency, in: self)
  }

  /// Admits a job that takes nothing from others, at once or not at all.
  ///
  /// - Returns: Its id, for ``finish(_:)``, and the flag that goes up when another job comes to wait.
  func enterWhenIdle(byteCount: Int) -> (id: JobID, cancellation: Cancellation)? {
    state.withLock { state in
      guard let id = state.admission.startIdleJob(byteCount: byteCount) else { return nil }
      let cancellation = Cancellation()
      state.idleJobCancellation = cancellation
      return (id, cancellation)
    }
  }

  /// Gives the bytes of an admitted job to others; the job goes on.
  func release(_ id: JobID) {
    apply { $0.admitted($0.admission.release(id)) }
  }

  /// Ends an admitted job, and admits the next jobs that fit.
  package func finish(_ id: JobID) {
    apply { $0.admitted($0.admission.finish(id)) }
  }

  private func submit(
    _ place: Place, _ byteCount: Int, _ reply: @escaping Reply
  ) -> Answer? {
    var answer: Answer?
    apply { state in
      if place.isCancelled.load(ordering: .acquiring) {
        answer = .cancelled
        return []
      }
      do throws(AdmissionError) {
        var started = try state.admission.submit(
          place.id, priority: place.urgency.priority, byteCount: byteCount)
        if let index = started.firstIndex(of: place.id) {
          started.remove(at: index)
          answer = .admitted(place.id, state.admission.running(place.id).priority)
        } else {
          state.wait(Job(reply: reply), as: place.id)
          if state.admission.idleJob != nil { state.idleJobCancellation?.set() }
        }
        return state.admitted(started)
      } catch {
        answer = .refused(error)
        return []
      }
    }
    return answer
  }

  private func withdraw(_ id: JobID) {
    apply { state in
      guard let started = state.admission.withdraw(id),
        let job = state.waiting[id.index].take()
      else { return [] }
      var answers = state.admitted(started)
      answers.append(job.answered(.cancelled))
      return answers
    }
  }

  /// Applies an event under the lock and gives its answers outside.
  private func apply(_ event: (inout State) -> [Answered]) {
    let jobs = state.withLock { event(&$0) }
    for job in jobs { job.reply(job.answer) }
  }
}

/// A flag that goes up once.
package final class Cancellation: Sendable {
  private let flag = Atomic(false)

  package init() {}

  package var isSet: Bool { flag.load(ordering: .acquiring) }

  package func set() { flag.store(true, ordering: .releasing) }
}
