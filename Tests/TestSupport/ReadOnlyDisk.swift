import Locking
package import TableStore

/// Lets a disk pass for one on which files can be read, and not made, changed, renamed or deleted, until it is
/// writable.
package final class ReadOnlyDisk: Sendable {
  private let code: Int32
  private let isReadOnly = Lock(true)

  /// - Parameter code: The error of each refused call: `EROFS`, or `ENOSPC` for a full disk.
  package init(code: Int32) { self.code = code }

  package func becomeWritable() { isReadOnly.withLock { $0 = false } }

  package var system: SystemCalls {
    SystemCalls(
      observer: { [self] call throws(SystemError) in
        let isChange =
          switch call.kind {
          case .open: call.purpose != .reading
          case .makeDirectory, .rename, .unlink: true
          default: false
          }
        if isChange, isReadOnly.withLock({ $0 }) { throw SystemError(call: call.kind, code: code) }
      }, hasFileProtection: false)
  }
}
