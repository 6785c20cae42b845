import Dispatch

/// Runs an actor's work on a thread of its own, so that its file I/O never occupies Swift's
/// cooperative pool.
///
/// `DispatchSerialQueue`, which is such an executor, is missing on Linux.
final class SerialQueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
