import LoadQueue

/// Tells of tasks whose priority rises while they wait.
enum Escalation {
  /// Runs `operation`, and calls `handler` with each higher priority that the task gets meanwhile,
  /// on the thread that raises it; earlier Apple systems than those named here do not tell.
  ///
  /// The task's own lock is held then, as in a cancellation handler.
  nonisolated(nonsending) static func following<Value>(
    _ operation: nonisolated(nonsending) () async -> Value,
    onEscalation handler: @Sendable (Priority) -> Void
  ) async -> Value {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await operation()
    }
    return await withTaskPriorityEscalationHandler(operation: operation) { handler(Priority($1)) }
  }
}
