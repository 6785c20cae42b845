import Foundation
import Locking
package import TableStore

/// A device that can be locked; meanwhile no file can be made or opened, and no open file read,
/// written or brought to the disk.
///
/// Names and statuses stay: `renameat(2)`, `unlinkat(2)` and `fstat(2)` need no key of a file.
package final class LockableDevice: Sendable {
  private struct State {
    /// The error of calls while the device is locked.
    var code: Int32?
    /// Calls that a locked device would refuse, refused ones included.
    var callCount = 0
    var refusedCount = 0
    var mapCount = 0
    /// The calls before which the device is locked and unlocked.
    var lockedCalls = Int.max..<Int.max
  }

  private let state = Lock(State())
  private let refusedKinds: Set<SystemCall.Kind>

  package init(
    refusing kinds: Set<SystemCall.Kind> = [.open, .protect, .read, .write, .synchronize]
  ) {
    refusedKinds = kinds
  }

  package func lock(with code: Int32 = EPERM) { state.withLock { $0.code = code } }

  /// Locks the device before the call of this number, the first being 0, for a number of calls.
  package func lock(beforeCall number: Int, forCalls count: Int) {
    state.withLock { $0.lockedCalls = number..<(number + count) }
  }

  package func unlock() {
    state.withLock { state in
      state.code = nil
      state.lockedCalls = Int.max..<Int.max
    }
  }

  /// Calls so far that a locked device would refuse.
  package var callCount: Int { state.withLock { $0.callCount } }

  /// Calls that were refused.
  package var refusedCount: Int { state.withLock { $0.refusedCount } }

  /// Files and parts of files that were mapped.
  package var mapCount: Int { state.withLock { $0.mapCount } }

  /// True when the next call is refused.
  package var isLocked: Bool {
    state.withLock { $0.code != nil || $0.lockedCalls.contains($0.callCount) }
  }

  package var system: SystemCalls {
    SystemCalls(
      observer: { [self] call throws(SystemError) in
        let kind = call.kind
        let code = state.withLock { state -> Int32? in
          if kind == .map { state.mapCount += 1 }
          guard refusedKinds.contains(kind) else { return nil }
          let isLockedByNumber = state.lockedCalls.contains(state.callCount)
          state.callCount += 1
          guard let code = state.code ?? (isLockedByNumber ? EPERM : nil) else { return nil }
          state.refusedCount += 1
          return code
        }
        if let code { throw SystemError(call: kind, code: code) }
      }, hasFileProtection: true)
  }
}
