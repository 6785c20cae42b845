import Locking

extension Table {
  /// Lets the file's lock go until `resume()`, for a process that is about to be stopped.
  ///
  /// Other processes may take the table over meanwhile. Entries stay valid; hits are copies; new images go
  /// to a private file. All openings in the process are suspended, until the last one that asked for it
  /// resumes or closes.
  ///
  /// - Throws: `TableError.diskFull`, `.protectedDataUnavailable` or `.system`: the lock is still held, at the
  ///   latest until the last entry is gone; `.closed`.
  package func suspend() throws(TableError) {
    try change { writer throws(TableError) in try writer.suspend(ObjectIdentifier(self)) }
    // Closed by another thread meanwhile, which may have found no suspension to forget.
    if isClosed { forgetSuspension() }
  }

  /// Ends the suspension: this process owns the file again if no other does, and the private
  /// images go into it. Otherwise this happens at the first change after the other is gone.
  package func resume() { core.writer.withLock { $0.resume(ObjectIdentifier(self)) } }

  /// Forgets this opening's suspension, for an opening that is being closed.
  func forgetSuspension() {
    core.writer.withLock { _ = $0.suspensions.remove(ObjectIdentifier(self)) }
  }
}
