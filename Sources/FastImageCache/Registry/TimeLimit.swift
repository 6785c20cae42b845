import LoadQueue

extension InFlightRegistry {
  /// A time limit that runs. Its owner cancels the task.
  struct Timer: Sendable {
    let task: Task<Void, Never>
    /// Set before the subscriber leaves.
    let isOver: Cancellation
  }

  /// Has a request's subscriber leave when the request's time is over; `nil` without a limit.
  func startTimer(of request: ImageRequest) -> Timer? {
    guard let limit = request.options?.timeout else { return nil }
    let isOver = Cancellation()
    let deadline = clock.now.advanced(by: limit)
    let (subscriber, error) = (request.subscriber, ImageCacheError.timedOut(request))
    let task = Task(name: "time limit") { [weak self, clock] in
      // It fails only if the task is cancelled.
      guard (try? await clock.sleep(until: deadline, tolerance: nil)) != nil else { return }
      isOver.set()
      self?.leave(subscriber, with: .failure(error))
    }
    return Timer(task: task, isOver: isOver)
  }
}

extension ImageCacheError {
  /// The error of a request whose time is over.
  static func timedOut(_ request: ImageRequest) -> ImageCacheError {
    .timedOut(
      entity: request.key.entity, format: request.key.format,
      after: request.options?.timeout ?? .zero)
  }
}
