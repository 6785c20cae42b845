import Dispatch
import Synchronization

/// Runs an actor's work on a thread of its own, so that its file I/O never occupies Swift's
/// cooperative pool.
///
/// `DispatchSerialQueue`, which is such an executor, is missing on Linux.
///
/// Invariant: `jobCount` is the number of jobs that run or wait on `queue`, whichever way they came.
final class SerialQueueExecutor: SerialExecutor {
  private let queue: DispatchQueue
  private let jobCount = Atomic(0)

  init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobCount.add(1, ordering: .relaxed)
    queue.async {
      job.runSynchronously(on: self.asUnownedSerialExecutor())
      self.jobCount.subtract(1, ordering: .relaxed)
    }
  }

  /// Runs `body` on the calling thread, as a job of its own; `nil` if any other runs or waits.
  ///
  /// For threads that may block and have a short job for the actor: changing to the actor's thread
  /// and back would cost more than the job. A job that comes in the same instant may be first, and
  /// is waited for then.
  func runIfIdle<Result>(_ body: () -> Result) -> Result? {
    let isIdle = jobCount.compareExchange(expected: 0, desired: 1, ordering: .relaxed).exchanged
    guard isIdle else { return nil }
    defer { jobCount.subtract(1, ordering: .relaxed) }
    return queue.sync(execute: body)
  }

  /// Asked by `assumeIsolated` where no task of the actor runs, as in ``runIfIdle(_:)``.
  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
