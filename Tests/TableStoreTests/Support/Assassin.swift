import Foundation
import Locking

@testable import TableStore

/// Ends this process without a last word, just before its n-th call or in the middle of it, where a store to
/// the index counts as a call.
final class Assassin: Sendable {
  private let left: Lock<Int>
  private let isMidway: Bool

  init(after calls: Int, isMidway: Bool) {
    left = Lock(calls)
    self.isMidway = isMidway
  }

  var system: SystemCalls {
    SystemCalls(
      observer: { [self] call throws(SystemError) in
        guard isDue else { return }
        if isMidway, let bytes = call.bytes {
          _ = pwrite(call.descriptor, bytes.baseAddress, bytes.count / 2, off_t(call.offset))
        }
        kill(getpid(), SIGKILL)
      },
      indexStep: { [self] in if isDue { kill(getpid(), SIGKILL) } })
  }

  private var isDue: Bool {
    left.withLock { left in
      left -= 1
      return left < 0
    }
  }
}
