import Dispatch
import Synchronization

/// Runs a task's jobs on a thread of its own and counts them: one at the start, and one after each
/// suspension.
final class CountingExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "imagecache-bench.counting")
  private let count = Atomic<Int>(0)

  var jobCount: Int { count.load(ordering: .relaxed) }

  func enqueue(_ job: consuming ExecutorJob) {
    count.add(1, ordering: .relaxed)
    let job = UnownedJob(job)
    let executor = asUnownedTaskExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }
}
