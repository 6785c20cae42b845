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
  /// Whichever of them is ignored stays so: nohup(1) and shells start what shall go on like that. And
  /// SIGPIPE is ignored from here on, so that a reader who goes away ends no process that has
  /// something to clean up.
  ///
  /// The work begins once each of them would be noticed: those that come before may be lost.
  ///
  /// - Returns: What `work` returns, or ``ExitStatus/interrupted`` if a signal came meanwhile.
  package static func cancelling(
    _ work: @escaping @Sendable () async -> ExitStatus
  ) async -> ExitStatus {
    let listening = DispatchGroup()
    listening.enter()
    let task = Task(name: "command") {
      await withCheckedContinuation { continuation in
        listening.notify(queue: .global()) { continuation.resume() }
      }
      return await work()
    }
    // A handler set by `signal(2)` may do next to nothing; a dispatch source runs on a thread.
    _ = isIgnoredFromNowOn(SIGPIPE)
    let sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number -> (any DispatchSourceSignal)? in
      if isIgnoredFromNowOn(number) { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if task.isCancelled { _exit(ExitStatus.interrupted.rawValue) }
        task.cancel()
      }
      listening.enter()
      source.setRegistrationHandler { listening.leave() }
      source.resume()
      return source
    }
    listening.leave()
    let status = await task.value
    for source in sources { source.cancel() }
    return task.isCancelled ? .interrupted : status
  }

  /// - Returns: Whether the signal was ignored before.
  private static func isIgnoredFromNowOn(_ number: CInt) -> Bool {
    // Functions of C cannot be compared, their addresses can.
    unsafeBitCast(signal(number, SIG_IGN), to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
