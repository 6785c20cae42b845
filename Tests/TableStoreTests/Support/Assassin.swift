import Foundation
import Locking

@testable import TableStore

/// Ends this process without a last word, just before its n-th call or in the middle of it.
final class Assassin: Sendable {
  private let left: Lock<Int>
  private let isMidway: Bool

  init(after calls: Int, isMidway: Bool) {
    left = Lock(calls)
    self.isMidway = isMidway
  }

  var system: SystemCalls {
    SystemCalls { [self] call throws(SystemError) in
      let isDue = left.withLock { left in
        left -= 1
        return left < 0
      }
      guard isDue else { return }
      if isMidway, let bytes = call.bytes {
        _ = pwrite(call.descriptor, bytes.baseAddress, bytes.count / 2, off_t(call.offset))
      }
      kill(getpid(), SIGKILL)
    }
  }
}
