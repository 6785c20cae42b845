import Dispatch

/// Runs an actor's jobs one after the other on a serial queue, so that its file I/O never occupies
/// Swift's cooperative pool.
///
/// `DispatchSerialQueue` is such an executor, but Linux does not have it.
final class SerialQueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  /// Runs `body` on the calling thread, as one of the actor's jobs; blocks until its turn comes.
  ///
  /// For threads that may block and have a short job for the actor: changing to the actor's thread
  /// and back would cost more than the job.
  func runBlocking<Result>(_ body: () -> Result) -> Result { queue.sync(execute: body) }

  /// `assumeIsolated` calls this where no task of the actor runs, as in ``runBlocking(_:)``.
  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
