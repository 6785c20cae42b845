/// The longest wait of one request, by a clock that tests replace.
///
/// An object, since each waiting request has room for one in its frame, and few have one.
final class TimeLimit: Sendable {
  let duration: Duration
  let clock: any PatienceClock
  let error: ImageCacheError

  init(duration: Duration, clock: any PatienceClock, error: ImageCacheError) {
    (self.duration, self.clock, self.error) = (duration, clock, error)
  }

  /// A limit that runs. Its owner cancels the task.
  struct Running: Sendable {
    let task: Task<Void, Never>
    /// Set before `end` is called.
    let isOver: Cancellation
  }

  /// Calls `end` when the time is over, unless the task is cancelled before.
  func start(_ end: @escaping @Sendable (ImageCacheError) -> Void) -> Running {
    let isOver = Cancellation()
    let deadline = clock.now.advanced(by: duration)
    let task = Task(name: "time limit") { [clock, error] in
      // It fails only if the task is cancelled.
      guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
      isOver.set()
      end(error)
    }
    return Running(task: task, isOver: isOver)
  }
}
