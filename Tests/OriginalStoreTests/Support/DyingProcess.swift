import Foundation
import Locking
import TableStore

@testable import OriginalStore

/// A process that dies just before its n-th call, or in the middle of it: from then on the system gets
/// no call any more, not even those that tidy up.
final class DyingProcess: Sendable {
  private let left: Lock<Int>
  private let isMidway: Bool

  init(after calls: Int, isMidway: Bool) {
    left = Lock(calls)
    self.isMidway = isMidway
  }

  var isDead: Bool { left.withLock { $0 < 0 } }

  var system: SystemCalls {
    SystemCalls { [self] call throws(SystemError) in
      let now = left.withLock { left in
        left -= 1
        return left
      }
      guard now < 0 else { return }
      if now == -1, isMidway, let bytes = call.bytes {
        _ = pwrite(call.descriptor, bytes.baseAddress, bytes.count / 2, off_t(call.offset))
      }
      throw SystemError(call: call.kind, code: ENOTRECOVERABLE)
    }
  }
}
