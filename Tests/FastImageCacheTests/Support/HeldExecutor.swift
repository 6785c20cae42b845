import Dispatch
import Locking
import Synchronization

/// Keeps the jobs of a task until the test runs them, as a busy main actor does.
///
/// What happens between the moment at which a task is made to go on and the moment at which it does
/// can be put in order with it.
final class HeldExecutor: TaskExecutor {
  private let jobs = Lock<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs jobs on the calling thread until none is left.
  func runAll() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Runs jobs until `isOver`, those that other threads make ready too, or until the test's time is over.
  func run(until isOver: () async -> Bool) async {
    while await !isOver(), !Task.isCancelled {
      runAll()
      await Task.yield()
    }
  }

  func task<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) -> Task<Value, Never> {
    Task(executorPreference: self) { await body() }
  }
}

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
