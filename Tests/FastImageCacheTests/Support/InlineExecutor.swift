import Dispatch
import Synchronization

/// Runs the jobs of a task there and then, on the thread that makes the task go on.
///
/// What that thread still holds of an answer, it holds while the one who waited for it goes on; so
/// what must be given back first is seen to be given back, or not, each time. Not for tasks that are
/// cancelled: they would go on under the lock that cancelling takes.
final class InlineExecutor: TaskExecutor {
  private static let shared = InlineExecutor()

  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs `body` like that.
  static func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await Task(executorPreference: shared) { try await body() }.value
  }
}

/// Runs a task up to its first suspension there and then, and the rest on threads of libdispatch.
final class FirstStepExecutor: TaskExecutor {
  private let hasBegun = Atomic(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if !hasBegun.exchange(true, ordering: .relaxed) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    } else {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
}

/// Starts a task, which waits for something, or has ended, when this returns.
func begun<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) -> Task<Value, any Error> {
  Task(executorPreference: FirstStepExecutor()) { try await body() }
}
