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
  /// A signal that is ignored stays ignored: nohup(1) and shells start background work like that.
  /// SIGPIPE is ignored from here on, so that a closed pipe does not end a process before it has
  /// cleaned up.
  ///
  /// The work begins when all handlers are in place; an earlier signal may be lost.
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
    // A handler set by `signal(2)` may call few functions; a dispatch source runs on a thread.
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
