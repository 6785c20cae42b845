import Locking

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
