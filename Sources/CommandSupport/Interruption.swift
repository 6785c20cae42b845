import Dispatch

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Turns Ctrl-C into the cancellation of a task, so that `defer` and `close()` get their turn.
package enum Interruption {
  /// Runs `work`; the first SIGINT, SIGTERM or SIGHUP cancels it, the second ends the process.
  ///
  /// - Returns: What `work` returns, or ``ExitStatus/interrupted`` if a signal came meanwhile.
  package static func cancelling(
    _ work: @escaping @Sendable () async -> ExitStatus
  ) async -> ExitStatus {
    let task = Task(name: "command") { await work() }
    // A handler set by `signal(2)` may do next to nothing; a dispatch source runs on a thread.
    let sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if task.isCancelled { _exit(ExitStatus.interrupted.rawValue) }
        task.cancel()
      }
      source.resume()
      return source
    }
    let status = await task.value
    for source in sources { source.cancel() }
    return task.isCancelled ? .interrupted : status
  }
}
